import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelLog, openLevelStore } from "@seneschal/adapters/level";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { damageOf } from "../../src/level/check-files.ts";
import { crc32c } from "../../src/level/crc32c.ts";
import { faultSchema, writeOf } from "../store-faults/fault-schema.ts";
import { wholeCommits } from "../store-faults/whole-commits.ts";

/** Every so many bits one is flipped; `BIT_STEP=1` flips all. */
const step = Number(process.env["BIT_STEP"] ?? 2003);
const lives = /^(CURRENT|MANIFEST-\d+|\d+\.(log|ldb))$/;

let root: string;
let store: string;
let log: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "level-check-"));
  [store, log] = [join(root, "store"), join(root, "log")];
  // Two openings: what the first one wrote is a table by then, what the second one writes lies in the journal.
  for (const first of [1, 41]) {
    const opened = await openLevelStore({ path: store, ...faultSchema });
    for (let n = first; n < first + 40; n += 1) await opened.commit(writeOf(n));
    await opened.close();
  }
  let head = { seq: 0, batchId: "" };
  for (let round = 0; round < 2; round += 1) {
    const opened = await openLevelLog({ path: log });
    for (let n = 0; n < 20; n += 1) {
      const entry = { seq: head.seq + 1, batchId: `b${head.seq + 1}`, time: 1, version: 1, commands: [{ n: head.seq }] };
      head = { seq: entry.seq, batchId: entry.batchId };
      await opened.append({ seq: entry.seq - 1, batchId: entry.seq === 1 ? "" : `b${entry.seq - 1}` }, entry as never);
    }
    await opened.close();
  }
});
afterAll(() => rm(root, { recursive: true, force: true }));

test("CRC-32C of the check string is E3069283 (RFC 3720, B.4), and of all lengths the same byte by byte", () => {
  expect(crc32c(Buffer.from("123456789")).toString(16)).toBe("e3069283");
  expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa);
  expect(crc32c(Buffer.alloc(32, 0xff))).toBe(0x62a8ab43);
});

describe("files of a store and of a log", () => {
  test.each(["store", "log"] as const)(
    "of a %s: as they are written they are whole; every flipped bit is found, by its file",
    async (which) => {
      const path = which === "store" ? store : log;
      expect(await damageOf(path)).toEqual([]);
      const names = (await readdir(path)).filter((name) => lives.test(name));
      expect(names.some((name) => name.endsWith(".ldb"))).toBe(true);
      expect(names.some((name) => name.endsWith(".log"))).toBe(true);
      const missed: string[] = [];
      for (const name of names) {
        const file = join(path, name);
        const bytes = await readFile(file);
        for (let bit = 0; bit < bytes.length * 8; bit += name === "CURRENT" ? 1 : step) {
          const flipped = Buffer.from(bytes);
          (flipped[bit >> 3] as number) ^= 1 << (bit & 7);
          await writeFile(file, flipped);
          if ((await damageOf(path)).length === 0) missed.push(`${name}: bit ${bit}`);
        }
        await writeFile(file, bytes);
      }
      expect(missed).toEqual([]);
    },
    3_600_000,
  );

  test("a damaged directory does not open, says where, and is left as it was", async () => {
    for (const name of (await readdir(store)).filter((n) => lives.test(n))) {
      const path = join(root, "flipped");
      await cp(store, path, { recursive: true });
      const bytes = await readFile(join(path, name));
      (bytes[bytes.length >> 1] as number) ^= 4;
      await writeFile(join(path, name), bytes);
      const before = await readdir(path);
      await expect(openLevelStore({ path, ...faultSchema })).rejects.toMatchObject({
        code: "store_damaged",
        message: expect.stringContaining(name.startsWith("CURRENT") ? "" : name),
      });
      expect(await readdir(path)).toEqual(before);
      await rm(path, { recursive: true });
    }
  });

  test("a file that is gone is damage too, and never an empty store", async () => {
    for (const name of (await readdir(store)).filter((n) => lives.test(n))) {
      const path = join(root, "gone");
      await cp(store, path, { recursive: true });
      await rm(join(path, name));
      await expect(openLevelStore({ path, ...faultSchema }), name).rejects.toMatchObject({ code: "store_damaged" });
      await rm(path, { recursive: true });
    }
  });

  test("a journal cut anywhere, as kill -9 leaves it, opens with every commit before the cut whole", async () => {
    const [name = ""] = (await readdir(store)).filter((n) => n.endsWith(".log"));
    const { length } = await readFile(join(store, name));
    for (let cut = 0; cut < length; cut += 797) {
      const path = join(root, "cut");
      await cp(store, path, { recursive: true });
      await truncate(join(path, name), cut);
      expect(await damageOf(path), `cut at ${cut}`).toEqual([]);
      if (cut % 5 === 0) {
        const opened = await openLevelStore({ path, ...faultSchema });
        const found = [...(await wholeCommits(opened))];
        expect(found).toEqual(Array.from({ length: found.length }, (_, at) => at + 1));
        await opened.close();
      }
      await rm(path, { recursive: true });
    }
  });

  test("what a running store has on its disk is inspected too", async () => {
    const path = join(root, "live");
    await cp(store, path, { recursive: true });
    const opened = await openLevelStore({ path, ...faultSchema });
    expect(await opened.inspect?.()).toEqual([]);
    const [name = ""] = (await readdir(path)).filter((n) => n.endsWith(".ldb"));
    const bytes = await readFile(join(path, name));
    (bytes[10] as number) ^= 1;
    await writeFile(join(path, name), bytes);
    expect(await opened.inspect?.()).toEqual([expect.stringContaining(name)]);
    await opened.close();
  });
});
