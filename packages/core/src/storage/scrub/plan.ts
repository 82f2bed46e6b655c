import { checkArgument } from "@seneschal/kernel";
import type { ClusterState } from "../cluster/state.ts";
import type { ClusterCommand } from "../cluster/step.ts";
import type { Device } from "../device/types.ts";

/** What a scrub covers. */
export type ScrubScope =
  | { readonly kind: "cluster" }
  | { readonly kind: "pool"; readonly id: string }
  | { readonly kind: "device"; readonly id: string };

/**
 * `cluster`, `pool:fast`, `device:d1`: the key under which two scrubs are the same.
 *
 * @example
 * ```ts
 * import { scopeKey } from "@seneschal/core/storage";
 * console.log(scopeKey({ kind: "cluster" }), scopeKey({ kind: "pool", id: "fast" })); // cluster pool:fast
 * ```
 */
export function scopeKey(scope: ScrubScope): string {
  checkArgument("scope", scope, "object");
  return scope.kind === "cluster" ? "cluster" : `${scope.kind}:${scope.id}`;
}

/**
 * True when the chunk has a fragment in scope.
 *
 * @example
 * ```ts
 * import { inScope } from "@seneschal/core/storage";
 * console.log(inScope({ kind: "device", id: "d1" }, { pool: "p1", devices: ["d1", "d2"] })); // true
 * ```
 */
export function inScope(scope: ScrubScope, chunk: { readonly pool: string; readonly devices: readonly string[] }): boolean {
  checkArgument("scope", scope, "object");
  checkArgument("chunk", chunk, "object");
  switch (scope.kind) {
    case "cluster":
      return true;
    case "pool":
      return chunk.pool === scope.id;
    case "device":
      return chunk.devices.includes(scope.id);
    default:
      return scope satisfies never;
  }
}

/**
 * When the next periodic scrub is due. Only periodic runs count, so a manual one does not shift the schedule; a node
 * that was down past the time scrubs at once.
 *
 * @example
 * ```ts
 * import { nextScrubAt } from "@seneschal/core/storage";
 * console.log(nextScrubAt(0, 24)); // 86400000
 * ```
 */
export function nextScrubAt(lastPeriodicAt: number, intervalHours: number): number {
  return lastPeriodicAt + intervalHours * 3_600_000;
}

/**
 * The devices whose own records a scrub compares with the placement: those in scope that are still to be read.
 *
 * @example
 * ```ts
 * import { scrubbedDevices } from "@seneschal/core/storage";
 * const device = { node: "n1", pool: "fast", class: "ssd", capacityBytes: 1, evacuated: false, reason: "", since: 0 } as const;
 * const devices = { d1: { ...device, id: "d1", state: "Failed" }, d2: { ...device, id: "d2", state: "Healthy" } } as const;
 * console.log(scrubbedDevices({ devices }, { kind: "cluster" }).map(({ id }) => id)); // [ 'd2' ]
 * ```
 */
export function scrubbedDevices(state: Pick<ClusterState, "devices">, scope: ScrubScope): readonly Device[] {
  checkArgument("state", state, "object");
  checkArgument("scope", scope, "object");
  return Object.values(state.devices).filter(
    (device) =>
      inScope(scope, { pool: device.pool, devices: [device.id] }) && device.state !== "Failed" && device.state !== "Removed",
  );
}

/**
 * What becomes of Healthy devices on which a scrub found so many corrupt fragments: a disk that gives back other bytes than it took is not to be
 * trusted with more.
 *
 * @example
 * ```ts
 * import { distrustCorrupt, emptyCluster } from "@seneschal/core/storage";
 * const d1 = { id: "d1", node: "n1", pool: "fast", class: "ssd", capacityBytes: 1, state: "Healthy", evacuated: false, reason: "added", since: 0 } as const;
 * console.log(distrustCorrupt({ ...emptyCluster, devices: { d1 } }, { d1: 2, d2: 1 }).length); // 1
 * ```
 */
export function distrustCorrupt(
  state: Pick<ClusterState, "devices">,
  corrupt: Readonly<Record<string, number>>,
): readonly ClusterCommand[] {
  checkArgument("state", state, "object");
  checkArgument("corrupt", corrupt, "object");
  return Object.entries(corrupt)
    .filter(([id]) => state.devices[id]?.state === "Healthy")
    .map(([id, count]) => {
      const reason = `a scrub found ${count} corrupt fragment${count === 1 ? "" : "s"}`;
      return { kind: "device.event", id, event: { kind: "degrade", reason } };
    });
}

/**
 * What becomes of an extent that no placement record names: a sighting is noted, and 24 h after the first one it goes. Where the metadata is
 * damaged it is left alone: what a damaged index does not name may be somebody's.
 *
 * @example
 * ```ts
 * import { orphanStep } from "@seneschal/core/storage";
 * console.log(orphanStep(undefined, false, 0), orphanStep(0, false, 86_400_000), orphanStep(0, true, 86_400_000)); // note delete leave
 * ```
 */
export function orphanStep(firstSeenAt: number | undefined, damaged: boolean, now: number): "note" | "delete" | "leave" {
  checkArgument("damaged", damaged, "boolean");
  checkArgument("now", now, "number");
  if (damaged) return "leave";
  if (firstSeenAt === undefined) return "note";
  return now - firstSeenAt >= 24 * 3_600_000 ? "delete" : "leave";
}
