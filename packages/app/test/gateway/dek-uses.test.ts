import { openMemoryStore } from "@seneschal/adapters/memory";
import { isCoded } from "@seneschal/kernel";
import { describe, expect, it } from "vitest";
import { dekUseRecords } from "../../src/gateway/workspaces/collections.ts";
import { dekUses } from "../../src/gateway/workspaces/workspaces/dek-ring.ts";

describe("uses of a key version", () => {
  const open = () => openMemoryStore({ collections: { [dekUseRecords.name]: { indexes: {} } } });
  let commits = 0;
  const commitId = (): string => `c${commits++}`;

  it("are never more than the limit, by several processes and over restarts", async () => {
    const store = open();
    let taken = 0;
    for (let restart = 0; restart < 5; restart++) {
      const processes = [dekUses(store, commitId, 10), dekUses(store, commitId, 10)];
      for (let i = 0; i < 20; i++) {
        for (const uses of processes) {
          try {
            await uses.take("w", 1, 3, 100);
            taken += 3;
          } catch (error) {
            expect(isCoded(error, "STATE_CONFLICT")).toBe(true);
          }
        }
      }
    }
    expect(taken).toBeGreaterThan(60);
    expect(taken).toBeLessThanOrEqual(100);
  });

  it("of another version or workspace are counted apart", async () => {
    const uses = dekUses(open(), commitId, 10);
    await uses.take("w", 1, 10, 10);
    await expect(uses.take("w", 1, 1, 10)).rejects.toMatchObject({ code: "STATE_CONFLICT" });
    await uses.take("w", 2, 10, 10);
    await uses.take("v", 1, 10, 10);
  });

  it("taken by many at once share one reservation: nobody loses a race for it", async () => {
    const store = open();
    const uses = dekUses(store, commitId, 100);
    await Promise.all(Array.from({ length: 100 }, () => uses.take("w", 1, 1, 1000)));
    expect((await store.get(dekUseRecords.name, "w/1"))?.doc).toEqual({ reserved: 100 });
  });
});
