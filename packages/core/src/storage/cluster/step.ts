import { checkArgument } from "@seneschal/kernel";
import type { DeviceEvent, DeviceTransition } from "../device/step.ts";
import { stepDevice } from "../device/step.ts";
import type { DeviceClass } from "../device/types.ts";
import type { StorageErrorName } from "../errors.ts";
import { type Durability, durabilityProblem } from "../pool/durability.ts";
import { type ThresholdOverrides, thresholdProblems } from "../pool/thresholds.ts";
import { inlineLimits } from "../shard/inline-threshold.ts";
import { initialShards, type Shard, splitShard } from "../shard/map.ts";
import { migrationRefusal } from "../shard/migration.ts";
import { type Tuning, tuningProblems } from "../tuning.ts";
import type { ClusterNode, ClusterState, NodeState } from "./state.ts";

/** A change that the nodes agree on. */
export type ClusterCommand =
  | { readonly kind: "node.join"; readonly node: Pick<ClusterNode, "id" | "address" | "dataAddress" | "peerAddress"> }
  | { readonly kind: "node.state"; readonly id: string; readonly state: NodeState }
  | { readonly kind: "pool.create"; readonly id: string; readonly class: DeviceClass; readonly durability?: Durability }
  | { readonly kind: "pool.thresholds"; readonly id: string; readonly thresholds: ThresholdOverrides }
  /** `holdsData`: measured by the caller. */
  | { readonly kind: "pool.delete"; readonly id: string; readonly holdsData: boolean }
  /** `holdsData`: measured by the caller; the durability of existing chunks never changes. */
  | { readonly kind: "pool.durability"; readonly id: string; readonly durability: Durability; readonly holdsData: boolean }
  | {
      readonly kind: "device.add";
      readonly device: {
        readonly id: string;
        readonly node: string;
        readonly pool: string;
        readonly class: DeviceClass;
        readonly capacityBytes: number;
        readonly directory?: string;
      };
    }
  | { readonly kind: "device.event"; readonly id: string; readonly event: DeviceEvent }
  | { readonly kind: "device.delete"; readonly id: string }
  /** `nodes`: how many must have joined before the shards are laid out. */
  | { readonly kind: "shards.init"; readonly nodes: number }
  | { readonly kind: "shard.split"; readonly id: string }
  /** Begins to move a voter, or without `from` to add one. */
  | { readonly kind: "shard.migrate"; readonly id: string; readonly to: string; readonly from?: string }
  /** The learner has caught up. */
  | { readonly kind: "shard.promote"; readonly id: string }
  /** The old voter leaves; ends a migration that moves. */
  | { readonly kind: "shard.demote"; readonly id: string }
  /** Gives a migration up before its learner votes: nothing else changes. */
  | { readonly kind: "shard.abort"; readonly id: string }
  /** An election: void unless `from` still leads. */
  | { readonly kind: "shard.leader"; readonly id: string; readonly from: string; readonly leader: string }
  /** `automatic` changes only lower the threshold. */
  | { readonly kind: "shard.inline"; readonly id: string; readonly threshold: number; readonly automatic: boolean }
  | { readonly kind: "maintenance.set"; readonly enabled: boolean; readonly shard?: string }
  | { readonly kind: "tuning.set"; readonly values: Partial<Tuning> }
  | { readonly kind: "key.rotate"; readonly epoch: number }
  /** Every node forgets what it cached of the tenant's key. */
  /** The tenant is cut off; `done`: its key service has confirmed that the key is destroyed. */
  | { readonly kind: "tenant.shred"; readonly tenant: string; readonly done?: boolean }
  | { readonly kind: "scrub.periodic"; readonly at: number };

/** What a command did. `changed` is false for a repeat that found everything so already. */
export type ClusterStep =
  | {
      readonly ok: true;
      readonly state: ClusterState;
      readonly changed: boolean;
      readonly transitions: readonly DeviceTransition[];
    }
  | {
      readonly ok: false;
      readonly error: StorageErrorName;
      readonly message: string;
      readonly details: Readonly<Record<string, string | number | boolean>>;
    };

/**
 * Applies one command to the replicated state: deterministic. `now` comes with the log entry, so every node computes the
 * same state. Throws RangeError for a command that this version does not know: a replica that meets one must stop.
 *
 * @example
 * ```ts
 * import { emptyCluster, stepCluster } from "@seneschal/core/storage";
 * const step = stepCluster(emptyCluster, { kind: "maintenance.set", enabled: true }, 0);
 * console.log(step.ok && step.state.maintenance); // true
 * ```
 */
export function stepCluster(state: ClusterState, command: ClusterCommand, now: number): ClusterStep {
  checkArgument("state", state, "object");
  checkArgument("command", command, "object");
  checkArgument("now", now, "number");
  switch (command.kind) {
    case "node.join": {
      const before = state.nodes[command.node.id];
      // A node that was told to leave and comes back under its name still leaves.
      const staying = before?.state === "Draining" ? "Draining" : "Active";
      const node: ClusterNode = { ...command.node, state: staying, joinedAt: before?.joinedAt ?? now };
      const { address, dataAddress, peerAddress } = node;
      if (
        before?.state === node.state &&
        before.address === address &&
        before.dataAddress === dataAddress &&
        before.peerAddress === peerAddress
      )
        return same(state);
      return done({ ...state, nodes: { ...state.nodes, [node.id]: node } });
    }
    case "node.state": {
      const node = state.nodes[command.id];
      if (node === undefined) return missing("node", command.id);
      if (command.state === "Evicted" && state.shards.some((s) => s.voters.includes(node.id) || s.migration?.to === node.id))
        return refusal("InvariantViolation", `node ${node.id} still votes in a shard: move its shards first`, { node: node.id });
      return node.state === command.state
        ? same(state)
        : done({ ...state, nodes: { ...state.nodes, [node.id]: { ...node, state: command.state } } });
    }
    case "pool.create": {
      if (state.pools[command.id] !== undefined) return refusal("AlreadyExists", `pool ${command.id} exists`, { id: command.id });
      const { durability } = command;
      const problem = durability === undefined ? undefined : durabilityProblem(durability);
      if (problem !== undefined) return refusal("InvalidSetting", problem, { field: "durability" });
      const explicit = durability === undefined ? {} : { durability };
      const pool = { id: command.id, class: command.class, ...explicit, thresholds: {} };
      return done({ ...state, pools: { ...state.pools, [pool.id]: pool } });
    }
    case "pool.thresholds": {
      const pool = state.pools[command.id];
      if (pool === undefined) return missing("pool", command.id);
      const thresholds = { ...pool.thresholds, ...command.thresholds };
      const [problem] = thresholdProblems(pool.class, thresholds);
      if (problem !== undefined) return refusal("InvalidSetting", problem.message, { field: problem.field });
      return done({ ...state, pools: { ...state.pools, [pool.id]: { ...pool, thresholds } } });
    }
    case "pool.delete": {
      const pool = state.pools[command.id];
      if (pool === undefined) return missing("pool", command.id);
      const used = Object.values(state.devices).find((d) => d.pool === pool.id);
      if (used !== undefined)
        return refusal("PoolNotEmpty", `pool ${pool.id} has device ${used.id}: evacuate and remove it first`, {
          device: used.id,
        });
      if (command.holdsData) return refusal("PoolNotEmpty", `pool ${pool.id} holds data`, { pool_id: pool.id });
      const { [pool.id]: _gone, ...pools } = state.pools;
      return done({ ...state, pools });
    }
    case "pool.durability": {
      const pool = state.pools[command.id];
      if (pool === undefined) return missing("pool", command.id);
      const problem = durabilityProblem(command.durability);
      if (problem !== undefined) return refusal("InvalidSetting", problem, { field: "durability" });
      if (command.holdsData)
        return refusal("InvalidSetting", `pool ${pool.id} holds data: its durability can no longer change`, {
          field: "durability",
        });
      return done({ ...state, pools: { ...state.pools, [pool.id]: { ...pool, durability: command.durability } } });
    }
    case "device.add": {
      const { device } = command;
      if (state.devices[device.id] !== undefined)
        return refusal("AlreadyExists", `device ${device.id} exists`, { id: device.id });
      if (state.pools[device.pool] === undefined) return missing("pool", device.pool);
      if (state.nodes[device.node] === undefined) return missing("node", device.node);
      const added = { ...device, state: "Healthy" as const, evacuated: false, reason: "added", since: now };
      return done({ ...state, devices: { ...state.devices, [device.id]: added } });
    }
    case "device.event": {
      const device = state.devices[command.id];
      if (device === undefined) return missing("device", command.id);
      const step = stepDevice(device, command.event, now);
      if (!step.ok) return refusal(step.error, step.message, { device: device.id, state: device.state });
      const next = { ...state, devices: { ...state.devices, [device.id]: step.device } };
      return { ok: true, state: next, changed: true, transitions: step.transitions };
    }
    case "device.delete": {
      const device = state.devices[command.id];
      if (device === undefined) return missing("device", command.id);
      if (device.state !== "Removed")
        return refusal("DeviceNotEvacuated", `device ${device.id} is ${device.state}, not Removed: evacuate it first`, {
          device: device.id,
          state: device.state,
        });
      const { [device.id]: _gone, ...devices } = state.devices;
      return done({ ...state, devices });
    }
    case "shards.init": {
      if (state.shards.length > 0) return same(state);
      const nodes = Object.keys(state.nodes)
        .filter((id) => state.nodes[id]?.state === "Active")
        .sort();
      if (nodes.length === 0) return refusal("InvariantViolation", "no node to lead a shard", {});
      if (nodes.length < command.nodes) return same(state);
      return done({ ...state, shards: initialShards(nodes, state.tuning.inline_threshold_bytes) });
    }
    case "shard.split": {
      const index = state.shards.findIndex((s) => s.id === command.id);
      const shard = state.shards[index];
      if (shard === undefined) return missing("shard", command.id);
      if (shard.migration !== undefined)
        return refusal("ShardUnavailable", `shard ${shard.id} moves: it splits when it has arrived`, { shard: shard.id });
      const next = 1 + Math.max(...state.shards.map((s) => Number(s.id.slice("shard-".length))));
      const halves = splitShard(shard, `shard-${next}`);
      if (halves === undefined) return refusal("InvariantViolation", `shard ${shard.id} is a single point`, { shard: shard.id });
      return done({ ...state, shards: state.shards.toSpliced(index, 1, ...halves) });
    }
    case "shard.migrate": {
      const shard = state.shards.find((s) => s.id === command.id);
      if (shard === undefined) return missing("shard", command.id);
      const { id, to, from } = command;
      if (state.nodes[to] === undefined) return missing("node", to);
      if (state.nodes[to]?.state !== "Active")
        return refusal("InvariantViolation", `node ${to} is ${state.nodes[to]?.state}: no shard moves there`, { node: to });
      if (shard.migration !== undefined || shard.voters.includes(to) || (from !== undefined && !shard.voters.includes(from)))
        return refusal("InvariantViolation", `shard ${id} cannot move from ${from ?? "nowhere"} to ${to}`, { shard: id });
      const running = state.shards.filter((s) => s.migration !== undefined).length;
      const members = Object.values(state.nodes).filter((n) => n.state !== "Evicted").length;
      const why = migrationRefusal(shard, running, members, now);
      if (why !== undefined) return refusal("ShardUnavailable", `shard ${id}: ${why}`, { shard: id });
      return editShard(state, id, { migration: from === undefined ? { to } : { to, from } });
    }
    case "shard.promote": {
      const shard = state.shards.find((s) => s.id === command.id);
      if (shard === undefined) return missing("shard", command.id);
      if (shard.migration === undefined || shard.voters.includes(shard.migration.to)) return same(state);
      const { to, from } = shard.migration;
      const voters = [...shard.voters, to];
      return from === undefined ? editShard(state, shard.id, moved(shard, voters, now)) : editShard(state, shard.id, { voters });
    }
    case "shard.demote": {
      const shard = state.shards.find((s) => s.id === command.id);
      if (shard === undefined) return missing("shard", command.id);
      const { to, from } = shard.migration ?? {};
      if (to === undefined || from === undefined) return same(state);
      if (!shard.voters.includes(to))
        return refusal("InvariantViolation", `shard ${shard.id}: ${to} does not vote yet`, { shard: shard.id });
      const leader = shard.leader === from ? to : shard.leader;
      return editShard(state, shard.id, {
        ...moved(
          shard,
          shard.voters.filter((v) => v !== from),
          now,
        ),
        leader,
      });
    }
    case "shard.abort": {
      const shard = state.shards.find((s) => s.id === command.id);
      if (shard === undefined) return missing("shard", command.id);
      if (shard.migration === undefined || shard.voters.includes(shard.migration.to)) return same(state);
      return editShard(state, shard.id, { migration: undefined });
    }
    case "shard.leader": {
      const shard = state.shards.find((s) => s.id === command.id);
      if (shard === undefined) return missing("shard", command.id);
      if (!shard.voters.includes(command.leader))
        return refusal("InvariantViolation", `node ${command.leader} does not vote in shard ${shard.id}`, { shard: shard.id });
      if (shard.leader !== command.from || shard.leader === command.leader) return same(state);
      return editShard(state, command.id, { leader: command.leader });
    }
    case "shard.inline": {
      const shard = state.shards.find((s) => s.id === command.id);
      if (shard === undefined) return missing("shard", command.id);
      const low = command.automatic ? inlineLimits.floor : inlineLimits.adminMin;
      if (!(Number.isInteger(command.threshold) && command.threshold >= low && command.threshold <= inlineLimits.adminMax))
        return refusal("InvalidSetting", `inline threshold must be an integer from ${low} to ${inlineLimits.adminMax}`, {
          field: "inline_threshold_bytes",
        });
      if (command.automatic && command.threshold >= shard.inlineThreshold) return same(state);
      return editShard(state, shard.id, { inlineThreshold: command.threshold });
    }
    case "maintenance.set": {
      if (command.shard === undefined)
        return state.maintenance === command.enabled ? same(state) : done({ ...state, maintenance: command.enabled });
      const shard = state.shards.find((s) => s.id === command.shard);
      if (shard === undefined) return missing("shard", command.shard);
      return shard.maintenance === command.enabled ? same(state) : editShard(state, shard.id, { maintenance: command.enabled });
    }
    case "tuning.set": {
      const [problem] = tuningProblems(command.values);
      if (problem !== undefined) return refusal("InvalidSetting", problem.message, { field: problem.name });
      const tuning = { ...state.tuning, ...command.values };
      const inline = command.values.inline_threshold_bytes;
      const shards = inline === undefined ? state.shards : state.shards.map((s) => ({ ...s, inlineThreshold: inline }));
      return done({ ...state, tuning, shards });
    }
    case "key.rotate":
      // Epochs only grow: a repeat, or a slower node's rotation, changes nothing.
      return command.epoch <= state.keyEpoch ? same(state) : done({ ...state, keyEpoch: command.epoch });
    case "tenant.shred":
      return done(command.done === true ? state : { ...state, shreds: state.shreds + 1 });
    case "scrub.periodic":
      return command.at <= state.lastPeriodicScrubAt ? same(state) : done({ ...state, lastPeriodicScrubAt: command.at });
    default:
      throw new RangeError(`unknown command ${(command satisfies never as ClusterCommand).kind}`);
  }
}

function done(state: ClusterState): ClusterStep {
  return { ok: true, state, changed: true, transitions: [] };
}

function same(state: ClusterState): ClusterStep {
  return { ok: true, state, changed: false, transitions: [] };
}

type ShardChange = Partial<Omit<Shard, "migration">> & { readonly migration?: Shard["migration"] | undefined };

/** A change to `migration: undefined` takes the field away: the state is JSON. */
function editShard(state: ClusterState, id: string, change: ShardChange): ClusterStep {
  const edit = (shard: Shard): Shard => {
    const { migration, ...rest } = { ...shard, ...change };
    return migration === undefined ? rest : { ...rest, migration };
  };
  return done({ ...state, shards: state.shards.map((s) => (s.id === id ? edit(s) : s)) });
}

/** The end of a placement change. */
function moved(shard: Shard, voters: readonly string[], now: number): ShardChange {
  return { voters, migration: undefined, lastMoveAt: now, moves: shard.moves + 1 };
}

function refusal(
  error: StorageErrorName,
  message: string,
  details: Readonly<Record<string, string | number | boolean>>,
): ClusterStep {
  return { ok: false, error, message, details };
}

function missing(noun: string, id: string): ClusterStep {
  return refusal("NotFound", `no such ${noun}: ${id}`, { field: `${noun}_id` });
}
