import {
  type ClusterCommand,
  deviceClasses,
  diskRoom,
  type GrpcCall,
  type GrpcHandler,
  type GrpcMessage,
  grpcError,
  grpcPieceBytes,
  hasQuorum,
  isReadOnly,
  storageError,
  tuningTable,
} from "@seneschal/core/storage";
import { CodedError, isCoded } from "@seneschal/kernel";
import type { BlobDevice } from "@seneschal/kernel/ports";
import * as z from "zod";
import type { DeviceSet } from "../data/devices.ts";
import type { StorageNode } from "../node.ts";
import { newDeviceRequest } from "../peers/new-device.ts";
import { eventsReply, eventsRequest } from "../peers/node-report.ts";
import { auditedCall, textOf } from "./audited-call.ts";
import type { PeerAuth } from "./authenticate-peer.ts";

/** The PeerService: how this node is, for the other nodes. */
export function peerCalls(node: StorageNode, auth: PeerAuth): Readonly<Record<string, GrpcHandler>> {
  return {
    async Status({ peer }) {
      await auth.admit(peer, "peers:use");
      const report = node.report();
      const devices = report.devices.map(({ disk, ...of }) => ({ ...of, ...(disk && { disk: diskRoom.write(disk) }) }));
      return { ...report, devices };
    },
    async Events({ peer, request }) {
      await auth.admit(peer, "peers:use");
      return eventsReply.write(node.events.query(eventsRequest.read(request)));
    },
    async AddDevice({ peer, request }) {
      await auth.admit(peer, "peers:use");
      const { device, actor } = newDeviceRequest.read(request);
      await node.addDevice(node.context.nodeId, device, actor);
      return {};
    },
  };
}

/** The LogService: the cluster's replicated log from outside. */
export function logCalls(node: StorageNode, auth: PeerAuth): Readonly<Record<string, GrpcHandler>> {
  const { cluster, context } = node;
  const asServer = ({ peer }: GrpcCall) => auth.admit(peer, "peers:use");
  const asOperator = ({ peer }: GrpcCall) => auth.admit(peer, "cluster:maintain");
  return {
    AppendDelta: auditedCall(context, asServer, "append_delta", async (request, actor) => {
      await cluster.propose(commandOf(textOf(request, "command")), actor);
      return { n: cluster.status().entries };
    }),
    async *ReadDeltas(call) {
      await asServer(call);
      const after = call.request["after"] ?? 0;
      await cluster.refresh();
      for (const { n, at, actor, command } of cluster.journal())
        if (n > (after as number)) yield { n, at: new Date(at).toISOString(), actor: actor.id, command: JSON.stringify(command) };
    },
    async ShardHealth(call) {
      await asServer(call);
      const id = textOf(call.request, "shard_id");
      const shard = cluster.state.shards.find((s) => s.id === id);
      if (shard === undefined) throw storageError("NotFound", `no such shard: ${id}`, { field: "shard_id" });
      return {
        shard_id: id,
        leader: shard.leader,
        voters: shard.voters,
        reachable: shard.voters.filter(node.objects.up),
        quorum: cluster.status().available && hasQuorum(shard, node.objects.up),
        maintenance: isReadOnly(cluster.state, id),
        learner: shard.migration?.to ?? "",
      };
    },
    SetMaintenance: auditedCall(context, asOperator, "maintenance", async (request, actor) => {
      const enabled = request["enabled"] === true;
      const shard = textOf(request, "shard_id");
      await cluster.propose({ kind: "maintenance.set", enabled, ...(shard === "" ? {} : { shard }) }, actor);
      return { enabled };
    }),
  };
}

function commandOf(json: string): ClusterCommand {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw grpcError("InvalidArgument", "command is not JSON", { field: "command" });
  }
  const parsed = clusterCommand.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw grpcError("InvalidArgument", `command: ${issue?.path.join(".")} ${issue?.message}`, { field: "command" });
  }
  return parsed.data as ClusterCommand;
}

const id = z.string().min(1).max(128);
const durability = z.union([
  z.strictObject({ kind: z.literal("ec"), data: z.int(), parity: z.int() }),
  z.strictObject({ kind: z.literal("replication"), copies: z.int() }),
]);
const kind = <K extends string>(name: K) => ({ kind: z.literal(name) });

/**
 * A command that may come from outside: what operators decide. What nodes decide from their own measurements (devices, leaders,
 * migrations) is not among them. The state machine judges the values.
 */
const clusterCommand = z.discriminatedUnion("kind", [
  z.strictObject({ ...kind("maintenance.set"), enabled: z.boolean(), shard: id.optional() }),
  z.strictObject({
    ...kind("tuning.set"),
    values: z.partialRecord(z.enum(Object.keys(tuningTable) as [keyof typeof tuningTable]), z.number()),
  }),
  z.strictObject({ ...kind("node.state"), id, state: z.enum(["Active", "Draining", "Evicted"]) }),
  z.strictObject({ ...kind("pool.create"), id, class: z.enum(deviceClasses), durability: durability.optional() }),
  z.strictObject({ ...kind("shard.split"), id }),
  z.strictObject({ ...kind("shard.migrate"), id, to: id, from: id.optional() }),
]);

/** Bytes of one fragment: a chunk of 4 MiB with its seal, where it is not cut. */
const maxFragmentBytes = (4 << 20) + 1024;
const namesPerMessage = 500;

/** The FragmentService: the extents of this node's own devices, for other nodes of the cluster. */
export function fragmentCalls(
  devices: DeviceSet,
  authenticate: (call: GrpcCall) => Promise<unknown>,
): Readonly<Record<string, GrpcHandler>> {
  const local = ({ device_id: id }: GrpcMessage): BlobDevice => {
    const device = typeof id === "string" && devices.isLocal(id) ? devices.get(id) : undefined;
    if (device === undefined)
      throw new CodedError("device_unavailable", "this node does not serve the device", { field: "device_id" });
    return device;
  };
  const extentOf = ({ extent }: GrpcMessage): string => (typeof extent === "string" ? extent : "");

  return {
    async Write(call) {
      await authenticate(call);
      const source = call.messages[Symbol.asyncIterator]();
      const first = await source.next();
      const start = first.done === true ? undefined : (first.value["start"] as GrpcMessage | undefined);
      if (start === undefined) throw grpcError("InvalidArgument", "the first message must be start", { field: "start" });
      const bytes = await collect({ [Symbol.asyncIterator]: () => source });
      await local(start).write(extentOf(start), bytes);
      devices.adjust(start["device_id"] as string, bytes.length);
      return {};
    },
    async *Read(call) {
      await authenticate(call);
      const bytes = await local(call.request).read(extentOf(call.request));
      if (bytes === undefined) return;
      yield { found: true };
      for (let at = 0; at < bytes.length; at += grpcPieceBytes) yield { data: bytes.subarray(at, at + grpcPieceBytes) };
    },
    async Has(call) {
      await authenticate(call);
      return { present: await local(call.request).has(extentOf(call.request)) };
    },
    async Delete(call) {
      await authenticate(call);
      await local(call.request).delete(extentOf(call.request));
      return {};
    },
    async *List(call) {
      await authenticate(call);
      let extents: string[] = [];
      for await (const extent of local(call.request).list()) {
        if (extents.push(extent) < namesPerMessage) continue;
        yield { extents };
        extents = [];
      }
      if (extents.length > 0) yield { extents };
    },
    async Usage(call) {
      await authenticate(call);
      const { capacityBytes, usedBytes, disk } = await local(call.request).usage();
      return { capacity_bytes: capacityBytes, used_bytes: usedBytes, ...(disk && { disk: diskRoom.write(disk) }) };
    },
    async Inspect(call) {
      await authenticate(call);
      return { problems: await local(call.request).inspect() };
    },
  };
}

async function collect(messages: AsyncIterable<GrpcMessage>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const { data } of messages) {
    if (!(data instanceof Uint8Array))
      throw grpcError("InvalidArgument", "messages after the first must be data", { field: "data" });
    size += data.length;
    if (size > maxFragmentBytes) throw grpcError("EntityTooLarge", `a fragment has at most ${maxFragmentBytes} bytes`);
    pieces.push(data);
  }
  return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
}

/** The KeyManagerService. */
export function keyManagerCalls(node: StorageNode, auth: PeerAuth): Readonly<Record<string, GrpcHandler>> {
  const asServer = ({ peer }: GrpcCall) => auth.admit(peer, "keys:use");
  const asAdmin = ({ peer }: GrpcCall) => auth.admit(peer, "storage:admin");
  return {
    async CurrentEpoch(call) {
      await asServer(call);
      return { epoch: (await node.keys.forWrite()).epoch };
    },
    Rotate: auditedCall(node.context, asAdmin, "rotate_keys", async (_request, actor) => ({
      epoch: await node.rotateKeys(actor),
    })),
    async Health(call) {
      await asServer(call);
      return { reachable: await node.keys.probe(), cached_epochs: node.keys.cachedEpochs() };
    },
  };
}

/** The TenantKeyService, for cluster admins. */
export function tenantKeyCalls(node: StorageNode, auth: PeerAuth): Readonly<Record<string, GrpcHandler>> {
  const { context, tenants } = node;
  const asAdmin = ({ peer }: GrpcCall) => auth.admit(peer, "storage:admin");
  return {
    Create: auditedCall(context, asAdmin, "create_tenant", async (request, actor) => {
      const tenant = textOf(request, "tenant");
      if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(tenant))
        throw grpcError("InvalidArgument", "tenant must be 1 to 63 of a-z, 0-9 and hyphen", { field: "tenant" });
      await tenants.create(tenant, { dedup: request["no_dedup"] !== true }, actor);
      return {};
    }),
    Rotate: auditedCall(context, asAdmin, "rotate_tenant_key", async (request, actor) => {
      await tenants.rotate(textOf(request, "tenant"), actor);
      return {};
    }),
    CryptoShred: auditedCall(context, asAdmin, "crypto_shred", async (request, actor) => {
      const tenant = textOf(request, "tenant");
      if (textOf(request, "confirm") !== tenant)
        throw grpcError("InvalidArgument", "confirm must repeat the tenant's name", { field: "confirm" });
      await tenants.shred(tenant, actor);
      return {};
    }),
    async CheckKmsHealth(call) {
      await asAdmin(call);
      try {
        await tenants.check(textOf(call.request, "tenant"));
        return { reachable: true };
      } catch (error) {
        if (isCoded(error, "TenantKmsUnreachable", "KeyManagerUnavailable")) return { reachable: false };
        throw error;
      }
    },
  };
}
