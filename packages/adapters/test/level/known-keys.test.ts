import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelStore } from "@seneschal/adapters/level";
import { ClassicLevel } from "classic-level";
import { expect, onTestFinished, test, vi } from "vitest";

test("a commit of new ids, guarded by documents that are read again and again, asks the engine for nothing", async () => {
  const path = await mkdtemp(join(tmpdir(), "known-keys-"));
  onTestFinished(() => rm(path, { recursive: true }));
  const collections = {
    notes: { indexes: { by_name: { key: (doc: object) => [(doc as { name: string }).name], unique: true } } },
  };
  const open = () => openLevelStore({ path, collections });
  const put = (n: number) => ({ coll: "notes", id: `id-${100 + n}`, doc: { name: `name ${n}` }, ifVersion: 0 });
  const first = await open();
  await first.commit({ commitId: "0", puts: [put(0), put(1)] });
  await first.close();

  const store = await open();
  const [getSync, getMany] = [vi.spyOn(ClassicLevel.prototype, "getSync"), vi.spyOn(ClassicLevel.prototype, "getMany")];
  onTestFinished(() => void vi.restoreAllMocks());
  const asked = (): number => getSync.mock.calls.length + getMany.mock.calls.length;
  const commit = async (n: number): Promise<unknown> => {
    const guard = await store.get("notes", "id-100");
    const checks = [{ coll: "notes", id: "id-100", version: guard?.version ?? 0 }];
    return store.commit({ commitId: String(n), puts: [put(n)], checks, audit: [{ stream: "s", event: { n } }] });
  };
  // The unique keys are read beside it; a commit that comes before asks the engine.
  let n = 1;
  await expect
    .poll(async () => {
      const before = asked();
      n += 1;
      expect(await commit(n)).toMatchObject({ ok: true });
      return asked() - before;
    })
    .toBe(0);
  expect(await store.commit({ commitId: "again", puts: [{ ...put(1), id: "id-999" }] })).toMatchObject({
    ok: false,
    unique: [{ coll: "notes", id: "id-999", index: "by_name" }],
  });
  expect(await store.commit({ commitId: "exists", puts: [put(1)] })).toMatchObject({ ok: false, failed: [{ id: "id-101" }] });
  await store.close();
});
