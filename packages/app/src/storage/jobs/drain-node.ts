import { type Device, judgeLeave, storageError } from "@seneschal/core/storage";
import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { JobContext } from "../../platform/index.ts";
import { type Actor, nodeActor } from "../context.ts";
import { beginEvacuation, clearDevices, devicesSeen } from "./evacuate.ts";
import type { MaintenanceParts } from "./parts.ts";

const devicesOf = ({ cluster }: Pick<MaintenanceParts, "cluster">, node: string): readonly Device[] =>
  Object.values(cluster.state.devices).filter((d) => d.node === node && d.state !== "Failed" && d.state !== "Removed");

function checkMember({ cluster }: Pick<MaintenanceParts, "cluster">, node: string): void {
  const state = cluster.state.nodes[node]?.state;
  if (state === undefined || state === "Evicted") throw storageError("NotFound", `no such node: ${node}`, { field: "node_id" });
}

/** Tells a node to leave: it takes nothing new, and its shards move away. Throws `EvacuationRefused` where redundancy would not hold. */
export async function beginDrain(parts: MaintenanceParts, node: string, actor: Actor): Promise<void> {
  const { cluster } = parts;
  checkMember(parts, node);
  const others = Object.values(cluster.state.nodes).filter(
    ({ id, state }) => id !== node && state === "Active" && parts.objects.up(id),
  );
  if (others.length === 0) throw storageError("EvacuationRefused", `node ${node}: no other Active node answers`, { node });
  const own = devicesOf(parts, node);
  for (const pool of Object.values(cluster.state.pools).filter(({ id }) => own.some((d) => d.pool === id))) {
    const { refusal } = judgeLeave(cluster.state, pool, (d) => d.node === node, devicesSeen(parts));
    if (refusal !== undefined) throw storageError("EvacuationRefused", `node ${node}: its leaving ${refusal}`, { node });
  }
  await cluster.propose({ kind: "node.state", id: node, state: "Draining" }, actor);
}

/** Evacuates all devices of a node that drains, in one pass over the chunks. What cannot be moved stays where it is, and the job fails. */
export async function runDrain(parts: MaintenanceParts, job: JobContext): Promise<JsonObject> {
  const node = job.params["node"] as string;
  const actor = { id: job.job.created_by, source: "job" };
  for (const device of devicesOf(parts, node))
    if (device.state !== "Evacuating")
      await beginEvacuation(parts, device, { trigger: "operator", reason: `node ${node} drains` }, actor);
  const devices = devicesOf(parts, node).map((d) => d.id);
  const { moved, bytes, left } = await clearDevices(parts, job, new Set(devices));
  if (left > 0) {
    await keepDevices(parts, node, nodeActor);
    parts.context.emit("error", "node", `node ${node} does not drain: ${left} chunks have nowhere to go`, { node, left });
    throw new CodedError("EvacuationRefused", `${left} chunks could not be moved off node ${node}`);
  }
  return { node, devices, moved, bytes };
}

/** A node that was told to leave stays: what was moved stays moved. */
export async function cancelDrain(parts: MaintenanceParts, node: string, actor: Actor): Promise<void> {
  checkMember(parts, node);
  await parts.cluster.propose({ kind: "node.state", id: node, state: "Active" }, actor);
  await keepDevices(parts, node, actor);
}

async function keepDevices(parts: MaintenanceParts, node: string, actor: Actor): Promise<void> {
  for (const { id, state } of devicesOf(parts, node))
    if (state === "Evacuating") await parts.cluster.propose({ kind: "device.event", id, event: { kind: "cancel" } }, actor);
}

/** Takes a node out of the cluster. Refused while it votes in a shard or has a device that is not Removed. */
export async function evictNode(parts: MaintenanceParts, node: string, actor: Actor): Promise<void> {
  const { state } = parts.cluster;
  checkMember(parts, node);
  if (node === parts.context.nodeId)
    throw storageError("EvacuationRefused", `node ${node} does not evict itself: ask another`, { node });
  const device = Object.values(state.devices).find((d) => d.node === node && d.state !== "Removed");
  if (device !== undefined)
    throw storageError(
      "DeviceNotEvacuated",
      `device ${device.id} of node ${node} is ${device.state}, not Removed: drain the node first`,
      {
        device: device.id,
        state: device.state,
      },
    );
  const shard = state.shards.find((s) => s.voters.includes(node) || s.migration?.to === node);
  if (shard !== undefined)
    throw storageError("EvacuationRefused", `node ${node} still votes in shard ${shard.id}: its place moves when it may`, {
      node,
    });
  await parts.cluster.propose({ kind: "node.state", id: node, state: "Evicted" }, actor);
}
