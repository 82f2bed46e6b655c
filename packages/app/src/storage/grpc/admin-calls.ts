import type { DataCall, DataHandler, Message } from "@seneschal/adapters/grpc-storage";
import { type ClusterCommand, type Device, isReadOnly, storageError } from "@seneschal/core/storage";
import type { Actor } from "../context.ts";
import type { StorageNode } from "../node.ts";
import { auditedCall, textOf } from "./audited-call.ts";
import type { PeerAuth } from "./authenticate-peer.ts";

/** The StorageAdminService: for cluster admins only, every change in the audit log whether it succeeded or not. */
export function adminCalls(node: StorageNode, auth: PeerAuth): Readonly<Record<string, DataHandler>> {
  const { context, cluster } = node;
  const asAdmin = ({ peer }: DataCall) => auth.admit(peer, "storage:admin");
  const change = (op: string, work: (request: Message, actor: Actor) => Promise<Message>) =>
    auditedCall(context, asAdmin, op, work);
  const propose = async (command: ClusterCommand, actor: Actor): Promise<Message> => {
    await cluster.propose(command, actor);
    return {};
  };
  const device = (request: Message) => textOf(request, "device_id");
  const shard = (request: Message) => textOf(request, "shard_id");

  const view = (found: Device): Message => ({
    device_id: found.id,
    node_id: found.node,
    pool_id: found.pool,
    class: found.class,
    state: found.state,
    evacuated: found.evacuated,
    capacity_bytes: found.capacityBytes,
    used_bytes: node.devices.usedBytes(found.id),
    reason: found.reason,
  });

  return {
    async ListDevices(call) {
      await asAdmin(call);
      return { devices: Object.values(cluster.state.devices).map(view) };
    },
    EvacuateDevice: change("evacuate", async (request, actor) => ({ job_id: (await node.evacuate(device(request), actor)).id })),
    CancelEvacuation: change("cancel_evacuation", async (request, actor) => {
      const id = device(request);
      await node.cancelEvacuation(id, actor);
      const found = cluster.state.devices[id];
      if (found === undefined) throw storageError("NotFound", `no such device: ${id}`, { field: "device_id" });
      return view(found);
    }),
    RemoveDevice: change("remove_device", async (request, actor) => {
      await node.removeDevice(device(request), actor);
      return {};
    }),
    async ClusterStatus(call) {
      await asAdmin(call);
      const nodes = Object.values(cluster.state.nodes).map(({ id, state, address }) => ({
        node_id: id,
        state,
        address,
        reachable: node.objects.up(id),
      }));
      const { entries, available } = cluster.status();
      return { health: node.monitor.health(), nodes, log_available: available, changes: entries };
    },
    async ListShards(call) {
      await asAdmin(call);
      const shards = cluster.state.shards.map((s) => ({
        shard_id: s.id,
        leader: s.leader,
        voters: s.voters,
        learner: s.migration?.to ?? "",
        maintenance: isReadOnly(cluster.state, s.id),
      }));
      return { shards };
    },
    SplitShard: change("split_shard", (request, actor) => propose({ kind: "shard.split", id: shard(request) }, actor)),
    MoveShard: change("move_shard", (request, actor) =>
      propose({ kind: "shard.migrate", id: shard(request), from: textOf(request, "from"), to: textOf(request, "to") }, actor),
    ),
    SetShardMaintenance: change("maintenance", (request, actor) => {
      const id = shard(request);
      return propose(
        { kind: "maintenance.set", enabled: request["enabled"] === true, ...(id === "" ? {} : { shard: id }) },
        actor,
      );
    }),
    DrainNode: change("drain_node", (request, actor) =>
      propose({ kind: "node.state", id: textOf(request, "node_id"), state: "Draining" }, actor),
    ),
    EvictNode: change("evict_node", (request, actor) =>
      propose({ kind: "node.state", id: textOf(request, "node_id"), state: "Evicted" }, actor),
    ),
  };
}
