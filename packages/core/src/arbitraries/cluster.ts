import fc from "fast-check";
import type { ClusterCommand } from "../storage/index.ts";

/** The command by which a node joins under `id`. */
export const joinOf = (id: string): ClusterCommand => ({
  kind: "node.join",
  node: { id, address: `${id}:9090`, dataAddress: `${id}:9100`, peerAddress: `${id}:9300` },
});

const id = fc.constantFrom("n1", "n2", "n3", "n4");
const shard = fc.constantFrom("shard-0", "shard-1", "shard-2", "shard-9");

/** Any command to a storage cluster of up to four nodes: many are refused, which is the point. */
export const clusterCommands: fc.Arbitrary<ClusterCommand> = fc.oneof(
  id.map(joinOf),
  fc.record({ kind: fc.constant("node.state" as const), id, state: fc.constantFrom("Active", "Draining", "Evicted") }),
  fc.record({ kind: fc.constant("maintenance.set" as const), enabled: fc.boolean() }),
  fc.record({ kind: fc.constant("maintenance.set" as const), enabled: fc.boolean(), shard }),
  fc.constant<ClusterCommand>({ kind: "shards.init", nodes: 2 }),
  fc.record({ kind: fc.constant("shard.split" as const), id: shard }),
  fc.record({ kind: fc.constant("shard.migrate" as const), id: shard, from: id, to: id }),
  fc.record({ kind: fc.constant("shard.migrate" as const), id: shard, to: id }),
  fc.record({ kind: fc.constantFrom("shard.promote" as const, "shard.demote" as const, "shard.abort" as const), id: shard }),
  fc.record({ kind: fc.constant("shard.leader" as const), id: shard, from: id, leader: id }),
  fc.record({ kind: fc.constant("key.rotate" as const), epoch: fc.nat(5) }),
);
