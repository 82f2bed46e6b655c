import { openLogger } from "@seneschal/adapters/logging";
import { openMemoryStore, settableClock } from "@seneschal/adapters/memory";
import { systemRandom } from "@seneschal/adapters/system";
import { expect, test } from "vitest";
import { jobCollections, openJobs } from "../../src/platform/index.ts";
import { Lease } from "../../src/platform/jobs/lease.ts";
import { strictBackground } from "./strict-background.ts";

test("started jobs with nothing to do write nothing: their lease does not wake them again", async () => {
  const store = openMemoryStore({ collections: jobCollections });
  const jobs = openJobs({
    store,
    clock: settableClock(0),
    random: systemRandom,
    log: openLogger({ level: "silent" }),
    background: strictBackground(openLogger({ level: "silent" })),
    kinds: {},
  });
  jobs.start();
  await jobs.drain();
  await jobs.tick();
  await jobs.tick();
  expect(await store.changes(0, 100)).toHaveLength(1);
  await jobs.stop();
});

test("a lease is one holder's until it ends; one that lies further ahead than any lease lasts is nobody's", async () => {
  const store = openMemoryStore({ collections: jobCollections });
  const [ada, bob] = [new Lease(store, "l", "ada", 1000), new Lease(store, "l", "bob", 1000)];
  expect(await ada.hold(0, "1")).toBe(true);
  expect(await bob.hold(999, "2")).toBe(false);
  expect(await bob.hold(1000, "3")).toBe(true);
  expect(await ada.hold(1000, "4")).toBe(false);
  // Bob's clock jumps an hour ahead and back.
  expect(await bob.hold(3_600_000, "5")).toBe(true);
  expect(await ada.hold(2000, "6")).toBe(false);
  expect(await ada.hold(2999, "7")).toBe(false);
  expect(await ada.hold(3000, "8")).toBe(true);
  expect(await bob.hold(3000, "9")).toBe(false);
});

test("two whose clocks differ do not take a lease from each other for ever, whichever is ahead; when its holder dies the other has it", async () => {
  for (const ahead of [3_600_000, -3_600_000, 1500, -1500]) {
    const store = openMemoryStore({ collections: jobCollections });
    const [ada, bob] = [new Lease(store, "l", "ada", 900), new Lease(store, "l", "bob", 900)];
    let commit = 0;
    const holders: string[] = [];
    const beat = async (at: number, adaLives = true) => {
      if (adaLives && (await ada.hold(at, `${++commit}`))) holders.push("ada");
      // Bob's clock goes wrong after a while.
      if (await bob.hold(at > 3000 ? at + ahead : at, `${++commit}`)) holders.push("bob");
    };
    for (let at = 0; at < 30_000; at += 300) await beat(at);
    const changes = holders.filter((name, i) => i > 0 && name !== holders[i - 1]).length;
    expect([ahead, changes <= 1, holders.length >= 95]).toEqual([ahead, true, true]);
    holders.length = 0;
    for (let at = 30_000; at < 33_000; at += 300) await beat(at, false);
    expect(holders).toContain("bob");
  }
});
