import { openLogger } from "@seneschal/adapters/logging";
import { openMemoryStore, settableClock } from "@seneschal/adapters/memory";
import { systemRandom } from "@seneschal/adapters/system";
import { expect, test } from "vitest";
import { jobCollections, openJobs } from "../../src/platform/index.ts";

test("started jobs with nothing to do write nothing: their lease does not wake them again", async () => {
  const store = openMemoryStore({ collections: jobCollections });
  const jobs = openJobs({
    store,
    clock: settableClock(0),
    random: systemRandom,
    log: openLogger({ level: "silent" }),
    kinds: {},
  });
  jobs.start();
  await jobs.drain();
  await jobs.tick();
  await jobs.tick();
  expect(await store.changes(0, 100)).toHaveLength(1);
  await jobs.stop();
});
