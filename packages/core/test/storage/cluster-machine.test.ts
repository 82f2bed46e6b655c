import { clusterCommands, joinOf } from "@seneschal/core/arbitraries";
import {
  type ClusterCommand,
  type ClusterLog,
  type ClusterProposal,
  clusterEvents,
  clusterMachine,
  durabilityOf,
  emptyCluster,
  journalLength,
  stepCluster,
} from "@seneschal/core/storage";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const actor = { id: "a", source: "s" };
const proposal = (c: ClusterCommand, n: number): ClusterProposal => ({ id: `p${n}`, actor, command: c });
const run = (commands: readonly ClusterCommand[], hours = 0): ClusterLog =>
  commands.reduce(
    (state, c, n) => clusterMachine.apply(state, proposal(c, n), n * hours * 3_600_000).state,
    clusterMachine.initial,
  );

describe("the cluster state as a state machine", () => {
  test("a refusal and a repeat keep the state object; a change is the next of the journal", () => {
    fc.assert(
      fc.property(fc.array(clusterCommands, { maxLength: 60 }), (commands) => {
        let state = clusterMachine.initial;
        for (const [n, c] of commands.entries()) {
          const before = state;
          const step = stepCluster(before.cluster, c, n);
          const applied = clusterMachine.apply(before, proposal(c, n), n);
          state = applied.state;
          expect(state !== before).toBe(step.ok && step.changed);
          if (state !== before) expect(state.journal.at(-1)).toMatchObject({ n: before.changes + 1, at: n, command: c });
          expect(clusterMachine.apply(before, proposal(c, n), n)).toEqual(applied);
        }
        const copy = clusterMachine.decode(Buffer.concat([...clusterMachine.encode(state)]));
        expect(copy).toEqual(state);
        expect(clusterMachine.hash(copy)).toBe(clusterMachine.hash(state));
      }),
    );
  });

  test("every shard always has a leader among at least one voter, at most one migration runs, and the ranges cover the space", () => {
    fc.assert(
      fc.property(fc.array(clusterCommands, { maxLength: 80 }), fc.nat(3), (commands, hours) => {
        const { cluster } = run([joinOf("n1"), joinOf("n2"), ...commands], hours);
        for (const s of cluster.shards) {
          expect(s.voters).toContain(s.leader);
          expect(new Set(s.voters).size).toBe(s.voters.length);
          if (s.migration?.from !== undefined) expect(s.voters).toContain(s.migration.from);
        }
        expect(cluster.shards.filter((s) => s.migration !== undefined).length).toBeLessThanOrEqual(1);
        const ranges = [...cluster.shards].sort((a, b) => a.from - b.from);
        for (const [i, s] of ranges.entries()) expect(s.from).toBe(i === 0 ? 0 : ranges[i - 1]?.to);
        for (const s of Object.values(cluster.nodes))
          if (s.state === "Evicted") expect(cluster.shards.some((x) => x.voters.includes(s.id))).toBe(false);
      }),
    );
  });

  test("whoever writes the audit log at whatever times: each change is in it once, in order, and what left the journal unwritten is named", () => {
    const changes = fc.integer({ min: 0, max: journalLength + 40 });
    fc.assert(
      fc.property(fc.array(changes, { minLength: 1, maxLength: 5 }), (stops) => {
        let written = 0;
        const told: number[] = [];
        for (const total of [...stops].sort((a, b) => a - b)) {
          const journal = run(
            Array.from({ length: total }, (_, i) => ({ kind: "maintenance.set", enabled: i % 2 === 0 }) as const),
          );
          for (const { action, after, before, change } of clusterEvents(journal, written))
            if (action === "cluster.gap") for (let n = Number(after) + 1; n < Number(before); n++) told.push(n);
            else told.push(Number(change));
          written = journal.changes;
        }
        expect(told).toEqual(Array.from({ length: written }, (_, i) => i + 1));
      }),
      { numRuns: 20 },
    );
  });

  test("the journal keeps the newest changes and says how many there were", () => {
    const flips = Array.from({ length: journalLength + 5 }, (_, i) => i % 2 === 0);
    const { changes, journal } = run(flips.map((enabled) => ({ kind: "maintenance.set", enabled }) as const));
    expect([changes, journal.length, journal[0]?.n]).toEqual([journalLength + 5, journalLength, 6]);
  });

  test("a command of a later version stops a replica, it is not refused", () => {
    const unknown = { kind: "from.the.future" } as unknown as ClusterCommand;
    expect(() => clusterMachine.apply(clusterMachine.initial, proposal(unknown, 1), 1)).toThrow(RangeError);
  });

  test("a migration adds the learner, then drops the old voter, and the next one waits its hours", () => {
    const before = run([joinOf("n1"), joinOf("n2"), joinOf("n3"), { kind: "shards.init", nodes: 3 }, joinOf("n4")]).cluster;
    const step = (state: typeof before, c: ClusterCommand, now: number) => {
      const done = stepCluster(state, c, now);
      if (!done.ok) throw new Error(done.message);
      return done.state;
    };
    const move = { kind: "shard.migrate", id: "shard-0", from: "n1", to: "n4" } as const;
    const begun = step(before, move, 1000);
    expect(stepCluster(begun, { kind: "shard.migrate", id: "shard-1", from: "n1", to: "n4" }, 1000)).toMatchObject({
      error: "ShardUnavailable",
    });
    expect(stepCluster(begun, { kind: "shard.demote", id: "shard-0" }, 1000).ok).toBe(false);
    expect(step(begun, { kind: "shard.abort", id: "shard-0" }, 1000)).toEqual(before);
    const promoted = step(begun, { kind: "shard.promote", id: "shard-0" }, 2000);
    expect(promoted.shards[0]?.voters).toEqual(["n1", "n2", "n3", "n4"]);
    expect(step(promoted, { kind: "shard.abort", id: "shard-0" }, 2000)).toBe(promoted);
    const moved = step(promoted, { kind: "shard.demote", id: "shard-0" }, 3000);
    expect(moved.shards[0]).toMatchObject({ voters: ["n2", "n3", "n4"], leader: "n4", moves: 1, lastMoveAt: 3000 });
    const again = { kind: "shard.migrate", id: "shard-0", from: "n4", to: "n1" } as const;
    expect(stepCluster(moved, again, 3000 + 2 * 3_600_000 - 1)).toMatchObject({ error: "ShardUnavailable" });
    expect(stepCluster(moved, again, 3000 + 2 * 3_600_000).ok).toBe(true);
  });
});

test("without a durability of its own a pool goes by the nodes that hold its devices", () => {
  const pool = { id: "p", class: "ssd", thresholds: {} } as const;
  const of = (nodes: number) => {
    const device = (i: number) => ({
      id: `d${i}`,
      node: `n${i}`,
      pool: "p",
      class: "ssd",
      capacityBytes: 1,
      state: "Healthy",
      evacuated: false,
      reason: "",
      since: 0,
    });
    const devices = Object.fromEntries(Array.from({ length: nodes }, (_, i) => [`d${i}`, device(i)]));
    return durabilityOf({ ...emptyCluster, pools: { p: pool }, devices: devices as never }, pool);
  };
  expect([1, 2, 3, 5, 6].map(of)).toEqual([
    { durability: { kind: "ec", data: 4, parity: 2 }, acknowledge: 5 },
    { durability: { kind: "replication", copies: 2 }, acknowledge: 2 },
    { durability: { kind: "replication", copies: 3 }, acknowledge: 2 },
    { durability: { kind: "replication", copies: 3 }, acknowledge: 2 },
    { durability: { kind: "ec", data: 4, parity: 2 }, acknowledge: 4 },
  ]);
});
