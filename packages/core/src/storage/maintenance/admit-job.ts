import { checkArgument, type JsonObject } from "@seneschal/kernel";
import type { ClusterState } from "../cluster/state.ts";
import { storageError } from "../errors.ts";
import { type ScrubScope, scopeKey } from "../scrub/plan.ts";

/** A maintenance job that waits or runs. */
export interface ActiveJob {
  readonly id: string;
  readonly kind: string;
  readonly params: JsonObject;
}

/** What maintenance is asked to begin. */
export type MaintenanceRequest =
  /** `why`: what else is noted of it. */
  | { readonly kind: "scrub"; readonly scope: ScrubScope; readonly why?: JsonObject }
  | { readonly kind: "backup"; readonly params: JsonObject }
  /** `pool_id` absent: `defaultPool`. */
  | { readonly kind: "restore"; readonly params: JsonObject; readonly defaultPool: string }
  | { readonly kind: "rebalance"; readonly pool: string }
  | { readonly kind: "gc" }
  | { readonly kind: "drain"; readonly node: string }
  | { readonly kind: "evacuation"; readonly device: string; readonly reason: string };

/** A job that may begin. */
export type MaintenanceJob = Pick<ActiveJob, "kind" | "params">;

/**
 * The job that a request comes to, by what the cluster has and what is under way: the same work is not begun twice, and garbage is not
 * collected while a backup reads. Throws `AlreadyExists` with the `job_id` that is in the way, and `NotFound`.
 *
 * @example
 * ```ts
 * import { admitJob, emptyCluster } from "@seneschal/core/storage";
 * console.log(admitJob(emptyCluster, [], { kind: "scrub", scope: { kind: "cluster" } }).params); // { scope: 'cluster' }
 * ```
 */
export function admitJob(
  state: Pick<ClusterState, "pools" | "devices">,
  active: readonly ActiveJob[],
  request: MaintenanceRequest,
): MaintenanceJob {
  checkArgument("state", state, "object");
  checkArgument("active", active, "array");
  checkArgument("request", request, "object");
  const { kind } = request;
  const only = (message: string, match: (params: JsonObject) => boolean = () => true, of: string = kind): void => {
    const same = active.find((job) => job.kind === of && match(job.params));
    if (same !== undefined) throw storageError("AlreadyExists", message, { job_id: same.id });
  };
  switch (request.kind) {
    case "scrub": {
      const { scope, why } = request;
      if (scope.kind === "pool") known("pool", state.pools, scope.id);
      if (scope.kind === "device") known("device", state.devices, scope.id);
      const { kind: of, ...of_one } = scope;
      only(`a scrub of ${scopeKey(scope)} runs`, (params) => scopeKey(scopeOf(params)) === scopeKey(scope));
      return { kind, params: { scope: of, ...of_one, ...why } };
    }
    case "backup":
      only("a backup runs");
      return { kind, params: request.params };
    case "restore": {
      only("a restore runs");
      const pool_id = request.params["pool_id"] ?? request.defaultPool;
      known("pool", state.pools, String(pool_id));
      return { kind, params: { ...request.params, pool_id } };
    }
    case "rebalance": {
      const { pool } = request;
      known("pool", state.pools, pool);
      only(`a rebalance of ${pool} runs`, (params) => params["pool"] === pool);
      return { kind, params: { pool } };
    }
    case "gc":
      only("a collection runs");
      only("a backup runs: collect garbage once it is over", undefined, "backup");
      return { kind, params: {} };
    case "drain": {
      const { node } = request;
      only(`node ${node} drains`, (params) => params["node"] === node);
      return { kind, params: { node } };
    }
    case "evacuation":
      return { kind, params: { device: request.device, reason: request.reason } };
    default:
      return request satisfies never;
  }
}

/**
 * The scope in the parameters of a scrub.
 *
 * @example
 * ```ts
 * import { scopeKey, scopeOf } from "@seneschal/core/storage";
 * console.log(scopeKey(scopeOf({ scope: "pool", id: "fast" }))); // pool:fast
 * ```
 */
export function scopeOf(params: JsonObject): ScrubScope {
  checkArgument("params", params, "object");
  const kind = params["scope"];
  return kind === "pool" || kind === "device" ? { kind, id: params["id"] as string } : { kind: "cluster" };
}

/** Throws `NotFound` for what the cluster does not have. */
function known(noun: "pool" | "device", all: Readonly<Record<string, unknown>>, id: string): void {
  if (!Object.hasOwn(all, id)) throw storageError("NotFound", `no such ${noun}: ${id}`, { field: noun });
}
