import {
  type ClusterCommand,
  diskRoom,
  type GrpcCall,
  type GrpcHandler,
  grpcError,
  hasQuorum,
  isReadOnly,
  storageError,
} from "@seneschal/core/storage";
import type { StorageNode } from "../node.ts";
import { newDeviceRequest } from "../peers/new-device.ts";
import { eventsReply, eventsRequest } from "../peers/node-report.ts";
import { auditedCall, textOf } from "./audited-call.ts";
import type { PeerAuth } from "./authenticate-peer.ts";
import { clusterCommand } from "./cluster-command.ts";

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
