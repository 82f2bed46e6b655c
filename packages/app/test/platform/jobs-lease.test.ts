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
  expect(await ada.hold(2000, "6")).toBe(true);
  expect(await bob.hold(2000, "7")).toBe(false);
});
