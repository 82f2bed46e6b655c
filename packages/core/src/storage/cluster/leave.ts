import { checkArgument } from "@seneschal/kernel";
import type { DeviceEvent } from "../device/step.ts";
import type { Device, SmartReading } from "../device/types.ts";
import { storageError } from "../errors.ts";
import { type ClusterState, type DevicesSeen, judgeLeave } from "./state.ts";
import type { ClusterCommand } from "./step.ts";

/**
 * The devices that a node which leaves must empty.
 *
 * @example
 * ```ts
 * import { devicesToEmpty, emptyCluster } from "@seneschal/core/storage";
 * console.log(devicesToEmpty(emptyCluster, "n1")); // []
 * ```
 */
export function devicesToEmpty(state: Pick<ClusterState, "devices">, node: string): readonly Device[] {
  checkArgument("state", state, "object");
  checkArgument("node", node, "string");
  return Object.values(state.devices).filter((d) => d.node === node && d.state !== "Failed" && d.state !== "Removed");
}

/**
 * Tells a node to leave: it takes nothing new, and its shards move away. `up`: who answers. Throws `EvacuationRefused` where redundancy
 * would not hold, `NotFound` for a node that is no member.
 *
 * @example
 * ```ts
 * import { drainNode, emptyCluster } from "@seneschal/core/storage";
 * const seen = { reached: () => true, usedBytes: () => 0, freeBytes: () => 0, up: () => true };
 * try {
 *   drainNode(emptyCluster, "n1", seen);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // NotFound
 * }
 * ```
 */
export function drainNode(
  state: ClusterState,
  node: string,
  seen: DevicesSeen & { readonly up: (node: string) => boolean },
): ClusterCommand {
  checkArgument("state", state, "object");
  checkArgument("node", node, "string");
  checkArgument("seen", seen, "object");
  requireMember(state, node);
  const others = Object.values(state.nodes).filter((other) => other.id !== node && other.state === "Active" && seen.up(other.id));
  if (others.length === 0) throw refused(`node ${node}: no other Active node answers`, { node });
  const own = devicesToEmpty(state, node);
  for (const pool of Object.values(state.pools).filter(({ id }) => own.some((d) => d.pool === id))) {
    const { refusal } = judgeLeave(state, pool, (d) => d.node === node, seen);
    if (refusal !== undefined) throw refused(`node ${node}: its leaving ${refusal}`, { node });
  }
  return { kind: "node.state", id: node, state: "Draining" };
}

/**
 * A node that was told to leave stays: what was moved stays moved. Throws `NotFound`.
 *
 * @example
 * ```ts
 * import { emptyCluster, keepNode } from "@seneschal/core/storage";
 * try {
 *   keepNode(emptyCluster, "n1");
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // NotFound
 * }
 * ```
 */
export function keepNode(state: ClusterState, node: string): readonly ClusterCommand[] {
  checkArgument("state", state, "object");
  checkArgument("node", node, "string");
  requireMember(state, node);
  return [{ kind: "node.state", id: node, state: "Active" }, ...keepDevices(state, node)];
}

/**
 * The devices of a node that were being emptied stay as they are.
 *
 * @example
 * ```ts
 * import { emptyCluster, keepDevices } from "@seneschal/core/storage";
 * console.log(keepDevices(emptyCluster, "n1")); // []
 * ```
 */
export function keepDevices(state: Pick<ClusterState, "devices">, node: string): readonly ClusterCommand[] {
  return devicesToEmpty(state, node)
    .filter((device) => device.state === "Evacuating")
    .map(({ id }) => ({ kind: "device.event", id, event: { kind: "cancel" } }));
}

/**
 * Takes a node out of the cluster; `asked`: the node that was told to. Throws `DeviceNotEvacuated` while it has a device that is not
 * Removed, `EvacuationRefused` while it votes in a shard and of itself, `NotFound`.
 *
 * @example
 * ```ts
 * import { emptyCluster, evictNode } from "@seneschal/core/storage";
 * try {
 *   evictNode(emptyCluster, "n1", "n2");
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // NotFound
 * }
 * ```
 */
export function evictNode(state: ClusterState, node: string, asked: string): ClusterCommand {
  checkArgument("state", state, "object");
  checkArgument("node", node, "string");
  checkArgument("asked", asked, "string");
  requireMember(state, node);
  if (node === asked) throw refused(`node ${node} does not evict itself: ask another`, { node });
  const device = Object.values(state.devices).find((d) => d.node === node && d.state !== "Removed");
  if (device !== undefined)
    throw storageError(
      "DeviceNotEvacuated",
      `device ${device.id} of node ${node} is ${device.state}, not Removed: drain the node first`,
      { device: device.id, state: device.state },
    );
  const shard = state.shards.find((s) => s.voters.includes(node) || s.migration?.to === node);
  if (shard !== undefined) throw refused(`node ${node} still votes in shard ${shard.id}: its place moves when it may`, { node });
  return { kind: "node.state", id: node, state: "Evicted" };
}

type Why = Pick<Extract<DeviceEvent, { readonly kind: "evacuate" }>, "trigger" | "reason" | "reading">;

/**
 * Makes a device Evacuating: it takes nothing new. Throws `EvacuationRefused` where redundancy would not hold, `NotFound`.
 *
 * @example
 * ```ts
 * import { emptyCluster, evacuateDevice } from "@seneschal/core/storage";
 * try {
 *   evacuateDevice(emptyCluster, "d1", { trigger: "operator", reason: "worn" }, { reached: () => true, usedBytes: () => 0, freeBytes: () => 0 });
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // NotFound
 * }
 * ```
 */
export function evacuateDevice(state: ClusterState, id: string, why: Why, seen: DevicesSeen): ClusterCommand {
  checkArgument("state", state, "object");
  checkArgument("id", id, "string");
  checkArgument("why", why, "object");
  checkArgument("seen", seen, "object");
  const device = requireDevice(state, id);
  const pool = state.pools[device.pool];
  if (pool === undefined) throw storageError("NotFound", `no such pool: ${device.pool}`, { field: "pool_id" });
  const { refusal, needed, targets } = judgeLeave(state, pool, (d) => d.id === id, seen);
  const leaves = device.state === "Healthy" || device.state === "Degraded";
  // Too few targets is for the transition to refuse, which looks at more.
  if (leaves && refusal !== undefined && targets >= needed) throw refused(`device ${id}: evacuation ${refusal}`, { device: id });
  return { kind: "device.event", id, event: { kind: "evacuate", targets, needed, ...why } };
}

/**
 * A device that was being emptied stays; its automatic evacuation waits for a worse `reading`. Throws `NotFound`.
 *
 * @example
 * ```ts
 * import { emptyCluster, keepDevice } from "@seneschal/core/storage";
 * try {
 *   keepDevice(emptyCluster, "d1", {});
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // NotFound
 * }
 * ```
 */
export function keepDevice(state: Pick<ClusterState, "devices">, id: string, reading: SmartReading): ClusterCommand {
  checkArgument("state", state, "object");
  checkArgument("id", id, "string");
  checkArgument("reading", reading, "object");
  requireDevice(state, id);
  return { kind: "device.event", id, event: { kind: "cancel", reading } };
}

/**
 * Devices that failed, and are Removed once nothing lies on them any more.
 *
 * @example
 * ```ts
 * import { failedDevices } from "@seneschal/core/storage";
 * const device = { node: "n1", pool: "fast", class: "ssd", capacityBytes: 1, evacuated: false, reason: "", since: 0 } as const;
 * const devices = { d1: { ...device, id: "d1", state: "Failed" }, d2: { ...device, id: "d2", state: "Healthy" } } as const;
 * console.log(failedDevices({ devices }).map(({ id }) => id)); // [ 'd1' ]
 * ```
 */
export function failedDevices(state: Pick<ClusterState, "devices">): readonly Device[] {
  checkArgument("state", state, "object");
  return Object.values(state.devices).filter(({ state: is }) => is === "Failed");
}

/**
 * Ends a Failed device on which nothing lies any more; `references`: fragments that still do.
 *
 * @example
 * ```ts
 * import { removeFailed } from "@seneschal/core/storage";
 * console.log(removeFailed("d1", 3), removeFailed("d1", 0)?.kind); // undefined device.event
 * ```
 */
export function removeFailed(id: string, references: number): ClusterCommand | undefined {
  checkArgument("id", id, "string");
  checkArgument("references", references, "number");
  return references > 0 ? undefined : { kind: "device.event", id, event: { kind: "remove", references } };
}

/**
 * Takes a device away; `references`: fragments that still lie on it. Throws `DeviceNotEvacuated`.
 *
 * @example
 * ```ts
 * import { removeDevice } from "@seneschal/core/storage";
 * console.log(removeDevice("d1", 0).kind); // device.delete
 * try {
 *   removeDevice("d1", 3);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // DeviceNotEvacuated
 * }
 * ```
 */
export function removeDevice(id: string, references: number): ClusterCommand {
  checkArgument("id", id, "string");
  checkArgument("references", references, "number");
  if (references > 0)
    throw storageError("DeviceNotEvacuated", `${references} fragments still lie on device ${id}: scrub it first`, { device: id });
  return { kind: "device.delete", id };
}

/**
 * Takes a pool away that the settings of the node do not name, which would make it again. Throws `PoolNotEmpty`.
 *
 * @example
 * ```ts
 * import { removePool } from "@seneschal/core/storage";
 * console.log(removePool("p1", { configured: [], holdsData: false }).kind); // pool.delete
 * try {
 *   removePool("p1", { configured: ["p1"], holdsData: false });
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // PoolNotEmpty
 * }
 * ```
 */
export function removePool(
  id: string,
  facts: { readonly configured: readonly string[]; readonly holdsData: boolean },
): ClusterCommand {
  checkArgument("id", id, "string");
  checkArgument("facts", facts, "object");
  if (facts.configured.includes(id))
    throw storageError("PoolNotEmpty", `pool ${id} is in the settings of this node, which would make it again`, { pool: id });
  return { kind: "pool.delete", id, holdsData: facts.holdsData };
}

function requireMember({ nodes }: Pick<ClusterState, "nodes">, id: string): void {
  const state = nodes[id]?.state;
  if (state === undefined || state === "Evicted") throw storageError("NotFound", `no such node: ${id}`, { field: "node_id" });
}

function requireDevice({ devices }: Pick<ClusterState, "devices">, id: string): Device {
  const device = devices[id];
  if (device === undefined) throw storageError("NotFound", `no such device: ${id}`, { field: "device" });
  return device;
}

function refused(message: string, details: Readonly<Record<string, unknown>>): Error {
  return storageError("EvacuationRefused", message, details);
}
