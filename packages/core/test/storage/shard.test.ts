import {
  hashSpace,
  initialShardCount,
  initialShards,
  inlineThresholdFor,
  isInline,
  migrationInterval,
  migrationLimit,
  migrationRefusal,
  nextMigrationStep,
  shardAt,
  shardPoint,
  splitShard,
  stepInlineThreshold,
} from "@seneschal/core/storage";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const hour = 3_600_000;

describe("shard map", () => {
  test("the initial count is max(min(3 n, 64), 3)", () => {
    expect([0, 1, 2, 21, 22, 100].map(initialShardCount)).toEqual([3, 3, 6, 63, 64, 64]);
  });
  test("every key has exactly one shard, also after splits", () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.string({ unit: "binary" }).filter((s) => !/\p{Surrogate}/u.test(s)),
        fc.array(fc.nat(20), { maxLength: 8 }),
        (bucket, key, splits) => {
          let shards = [...initialShards(["a", "b"], 4096)];
          splits.forEach((at, i) => {
            const index = at % shards.length;
            const halves = splitShard(shards[index]!, `shard-${100 + i}`);
            if (halves) shards = shards.toSpliced(index, 1, ...halves);
          });
          const point = shardPoint(bucket, key);
          expect(shards.filter((s) => point >= s.from && point < s.to)).toEqual([shardAt(shards, point)]);
          expect(shards.reduce((sum, s) => sum + s.to - s.from, 0)).toBe(hashSpace);
        },
      ),
    );
  });
});

describe("migration", () => {
  test("the limit is max(1, floor(nodes / 10))", () => {
    expect([1, 9, 10, 19, 20, 25].map(migrationLimit)).toEqual([1, 1, 1, 1, 2, 2]);
  });
  test("intervals grow 2, 2, 4, 8, 16, 24, 24 hours and never fall below 2", () => {
    expect([-1, 0, 1, 2, 3, 4, 5, 6, 99].map((n) => migrationInterval(n) / hour)).toEqual([2, 2, 2, 4, 8, 16, 24, 24, 24]);
  });
  test("a shard moves again only after its interval, to the millisecond", () => {
    const shard = { lastMoveAt: 1000, moves: 1 };
    expect(migrationRefusal(shard, 0, 3, 1000 + 2 * hour - 1)).toBeDefined();
    expect(migrationRefusal(shard, 0, 3, 1000 + 2 * hour)).toBeUndefined();
    expect(migrationRefusal({ lastMoveAt: 0, moves: 0 }, 1, 9, 0)).toMatch(/limit is 1/);
  });
  test("a learner is promoted only at the commit index and the old voter leaves last", () => {
    const facts = { from: "a", to: "d", voters: ["a", "b", "c"], learners: [] as string[], learnerIndex: 0, commitIndex: 9 };
    expect(nextMigrationStep(facts)).toEqual({ kind: "add_learner", node: "d" });
    expect(nextMigrationStep({ ...facts, learners: ["d"], learnerIndex: 8 })).toEqual({ kind: "wait" });
    expect(nextMigrationStep({ ...facts, learners: ["d"], learnerIndex: 9 })).toEqual({ kind: "promote", node: "d" });
    expect(nextMigrationStep({ ...facts, voters: ["a", "b", "c", "d"] })).toEqual({ kind: "demote", node: "a" });
    expect(nextMigrationStep({ ...facts, voters: ["b", "c", "d"] })).toBeUndefined();
  });
});

describe("inline threshold", () => {
  const facts = {
    current: 4096,
    smallFileBudgetBytes: 1_000_000,
    fileCountEstimate: 1000,
    systemDiskPercent: 10,
    softLimitPercent: 50,
    hardLimitPercent: 75,
    inlineWriteRate: 0,
  };
  test("the share is clamped to 128..65536 and integer", () => {
    expect([inlineThresholdFor(1000, 3), inlineThresholdFor(1, 1), inlineThresholdFor(1e9, 0)]).toEqual([333, 128, 65_536]);
  });
  test("limits are strict: at 50 and 75 percent nothing changes yet", () => {
    expect(stepInlineThreshold({ ...facts, systemDiskPercent: 50 })).toEqual({ value: 4096, effective: 4096, reason: "Normal" });
    expect(stepInlineThreshold({ ...facts, systemDiskPercent: 75 })).toMatchObject({
      value: 1000,
      reason: "SoftLimitApproaching",
    });
    expect(stepInlineThreshold({ ...facts, systemDiskPercent: 75.1 })).toMatchObject({ value: 128, reason: "HardLimitBreached" });
  });
  test("a high inline rate floors the effective value only", () => {
    expect(stepInlineThreshold({ ...facts, inlineWriteRate: 10_000_001 })).toEqual({
      value: 4096,
      effective: 128,
      reason: "EmergencyFloor",
    });
  });
  test("automatic steps never raise it", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 128, max: 65_536 }),
        fc.nat(1e9),
        fc.nat(1e6),
        fc.nat(100),
        (current, budget, files, disk) => {
          const step = stepInlineThreshold({
            ...facts,
            current,
            smallFileBudgetBytes: budget,
            fileCountEstimate: files,
            systemDiskPercent: disk,
          });
          expect(step.value).toBeLessThanOrEqual(current);
          expect(step.effective).toBeLessThanOrEqual(step.value);
        },
      ),
    );
  });
  test("a payload of exactly the threshold is inline, one more is not", () => {
    expect([isInline(4096, 4096), isInline(4097, 4096)]).toEqual([true, false]);
  });
});
