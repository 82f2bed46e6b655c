import { newDevice, newPool } from "@seneschal/contract/storage";
import {
  type ClusterCommand,
  type Device,
  type GrpcCall,
  type GrpcHandler,
  type GrpcMessage,
  grpcError,
  isReadOnly,
  storageError,
} from "@seneschal/core/storage";
import type * as z from "zod";
import { poolCommand } from "../cluster/pool-command.ts";
import type { Actor } from "../context.ts";
import { poolDurability, type StorageNode } from "../node.ts";
import { auditedCall, textOf } from "./audited-call.ts";
import type { PeerAuth } from "./authenticate-peer.ts";

/** The StorageAdminService: for cluster admins only, every change in the audit log whether it succeeded or not. */
export function adminCalls(node: StorageNode, auth: PeerAuth): Readonly<Record<string, GrpcHandler>> {
  const { context, cluster } = node;
  const asAdmin = ({ peer }: GrpcCall) => auth.admit(peer, "storage:admin");
  const change = (op: string, work: (request: GrpcMessage, actor: Actor) => Promise<GrpcMessage>) =>
    auditedCall(context, asAdmin, op, work);
  const propose = async (command: ClusterCommand, actor: Actor): Promise<GrpcMessage> => {
    await cluster.propose(command, actor);
    return {};
  };
  const device = (request: GrpcMessage) => textOf(request, "device_id");
  const shard = (request: GrpcMessage) => textOf(request, "shard_id");

  const view = (found: Device): GrpcMessage => ({
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

  const found = (id: string): GrpcMessage => {
    const known = cluster.state.devices[id];
    if (known === undefined) throw storageError("NotFound", `no such device: ${id}`, { field: "device_id" });
    return view(known);
  };

  return {
    async ListDevices(call) {
      await asAdmin(call);
      return { devices: Object.values(cluster.state.devices).map(view) };
    },
    AddDevice: change("add_device", async (request, actor) => {
      const parsed = newDevice.safeParse({ ...request, node_id: textOf(request, "node_id") || undefined });
      if (!parsed.success) throw invalid(parsed.error);
      const { device_id: id, node_id = context.nodeId, pool_id: pool, directory, capacity_bytes: capacityBytes } = parsed.data;
      await node.addDevice(node_id, { id, pool, directory, capacityBytes }, actor);
      return found(id);
    }),
    async ListPools(call) {
      await asAdmin(call);
      return {
        pools: node.monitor.pools().map(({ id, state, usedBytes, capacityBytes }) => ({
          pool_id: id,
          class: cluster.state.pools[id]?.class ?? "custom",
          durability: poolDurability(cluster, id),
          state,
          capacity_bytes: capacityBytes,
          used_bytes: usedBytes,
        })),
      };
    },
    CreatePool: change("create_pool", async (request, actor) => {
      const { data, parity, copies } = request;
      const durability = copies ? { copies } : data || parity ? { data, parity } : undefined;
      const parsed = newPool.safeParse({ pool_id: textOf(request, "pool_id"), class: textOf(request, "class"), durability });
      if (!parsed.success) throw invalid(parsed.error);
      await node.cluster.propose(poolCommand(parsed.data), actor);
      return {};
    }),
    RemovePool: change("remove_pool", async (request, actor) => {
      await node.removePool(textOf(request, "pool_id"), actor);
      return {};
    }),
    RebalancePool: change("rebalance", async (request, actor) => ({
      job_id: (await node.rebalance(textOf(request, "pool_id"), actor)).id,
    })),
    EvacuateDevice: change("evacuate", async (request, actor) => ({ job_id: (await node.evacuate(device(request), actor)).id })),
    CancelEvacuation: change("cancel_evacuation", async (request, actor) => {
      const id = device(request);
      await node.cancelEvacuation(id, actor);
      return found(id);
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
    DrainNode: change("drain_node", async (request, actor) => ({
      job_id: (await node.drainNode(textOf(request, "node_id"), actor)).id,
    })),
    CancelDrain: change("cancel_drain", async (request, actor) => {
      await node.cancelDrain(textOf(request, "node_id"), actor);
      return {};
    }),
    EvictNode: change("evict_node", async (request, actor) => {
      await node.evictNode(textOf(request, "node_id"), actor);
      return {};
    }),
  };
}

function invalid(error: z.ZodError): Error {
  const [issue] = error.issues;
  return grpcError("InvalidArgument", `${issue?.path.join(".")}: ${issue?.message}`, { field: issue?.path.join(".") ?? "" });
}
