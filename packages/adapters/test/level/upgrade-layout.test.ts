import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelStore } from "@seneschal/adapters/level";
import { openMemoryStore } from "@seneschal/adapters/memory";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore, IndexValue } from "@seneschal/kernel/ports";
import type { StoreSchema } from "@seneschal/kernel/store";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { oldCommit, writeLayoutOne } from "./layout-one.ts";
import { alter, entriesOf } from "./level-entries.ts";

const schema: StoreSchema = {
  collections: {},
  auditIndexes: { by_type: { key: ({ event }) => [(event as JsonObject)["type"] as IndexValue] } },
};
const commits = 2345;

let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), "level-upgrade-"));
});
afterEach(() => rm(path, { recursive: true, force: true }));

/** Everything that a reader sees, and the answers to all commits repeated. */
async function seen(store: DocumentStore): Promise<unknown> {
  return {
    audit: await store.auditRead(0, 10_000),
    streams: await store.list("audit", "stream", ["s1"], { limit: 10_000, reverse: true }),
    sequence: await store.list("audit", "seq", [], { limit: 1000, offset: 100 }),
    types: await store.count("audit", "by_type", ["t"]),
    all: await store.count("audit", "seq", []),
    repeated: await Promise.all(Array.from({ length: commits }, (_, at) => store.commit(oldCommit(at + 1)))),
    next: await store.commit(oldCommit(commits + 1)),
    newest: await store.auditRead(commits, 9),
  };
}

async function expectUpgraded(): Promise<void> {
  const store = await openLevelStore({ path, ...schema });
  const slow = openMemoryStore(schema);
  for (let n = 1; n <= commits; n += 1) await slow.commit(oldCommit(n));
  expect(await seen(store)).toEqual(await seen(slow));
  await store.close();
  const entries = await entriesOf(path);
  expect(entries.get("m/format")).toBe("2");
  expect([...entries.keys()].filter((key) => /^(?:[qt]\/|i\/audit\/seq\/)/.test(key))).toEqual([]);
  expect(entries.get("m/indexes")).not.toContain("audit.seq");
}

describe("a directory of layout 1", () => {
  test("is brought to layout 2 at open: it reads, recognises and numbers as before, and nothing of layout 1 is left", async () => {
    await writeLayoutOne(path, commits);
    await expectUpgraded();
  });

  test("is upgraded whole after a kill at any step", async () => {
    await writeLayoutOne(path, commits);
    const before = await entriesOf(path);
    await (await openLevelStore({ path, ...schema })).close();
    const after = await entriesOf(path);
    const added = [...after].filter(([key]) => !before.has(key));
    const removed = [...before].filter(([key]) => !after.has(key));
    expect(added.length).toBe(Math.ceil(commits / 1000));
    const half = removed.slice(0, removed.length / 2).map(([key]) => key);
    const cuts = [
      { name: "some ids are batched", format: "1", there: added.slice(0, 1), gone: [] },
      { name: "some ids are batched otherwise", format: "1", there: [["w/0000000000000007", '["other"]']] as const, gone: [] },
      { name: "all ids are batched", format: "1", there: added, gone: [] },
      { name: "the batches count", format: "2, clearing 1", there: added, gone: [] },
      { name: "half is deleted", format: "2, clearing 1", there: added, gone: half },
      { name: "all is deleted", format: "2, clearing 1", there: added, gone: removed.map(([key]) => key) },
    ];
    for (const { name, format, there, gone } of cuts) {
      await rm(path, { recursive: true });
      await alter(path, [...before, ...there, ["m/format", format]], gone);
      await expectUpgraded().catch((error) => {
        throw new Error(`cut off when ${name}`, { cause: error });
      });
    }
  });

  test("that is empty is upgraded too", async () => {
    await writeLayoutOne(path, 0);
    const store = await openLevelStore({ path, ...schema });
    expect(await store.commit(oldCommit(1))).toEqual({ ok: true, seq: 1, versions: {}, audit: [{ seq: 1, streamSeq: 1 }] });
    await store.close();
    expect((await entriesOf(path)).get("m/format")).toBe("2");
  });
});

test("a directory of another layout is refused and left as it is", async () => {
  for (const format of ["0", "3", "2, clearing 0", ""]) {
    await writeLayoutOne(path, 3);
    await alter(path, [["m/format", format]]);
    const before = await entriesOf(path);
    await expect(openLevelStore({ path, ...schema })).rejects.toMatchObject({ code: "store_misconfigured" });
    expect(await entriesOf(path)).toEqual(before);
  }
});

test("of 100,500 commits the newest 100,000 are recognised, exactly, also after the next commit and the next open", async () => {
  await writeLayoutOne(path, 100_500, 0);
  const answers = async (store: DocumentStore, seqs: readonly number[]): Promise<unknown> => {
    const results = [];
    for (const seq of seqs) results.push(await store.commit(oldCommit(seq)));
    return results.map((result) => (result.ok ? result.seq : result));
  };
  let store = await openLevelStore({ path, ...schema });
  expect(await answers(store, [501, 502, 100_500])).toEqual([501, 502, 100_500]);
  // 500 is new again: its commit moves the border behind 501, which then moves it behind 502.
  expect(await answers(store, [500, 502, 501, 500])).toEqual([100_501, 502, 100_502, 100_501]);
  await store.close();
  store = await openLevelStore({ path, ...schema });
  expect(await answers(store, [503, 502, 504, 500, 501])).toEqual([503, 100_503, 504, 100_501, 100_502]);
  expect(await store.count("audit", "seq", []), "three were new").toBe(3);

  // The first batch of the upgrade, 501 to 1,500, is deleted with the commit that its last one leaves for.
  let extra = 0;
  const commitUntil = async (newest: number): Promise<string | undefined> => {
    while (100_500 + (await store.count("audit", "seq", [])) < newest) {
      extra += 1;
      await store.commit(oldCommit(200_000 + extra));
    }
    await store.close();
    const batches = [...(await entriesOf(path)).keys()].filter((key) => key.startsWith("w/"));
    store = await openLevelStore({ path, ...schema });
    return batches[0];
  };
  expect(await commitUntil(101_499)).toBe("w/0000000000001500");
  expect(await commitUntil(101_500)).toBe("w/0000000000002500");
  await store.close();
});
