import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openLevel } from "../../src/level/open-level.ts";

test("closing a database closes what is still open on it, and only that, and the directory is free again", async () => {
  const path = await mkdtemp(join(tmpdir(), "open-level-"));
  onTestFinished(() => rm(path, { recursive: true }));
  const db = await openLevel(path);
  await db.batch([1, 2, 3].map((n) => ({ type: "put", key: Buffer.of(n), value: String(n) })));
  const iterators = Array.from({ length: 5 }, () => db.iterator({ limit: 3 }));
  db.snapshot();
  const batch = db.batch().put(Buffer.of(4), "never written");
  for (const iterator of iterators) expect(await iterator.next()).toEqual([Buffer.of(1), "1"]);
  // From the middle, the end and the beginning, one of them twice.
  for (const at of [2, 4, 0, 2]) await iterators[at]?.close();
  expect(await iterators[1]?.next()).toEqual([Buffer.of(2), "2"]);

  await db.close();
  for (const iterator of iterators) await expect(iterator.next()).rejects.toMatchObject({ code: "LEVEL_ITERATOR_NOT_OPEN" });
  expect(() => batch.put(Buffer.of(5), "")).toThrow(expect.objectContaining({ code: "LEVEL_BATCH_NOT_OPEN" }));

  const again = await openLevel(path);
  expect(await again.keys().all()).toEqual([1, 2, 3].map((n) => Buffer.of(n)));
  await again.close();
});
