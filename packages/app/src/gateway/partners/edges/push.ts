import { refusal, timestamp } from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import type { Call } from "../../ground/index.ts";
import type { PartnerServices } from "../services.ts";
import { type EdgeNode, edgeSyncs, edges, neverSynced } from "./collections.ts";
import { withEdge } from "./connection.ts";

/** For a whole push, however many secrets it has. */
const PUSH_MS = 60_000;

/** A secret for the edge vault's key-value engine. */
export interface Pushed {
  /** Below `seneschal/`. */
  readonly path: string;
  readonly data: object;
}

/**
 * Writes secrets into an edge node's vault and counts what came of it. Throws `EDGE_UNREACHABLE` when it was not done; what was
 * written before the failure stays, and pushing again writes it again.
 */
export async function pushToEdge(
  services: PartnerServices,
  call: Call,
  edge: EdgeNode,
  kind: "policies" | "keys",
  secrets: readonly Pushed[],
): Promise<void> {
  let written = 0;
  const failure = await withEdge(
    services,
    edge,
    async (connection) => {
      for (const { path, data } of secrets) {
        const answer = await connection.call("POST", `${services.config.edges.kv_mount}/data/seneschal/${path}`, { data });
        if (answer.status >= 300) return `the edge node's vault refused with status ${answer.status}`;
        written += 1;
      }
      return undefined;
    },
    PUSH_MS,
  ).catch((error: unknown) => {
    if (isCoded(error, "vault_unavailable") || isCoded(error, "EDGE_UNREACHABLE")) return "the edge node does not answer";
    throw error;
  });
  await services.transact(call, async (unit) => {
    const at = timestamp(call.now);
    const before = (await unit.get(edgeSyncs, edge.id)) ?? neverSynced;
    const current = await unit.get(edges, edge.id);
    if (current !== undefined) {
      const counted = { ...before, [`${kind}_synced`]: before[`${kind}_synced`] + written };
      const next =
        failure === undefined
          ? { ...counted, last_synced_at: at }
          : { ...counted, error_count: before.error_count + 1, last_error: failure };
      unit.put(edgeSyncs, edge.id, next);
      if (failure === undefined) unit.put(edges, edge.id, { ...current, last_heartbeat: at });
    }
    unit.record({
      type: kind === "policies" ? "edge.sync.policies" : "edge.sync.keys",
      result: failure === undefined ? "success" : "error",
      metadata: { edge_id: edge.id, written, of: secrets.length },
    });
  });
  if (failure !== undefined) throw refusal("EDGE_UNREACHABLE", failure, { written });
}
