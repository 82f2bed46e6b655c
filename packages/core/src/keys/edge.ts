import { checkArgument } from "@seneschal/kernel";
import type { Classification } from "./enums.ts";
import { type Timestamp, timestamp } from "./time.ts";

export const edgeStatuses = ["healthy", "unhealthy", "connected", "disconnected", "sealed"] as const;
export type EdgeStatus = (typeof edgeStatuses)[number];

/** A vault at the edge. */
export interface EdgeNode {
  readonly id: string;
  readonly org_id: string;
  readonly name: string;
  readonly vault_address: string;
  /** PEM of the CA that signed its certificate; `null`: the host's roots. */
  readonly vault_ca_cert: string | null;
  /** Its token, sealed by our vault. */
  readonly sealed_token: string;
  readonly classification: Classification;
  readonly region: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly status: EdgeStatus;
  readonly last_heartbeat: Timestamp | null;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

/** What was pushed to an edge node. */
export interface EdgeSync {
  readonly last_synced_at: Timestamp | null;
  readonly policies_synced: number;
  readonly keys_synced: number;
  readonly error_count: number;
  readonly last_error: string;
}

export const neverSynced: EdgeSync = {
  last_synced_at: null,
  policies_synced: 0,
  keys_synced: 0,
  error_count: 0,
  last_error: "",
};

/** What a vault says of itself; nothing of it is to be trusted in its type. */
export interface VaultSays {
  /** `GET sys/health`; `undefined`: no object. */
  readonly health: Readonly<Record<string, unknown>> | undefined;
  /** `GET sys/leader` and `sys/ha-status`, where they were asked. */
  readonly leader?: Readonly<Record<string, unknown>> | undefined;
  readonly members?: Readonly<Record<string, unknown>> | undefined;
}

/** How an edge node's vault was found. */
export interface EdgeHealth {
  readonly healthy: boolean;
  readonly status: EdgeStatus;
  readonly last_checked: Timestamp;
  readonly vault_sealed: boolean;
  readonly ha_enabled: boolean;
  readonly ha_mode: string;
  readonly cluster_nodes: number;
  readonly version: string;
  readonly latency_ms: number;
  readonly error_message: string;
}

/**
 * What an edge node's answer means; `undefined`: it did not answer. Healthy is a vault that is initialized and not sealed.
 *
 * @example
 * ```ts
 * import { judgeEdge } from "@seneschal/core/keys";
 * const found = judgeEdge({ health: { sealed: true, initialized: true } }, 12, Date.UTC(2026, 0, 1));
 * console.log(found.status, found.error_message); // sealed the vault is sealed
 * ```
 */
export function judgeEdge(said: VaultSays | undefined, latency_ms: number, now: number): EdgeHealth {
  checkArgument("latency_ms", latency_ms, "number");
  checkArgument("now", now, "number");
  const none = { healthy: false, vault_sealed: false, ha_enabled: false, ha_mode: "", cluster_nodes: 0, version: "" };
  const base = { ...none, last_checked: timestamp(now), latency_ms };
  if (said === undefined) return { ...base, status: "disconnected", error_message: "the edge node does not answer" };
  const { health, leader, members } = said;
  const sealed = health?.["sealed"];
  if (typeof sealed !== "boolean") return { ...base, status: "unhealthy", error_message: "what answers is no vault" };
  const healthy = !sealed && health?.["initialized"] === true;
  const ha_enabled = leader?.["ha_enabled"] === true;
  const nodes = members?.["nodes"] ?? (members?.["data"] as { readonly nodes?: unknown } | null | undefined)?.nodes;
  return {
    ...base,
    healthy,
    status: sealed ? "sealed" : healthy ? "healthy" : "unhealthy",
    vault_sealed: sealed,
    ha_enabled,
    ha_mode: ha_enabled ? (health?.["standby"] === true ? "standby" : "active") : "",
    cluster_nodes: Array.isArray(nodes) ? nodes.length : 1,
    version: typeof health?.["version"] === "string" ? health["version"] : "",
    error_message: healthy ? "" : sealed ? "the vault is sealed" : "the vault is not initialized",
  };
}

/**
 * An edge node as it was found when it was registered.
 *
 * @example
 * ```ts
 * import { registerEdge } from "@seneschal/core/keys";
 * const vault = { id: "e1", org_id: "acme", name: "plant", vault_address: "https://vault.example", vault_ca_cert: null, sealed_token: "" };
 * const given = { ...vault, classification: "CONFIDENTIAL", region: "eu", tags: {} } as const;
 * console.log(registerEdge(given, { status: "healthy" }, 0).status, registerEdge(given, { status: "disconnected" }, 0).last_heartbeat); // connected null
 * ```
 */
export function registerEdge(
  given: Omit<EdgeNode, "status" | "last_heartbeat" | "created_at" | "updated_at">,
  found: Pick<EdgeHealth, "status">,
  now: number,
): EdgeNode {
  checkArgument("given", given, "object");
  checkArgument("found", found, "object");
  checkArgument("now", now, "number");
  const { status } = found;
  const at = timestamp(now);
  return {
    ...given,
    status: status === "healthy" ? "connected" : status,
    last_heartbeat: status === "disconnected" ? null : at,
    created_at: at,
    updated_at: at,
  };
}

/**
 * An edge node after a probe: what does not answer was heard when it last did.
 *
 * @example
 * ```ts
 * import { noteProbe, registerEdge } from "@seneschal/core/keys";
 * const vault = { id: "e1", org_id: "acme", name: "plant", vault_address: "https://vault.example", vault_ca_cert: null, sealed_token: "" };
 * const given = { ...vault, classification: "CONFIDENTIAL", region: "eu", tags: {} } as const;
 * const edge = registerEdge(given, { status: "healthy" }, 0);
 * const gone = noteProbe(edge, { status: "disconnected", last_checked: "2026-01-01T00:00:00.000Z" });
 * console.log(gone.status, gone.last_heartbeat); // disconnected 1970-01-01T00:00:00.000Z
 * ```
 */
export function noteProbe(edge: EdgeNode, found: Pick<EdgeHealth, "status" | "last_checked">): EdgeNode {
  checkArgument("edge", edge, "object");
  checkArgument("found", found, "object");
  const { status, last_checked } = found;
  const heard = status === "disconnected" ? edge.last_heartbeat : last_checked;
  return { ...edge, last_heartbeat: heard, status, updated_at: last_checked };
}

/**
 * What was pushed, after a push that wrote so many; `failure`: why it was not done, which leaves what was written.
 *
 * @example
 * ```ts
 * import { countPush } from "@seneschal/core/keys";
 * const pushed = { kind: "keys", written: 3, failure: undefined } as const;
 * console.log(countPush(undefined, pushed, 0).keys_synced); // 3
 * console.log(countPush(undefined, { ...pushed, failure: "the vault is sealed" }, 0).last_synced_at); // null
 * ```
 */
export function countPush(
  before: EdgeSync | undefined,
  pushed: { readonly kind: "policies" | "keys"; readonly written: number; readonly failure: string | undefined },
  now: number,
): EdgeSync {
  checkArgument("pushed", pushed, "object");
  checkArgument("now", now, "number");
  const { kind, written, failure } = pushed;
  const known = before ?? neverSynced;
  const counted: EdgeSync =
    kind === "policies"
      ? { ...known, policies_synced: known.policies_synced + written }
      : { ...known, keys_synced: known.keys_synced + written };
  if (failure === undefined) return { ...counted, last_synced_at: timestamp(now) };
  return { ...counted, error_count: known.error_count + 1, last_error: failure };
}
