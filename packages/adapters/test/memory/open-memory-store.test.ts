import { openMemoryStore } from "@seneschal/adapters/memory";
import { documentStoreSuite } from "@seneschal/kernel/testing";
import { describe, expect, test } from "vitest";
import { rounds, runner, seed } from "../suite-runner.ts";

describe("memory store", () => {
  documentStoreSuite(runner, {
    capabilities: { durable: false, multiProcess: false, subscribe: "push" },
    place: async () => ({ open: async (schema) => openMemoryStore(schema), destroy: async () => {} }),
    seed,
    rounds: rounds(40),
  });
});

test("the newest 100,000 commits are recognised, exactly", async () => {
  const store = openMemoryStore({ collections: {} });
  const seqOf = async (n: number): Promise<unknown> => {
    const result = await store.commit({ commitId: `c${n}` });
    return result.ok ? result.seq : result;
  };
  for (let n = 1; n <= 100_001; n += 1) await store.commit({ commitId: `c${n}` });
  expect(await seqOf(2)).toBe(2);
  expect(await seqOf(1), "is new again, and the second leaves").toBe(100_002);
  expect(await seqOf(3)).toBe(3);
  expect(await seqOf(2)).toBe(100_003);
});
