import type { DataCall, DataHandler, Message } from "@seneschal/adapters/grpc-storage";
import { isCoded, type JsonObject } from "@seneschal/core";
import { type Device, storageError } from "@seneschal/core/storage";
import { type Actor, commit } from "../context.ts";
import type { StorageNode } from "../node.ts";
import type { Caller } from "./authenticate-peer.ts";

/** The StorageAdminService: for cluster admins only, every change in the audit log whether it succeeded or not. */
export function adminCalls(
  node: StorageNode,
  authenticate: (call: DataCall) => Promise<Caller>,
): Readonly<Record<string, DataHandler>> {
  const { context, cluster } = node;

  const change = (op: string, work: (device: string, actor: Actor) => Promise<Message>): DataHandler =>
    async function run(call) {
      const caller = await authenticate(call);
      const actor = { id: caller.id, source: call.peer.address };
      const device = typeof call.request["device_id"] === "string" ? call.request["device_id"] : "";
      const record = async (outcome: string): Promise<void> => {
        context.metrics.adminCalls.inc({ op, outcome: outcome === "ok" ? "ok" : "refused" });
        const at = new Date(context.clock.now()).toISOString();
        const event: JsonObject = {
          action: `op.${op}`,
          at,
          actor: actor.id,
          source: actor.source,
          parameters: { device_id: device },
          outcome,
        };
        await commit(context.store, { audit: [{ stream: "storage", event }] });
      };
      let reply: Message;
      try {
        reply = await work(device, actor);
      } catch (error) {
        await record(isCoded(error) ? error.code : "error");
        throw error;
      }
      await record("ok");
      return reply;
    };

  const view = (device: Device): Message => ({
    device_id: device.id,
    node_id: device.node,
    pool_id: device.pool,
    class: device.class,
    state: device.state,
    evacuated: device.evacuated,
    capacity_bytes: device.capacityBytes,
    used_bytes: node.devices.usedBytes(device.id),
    reason: device.reason,
  });

  return {
    async ListDevices(call) {
      await authenticate(call);
      return { devices: Object.values(cluster.state.devices).map(view) };
    },
    EvacuateDevice: change("evacuate", async (id, actor) => ({ job_id: (await node.evacuate(id, actor)).id })),
    CancelEvacuation: change("cancel_evacuation", async (id, actor) => {
      await node.cancelEvacuation(id, actor);
      const device = cluster.state.devices[id];
      if (device === undefined) throw storageError("NotFound", `no such device: ${id}`, { field: "device_id" });
      return view(device);
    }),
    RemoveDevice: change("remove_device", async (id, actor) => {
      await node.removeDevice(id, actor);
      return {};
    }),
  };
}
