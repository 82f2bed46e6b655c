import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { AbsentDocuments } from "../../src/level/absent-documents.ts";
import { AbsentOwners } from "../../src/level/absent-owners.ts";
import { bytes } from "../../src/level/layout.ts";
import { openLevel } from "../../src/level/open-level.ts";

const id = fc.string({ unit: fc.constantFrom("1", "2", "3"), minLength: 1, maxLength: 3 });

test("no document that was there, or was written since, is ever called absent", () => {
  fc.assert(
    fc.property(fc.array(id), fc.array(fc.tuple(fc.boolean(), id)), (before, actions) => {
      const there = new Set(before.map((each) => `d/x/${each}`));
      const absent = new AbsentDocuments(new Map([["d/x/", [...there].sort().at(-1) ?? "d/x/"]]));
      for (const [writes, each] of actions) {
        const key = `d/x/${each}`;
        if (writes) {
          absent.writing(key);
          there.add(key);
        } else if (there.has(key)) expect(absent.has(key)).toBe(false);
      }
    }),
  );
});

test("an id greater than all of its collection is absent, after any number of writes; of other collections nothing is known", () => {
  const absent = new AbsentDocuments(new Map([["d/x/", "d/x/000"]]));
  const key = (n: number): string => `d/x/${String(n).padStart(8, "0")}`;
  for (let n = 1000; n < 200_000; n += 1) {
    if (!absent.has(key(n))) throw new Error(`${key(n)} is new`);
    absent.writing(key(n));
    if (absent.has(key(n)) || absent.has(key(Math.max(1000, n - 500)))) throw new Error(`${key(n)} was written`);
  }
  expect(absent.has(key(200_000))).toBe(true);
  expect(absent.has("d/y/1")).toBe(false);
  expect(absent.has("s/stream")).toBe(false);
});

test("a unique key is absent when all keys were read and it is none of them, nor was written meanwhile or since", async () => {
  const path = await mkdtemp(join(tmpdir(), "absent-owners-"));
  onTestFinished(() => rm(path, { recursive: true }));
  const db = await openLevel(path);
  const there = Array.from({ length: 2500 }, (_, n) => `i/x/u/${n}\0`);
  await db.batch(there.map((key) => ({ type: "put", key: bytes(key), value: "id" })));
  const owners = new AbsentOwners(["i/x/u/"]);
  expect(owners.has("i/x/u/new\0")).toBe(false);
  const reading = owners.read(db);
  owners.writing("i/x/u/", "meanwhile\0");
  owners.writing("i/x/other/", "not unique\0");
  await reading;
  for (const key of [...there, "i/x/u/meanwhile\0"]) expect(owners.has(key)).toBe(false);
  expect(owners.has("i/x/u/new\0")).toBe(true);
  owners.writing("i/x/u/", "new\0");
  expect(owners.has("i/x/u/new\0")).toBe(false);
  await db.close();
});
