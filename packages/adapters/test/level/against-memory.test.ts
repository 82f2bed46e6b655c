import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelStore } from "@seneschal/adapters/level";
import { openMemoryStore } from "@seneschal/adapters/memory";
import { commitHistory } from "@seneschal/kernel/arbitraries";
import { suiteSchema } from "@seneschal/kernel/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { rounds } from "../suite-runner.ts";

test("whatever is committed, the store on disk answers as the store in memory, also when it is opened again", async () => {
  const law = fc.asyncProperty(commitHistory(20), fc.nat(20), async (history, reopened) => {
    const path = await mkdtemp(join(tmpdir(), "level-against-memory-"));
    const memory = openMemoryStore(suiteSchema);
    let level = await openLevelStore({ path, ...suiteSchema });
    try {
      for (const [at, commit] of history.entries()) {
        if (at === reopened) {
          await level.close();
          level = await openLevelStore({ path, ...suiteSchema });
        }
        expect(await level.commit(commit)).toEqual(await memory.commit(commit));
      }
      for (const index of ["by_kind", "by_name", "by_any"])
        expect(await level.list("things", index, [], { limit: 100 })).toEqual(
          await memory.list("things", index, [], { limit: 100 }),
        );
      expect(await level.auditRead(0, 100)).toEqual(await memory.auditRead(0, 100));
    } finally {
      await Promise.all([memory.close(), level.close()]);
      await rm(path, { recursive: true, force: true });
    }
  });
  await fc.assert(law, { numRuns: rounds(25) });
});
