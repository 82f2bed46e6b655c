import fc from "fast-check";
import {
  type ClusterCommand,
  type ClusterState,
  emptyCluster,
  type KeptBackup,
  type MaintenanceRequest,
  type NodeView,
  stepCluster,
  type TenantCommand,
} from "../storage/index.ts";

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

const pool = fc.constantFrom("fast", "slow", "gone");
const device = fc.constantFrom("d1", "d2", "d3", "d4", "d9");

/** Any command to pools and devices, beside those of {@link clusterCommands}. */
const deviceCommands: fc.Arbitrary<ClusterCommand> = fc.oneof(
  fc.record({
    kind: fc.constant("pool.create" as const),
    id: fc.constantFrom("fast", "slow"),
    class: fc.constant("ssd" as const),
  }),
  fc.record({
    kind: fc.constant("device.add" as const),
    device: fc.record({ id: device, node: id, pool, class: fc.constant("ssd" as const), capacityBytes: fc.constant(1000) }),
  }),
  fc.record({
    kind: fc.constant("device.event" as const),
    id: device,
    event: fc.oneof(
      fc.record({ kind: fc.constantFrom("degrade" as const, "lost" as const, "fail" as const), reason: fc.constant("why") }),
      fc.record({ kind: fc.constantFrom("complete" as const, "remove" as const), references: fc.constant(0) }),
      fc.record({
        kind: fc.constant("evacuate" as const),
        trigger: fc.constant("operator" as const),
        targets: fc.constant(9),
        needed: fc.constant(1),
        reason: fc.constant("why"),
      }),
    ),
  }),
  fc.record({ kind: fc.constant("device.delete" as const), id: device }),
);

const durability = { kind: "replication", copies: 2 } as const;
const grown = (name: string, node: string): ClusterCommand => ({
  kind: "device.add",
  device: { id: name, node, pool: "fast", class: "ssd", capacityBytes: 1000 },
});
/** The last node comes late: it has no device, and no vote yet. */
const beginning: readonly ClusterCommand[] = [
  ...["n1", "n2", "n3"].map(joinOf),
  { kind: "pool.create", id: "fast", class: "ssd", durability },
  ...["n1", "n2", "n3", "n1"].map((node, i) => grown(`d${i + 1}`, node)),
  { kind: "shards.init", nodes: 2 },
  joinOf("n4"),
];

/** Any state that a cluster of up to four nodes with devices comes to. */
export const clusterStates: fc.Arbitrary<ClusterState> = fc
  .array(fc.oneof(clusterCommands, deviceCommands), { maxLength: 30 })
  .map((commands) =>
    [...beginning, ...commands].reduce<ClusterState>((state, command, now) => {
      const step = stepCluster(state, command, now);
      return step.ok ? step.state : state;
    }, emptyCluster),
  );

/** What any node of such a cluster may see. */
export const nodeViews: fc.Arbitrary<NodeView> = fc.record({
  unreachable_nodes: fc.uniqueArray(id),
  key_manager_away: fc.boolean(),
  tenant_kms_away: fc.uniqueArray(fc.constantFrom("acme", "beta")),
  damage: fc.uniqueArray(fc.constantFrom("log", "store")),
  failing_steps: fc.uniqueArray(fc.constantFrom("devices", "write-back")),
  system_disk: fc.option(fc.record({ percent: fc.nat(100), soft: fc.constant(70), hard: fc.constant(85) }), { nil: undefined }),
});

/** Anything that maintenance may be asked to begin. */
export const maintenanceRequests: fc.Arbitrary<MaintenanceRequest> = fc.oneof(
  fc.record({
    kind: fc.constant("scrub" as const),
    scope: fc.oneof(
      fc.constant({ kind: "cluster" as const }),
      fc.record({ kind: fc.constant("pool" as const), id: pool }),
      fc.record({ kind: fc.constant("device" as const), id: device }),
    ),
  }),
  fc.constant<MaintenanceRequest>({ kind: "backup", params: {} }),
  fc.constant<MaintenanceRequest>({ kind: "restore", params: { snapshot_id: "s" }, defaultPool: "fast" }),
  fc.record({ kind: fc.constant("rebalance" as const), pool }),
  fc.constant<MaintenanceRequest>({ kind: "gc" }),
  fc.record({ kind: fc.constant("drain" as const), node: id }),
  fc.record({ kind: fc.constant("evacuation" as const), device, reason: fc.constant("asked") }),
);

/** Anything that happens to one tenant. */
export const tenantCommands: fc.Arbitrary<TenantCommand> = fc.oneof(
  fc.record({
    kind: fc.constant("create" as const),
    id: fc.constant("acme"),
    kek: fc.constantFrom("one", "two"),
    dedup: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("rotate" as const), kek: fc.constantFrom("three", "four") }),
  fc.constant<TenantCommand>({ kind: "shred" }),
  fc.constant<TenantCommand>({ kind: "confirm_shred" }),
);

/** What a target of backups keeps around `at`, milliseconds: some made, some torsos. */
export const keptBackups = (at: number): fc.Arbitrary<readonly KeptBackup[]> =>
  fc
    .uniqueArray(
      fc.record({ id: fc.constantFrom("a", "b", "c", "d", "e"), days: fc.integer({ min: -9, max: 1 }), torso: fc.boolean() }),
      {
        selector: ({ id }) => id,
      },
    )
    .map((all) =>
      all.map(({ id, days, torso }) => (torso ? { id } : { id, made: new Date(at + days * 86_400_000).toISOString() })),
    );

/** Certificates' organizational units, roles of the data path among others. */
export const organizationalUnits: fc.Arbitrary<readonly string[]> = fc.array(
  fc.constantFrom(
    "store-server",
    "store-keyserver",
    "storage-admin",
    "tenant-acme",
    "tenant-",
    "tenant",
    "backend",
    "Store-Server",
  ),
  { maxLength: 4 },
);
