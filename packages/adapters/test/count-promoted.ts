/** Prints how many bytes of old space a call of a store and of a rate counter takes: what a call makes should be dead at the next collection of young objects. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getHeapSpaceStatistics } from "node:v8";
import { openLevelStore } from "@seneschal/adapters/level";
import { openMemoryRates } from "@seneschal/adapters/memory";
import { systemRandom } from "@seneschal/adapters/system";

/** So few that no full collection comes between. */
const rounds = 1500;
const path = mkdtempSync(join(tmpdir(), "promoted-"));
const store = await openLevelStore({ path, collections: { things: { indexes: { all: { key: () => [] } } } } });
const puts = Array.from({ length: 50 }, (_, id) => ({ coll: "things", id: String(id), doc: { text: "x".repeat(200) } }));
await store.commit({ commitId: "fill", puts });
const rates = openMemoryRates(systemRandom);

const calls = {
  list: () => store.list("things", "all", [], { limit: 50 }),
  rate: () => rates.take("caller", { limit: 1e9, window: 1000 }, 1),
};
const promoted: Record<string, number> = {};
for (const [name, call] of Object.entries(calls)) {
  const run = async (): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) await Promise.all([call(), call(), call(), call()]);
  };
  await run();
  globalThis.gc?.();
  const before = oldBytes();
  await run();
  promoted[name] = Math.round((oldBytes() - before) / rounds / 4);
}
console.log(JSON.stringify(promoted));
await store.close();
rmSync(path, { recursive: true });

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? Number.NaN;
}
