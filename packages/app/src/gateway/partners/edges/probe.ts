import type { VaultAnswer } from "@seneschal/adapters/vault";
import { timestamp } from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import type { PartnerServices } from "../services.ts";
import type { EdgeNode, EdgeStatus } from "./collections.ts";
import { withEdge } from "./connection.ts";

/** How an edge node's vault was found. */
export interface EdgeHealth {
  readonly healthy: boolean;
  readonly status: EdgeStatus;
  readonly last_checked: string;
  readonly vault_sealed: boolean;
  readonly ha_enabled: boolean;
  readonly ha_mode: string;
  readonly cluster_nodes: number;
  readonly version: string;
  readonly latency_ms: number;
  readonly error_message: string;
}

/** Sealed, standby and uninitialised servers answer 200 like the others: what they are stands in the body. */
const HEALTH = "sys/health?standbyok=true&perfstandbyok=true&sealedcode=200&uninitcode=200";

/** Asks an edge node's vault how it is. Its failures are part of the answer. */
export async function probeEdge(services: PartnerServices, edge: EdgeNode, now: number): Promise<EdgeHealth> {
  const started = process.hrtime.bigint();
  const latency = (): number => Math.round(Number(process.hrtime.bigint() - started) / 1e6);
  const base = {
    last_checked: timestamp(now),
    ha_enabled: false,
    ha_mode: "",
    cluster_nodes: 0,
    version: "",
    vault_sealed: false,
  };
  try {
    return await withEdge(services, edge, async (connection) => {
      const answer = objectOf(await connection.call("GET", HEALTH));
      if (typeof answer?.["sealed"] !== "boolean") {
        const error_message = "what answers is no vault";
        return { ...base, healthy: false, status: "unhealthy", latency_ms: latency(), error_message };
      }
      const latency_ms = latency();
      const sealed = answer["sealed"];
      const initialized = answer["initialized"] === true;
      const leader = sealed ? undefined : objectOf(await connection.call("GET", "sys/leader"));
      const ha_enabled = leader?.["ha_enabled"] === true;
      const members = ha_enabled ? objectOf(await connection.call("GET", "sys/ha-status")) : undefined;
      const nodes = members?.["nodes"] ?? (members?.["data"] as { readonly nodes?: unknown } | undefined)?.nodes;
      const healthy = !sealed && initialized;
      return {
        ...base,
        healthy,
        status: sealed ? "sealed" : healthy ? "healthy" : "unhealthy",
        vault_sealed: sealed,
        ha_enabled,
        ha_mode: ha_enabled ? (answer["standby"] === true ? "standby" : "active") : "",
        cluster_nodes: Array.isArray(nodes) ? nodes.length : 1,
        version: typeof answer["version"] === "string" ? answer["version"] : "",
        latency_ms,
        error_message: healthy ? "" : sealed ? "the vault is sealed" : "the vault is not initialized",
      };
    });
  } catch (error) {
    if (!isCoded(error)) throw error;
    return {
      ...base,
      healthy: false,
      status: "disconnected",
      latency_ms: latency(),
      error_message: "the edge node does not answer",
    };
  }
}

function objectOf({ status, raw }: VaultAnswer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(raw.toString("utf8"));
    const usable = typeof value === "object" && value !== null && (status < 300 || "sealed" in value);
    return usable ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
