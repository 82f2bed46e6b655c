import { openMemoryStore } from "@seneschal/adapters/memory";
import { describe, expect, it } from "vitest";
import { transact, type Unit } from "../../../src/gateway/ground/store/unit-of-work.ts";
import { collection } from "../../../src/platform/collection.ts";

interface Tally {
  readonly name: string;
  readonly count: number;
}

const tallies = collection<Tally>("tallies", { by_name: { key: ({ name }) => [name] } });

async function openTally() {
  const store = await openMemoryStore({ collections: { tallies } });
  let commits = 0;
  const run = <R>(work: (unit: Unit) => Promise<R>) => transact(store, () => `commit-${++commits}`, work);
  await run(async (unit) => unit.insert(tallies, "a", { name: "a", count: 0 }));
  const add = (count: number) => run(async (unit) => unit.put(tallies, "a", { name: "a", count }));
  const count = async () => (await store.get("tallies", "a"))?.doc["count"];
  return { run, add, count };
}

describe("a unit of work", () => {
  it("reads a document once: a guard is judged on the state that is written over, whoever commits between two reads", async () => {
    const { run, add, count } = await openTally();
    const guards: number[] = [];
    await run(async (unit) => {
      const guarded = await unit.get(tallies, "a");
      guards.push(guarded?.count ?? -1);
      if (guards.length === 1) await add(10);
      const again = await unit.get(tallies, "a");
      expect(again).toEqual(guarded);
      unit.put(tallies, "a", { name: "a", count: (again?.count ?? 0) + 1 });
    });
    expect(guards).toEqual([0, 10]);
    expect(await count()).toBe(11);
  });

  it("refuses to write over what changed since it was listed", async () => {
    const { run, add, count } = await openTally();
    let attempts = 0;
    await run(async (unit) => {
      const [found] = await unit.list(tallies, "by_name", ["a"]);
      if (++attempts === 1) await add(10);
      unit.put(tallies, "a", { name: "a", count: (found?.count ?? 0) + 1 });
    });
    expect(attempts).toBe(2);
    expect(await count()).toBe(11);
  });

  it("ends, whatever load of others writes into what it lists", async () => {
    const { run, count } = await openTally();
    let ended = false;
    let n = 0;
    const others = async (): Promise<void> => {
      while (!ended) {
        n += 1;
        const name = `other-${n}`;
        await run(async (unit) => unit.insert(tallies, name, { name, count: n }));
      }
    };
    const load = Promise.all([others(), others(), others()]);
    const attempts: number[] = [];
    const busy = async (): Promise<void> => {
      let tried = 0;
      await run(async (unit) => {
        tried += 1;
        const all = await unit.list(tallies, "by_name", []);
        // Longer than a commit of the others takes.
        for (let i = 0; i < 200; i++) await Promise.resolve();
        unit.put(tallies, "a", { name: "a", count: all.length });
      });
      attempts.push(tried);
    };
    try {
      for (let i = 0; i < 5; i++) await busy();
    } finally {
      ended = true;
      await load;
    }
    expect(Math.max(...attempts)).toBe(4);
    expect(await count()).toBeGreaterThan(5);
  });

  it("overwrites what it never read", async () => {
    const { add, count } = await openTally();
    await Promise.all([add(1), add(2)]);
    expect([1, 2]).toContain(await count());
  });
});
