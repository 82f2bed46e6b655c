import {
  type ClusterState,
  electLeader,
  hasQuorum,
  moveVoters,
  splitGrown,
  stepCluster,
  wantedVoters,
} from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";
import { clusterStates } from "../../src/arbitraries/index.ts";

const names = ["n1", "n2", "n3", "n4"];
const upSets = fc.subarray(names).map((up) => new Set(up));
const sharded = clusterStates.filter(({ shards }) => shards.length > 0);

test("of all nodes one at most takes a shard over: a voter that answers, from a leader that does not, with a majority; whom the others see the same", () => {
  fc.assert(
    fc.property(sharded, upSets, (state, answering) => {
      const up = (node: string) => answering.has(node);
      for (const shard of state.shards) {
        const commands = names.flatMap((node) => electLeader(shard, node, up) ?? []);
        const may = !up(shard.leader) && hasQuorum(shard, up);
        expect(commands.length).toBe(may ? 1 : 0);
        for (const command of commands) {
          const step = stepCluster(state, command, 0);
          const led = step.ok ? step.state.shards.find(({ id }) => id === shard.id)?.leader : undefined;
          expect(led !== undefined && up(led) && shard.voters.includes(led)).toBe(true);
        }
      }
    }),
  );
});

test("round after round the voters come to where they should be: three of each shard or as many as there are nodes, none that leaves, never fewer than there were", () => {
  fc.assert(
    fc.property(sharded, fc.nat(2), (first, lag) => {
      let state: ClusterState = first;
      let now = 1;
      const active = Object.values(state.nodes).filter((node) => node.state === "Active").length;
      const staying = (node: string) => ["Active", "Degraded"].includes(state.nodes[node]?.state ?? "Evicted");
      for (let round = 0; round < 300; round++) {
        now += 25 * 3_600_000;
        const seen = { up: () => true, logSeq: () => (round % 3 === 0 ? 10 : 10 - lag), committed: 10 };
        for (const { id } of state.shards) {
          const shard = state.shards.find((one) => one.id === id);
          const command = shard && moveVoters(state, shard, seen);
          if (shard === undefined || command === undefined) continue;
          const step = stepCluster(state, command, now);
          if (!step.ok) {
            expect(["ShardUnavailable"]).toContain(step.error);
            continue;
          }
          state = step.state;
          const voters = state.shards.find((one) => one.id === id)?.voters ?? [];
          expect(new Set(voters).size).toBe(voters.length);
          expect(voters.length).toBeGreaterThanOrEqual(shard.voters.length - (command.kind === "shard.demote" ? 1 : 0));
        }
      }
      for (const { voters, migration } of state.shards) {
        expect(migration).toBeUndefined();
        expect(voters.length).toBeGreaterThanOrEqual(Math.min(wantedVoters, active));
        if (active >= wantedVoters + 1) expect(voters.every(staying)).toBe(true);
      }
    }),
    { numRuns: 40 },
  );
});

test("a move to a node that does not answer is given up while the node does not vote, and ends as it was meant once it does", () => {
  fc.assert(
    fc.property(sharded, upSets, fc.nat(10), (state, answering, applied) => {
      const up = (node: string) => answering.has(node);
      for (const shard of state.shards) {
        const command = moveVoters(state, shard, { up, logSeq: () => applied, committed: 5 });
        const { migration, voters } = shard;
        if (migration === undefined) {
          if (command?.kind === "shard.migrate") expect([up(command.to), voters.includes(command.to)]).toEqual([true, false]);
          else expect(command).toBeUndefined();
        } else if (voters.includes(migration.to)) expect(["shard.demote", "shard.abort", undefined]).toContain(command?.kind);
        else expect(command?.kind).toBe(up(migration.to) ? (applied >= 5 ? "shard.promote" : undefined) : "shard.abort");
      }
    }),
  );
});

test("nothing is split in maintenance, of the shard or of the cluster, however large it is", () => {
  const large = { deltas: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };
  for (const cluster of [true, false])
    for (const maintenance of [true, false]) {
      const command = splitGrown({ maintenance: cluster }, { id: "shard-0", maintenance }, large);
      expect(command).toEqual(cluster || maintenance ? undefined : { kind: "shard.split", id: "shard-0" });
      expect(splitGrown({ maintenance: cluster }, { id: "shard-0", maintenance }, { deltas: 0, bytes: 0 })).toBeUndefined();
    }
});
