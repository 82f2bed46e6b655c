import { constants, readdirSync, statSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, truncate, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type ExtentLog, openExtentLog } from "../../src/devices/extent-log.ts";
import { writeAt } from "../../src/devices/files.ts";
import { frameHeader, frameSize, isFrame } from "../../src/devices/frame.ts";
import type { SegmentDisk } from "../../src/devices/segment-disk.ts";

const full = () => Object.assign(new Error("no space left on device"), { code: "ENOSPC" });

/** A directory on a file system of so many bytes, of which others may take some. */
async function smallDisk(bytes: number) {
  const directory = await mkdtemp(join(tmpdir(), "seneschal-budget-"));
  const taken = () => readdirSync(directory).reduce((n, file) => n + statSync(join(directory, file)).size, 0);
  const budget = { bytes };
  const disk: SegmentDisk = {
    id: "small",
    free: async () => Math.max(0, budget.bytes - taken()),
    async claim(wanted, kept) {
      if (budget.bytes - taken() - wanted < kept) throw full();
      return () => undefined;
    },
    async write(path, flags, pieces, position) {
      const all = Buffer.concat(pieces);
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      const grows = Math.max(0, position + all.length - size);
      const short = Math.max(0, taken() + grows - budget.bytes);
      await writeAt(path, flags, [all.subarray(0, Math.max(0, all.length - short))], position);
      if (short > 0) throw full();
    },
    truncate,
    remove: unlink,
  };
  return { directory, disk, budget, taken, dispose: () => rm(directory, { recursive: true }) };
}

const payloadOf = (name: string, length: number) => Buffer.alloc(length, name);
const put = (log: ExtentLog, name: string, length: number) => {
  const payload = payloadOf(name, length);
  return log.append(name, [frameHeader(name, payload), payload]);
};
const whole = async (log: ExtentLog, name: string, length: number) => {
  const found = await log.read(name);
  return found !== undefined && isFrame(name, found.header, found.payload) && payloadOf(name, length).equals(found.payload);
};
const overhead = 64 << 10;

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("put" as const), length: fc.integer({ min: 1, max: 60_000 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete" as const), which: fc.nat(1000) }) },
  { weight: 1, arbitrary: fc.constant({ kind: "compact" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "reopen" as const }) },
);

test("whatever was written to a full file system and deleted, its room is there for the next write, and nothing else is lost", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: 60 }),
      fc.constantFrom(256 << 10, 64 << 20),
      fc.integer({ min: 200_000, max: 700_000 }),
      async (steps, limit, bytes) => {
        const { directory, disk, taken, dispose } = await smallDisk(bytes);
        try {
          let log = await openExtentLog(directory, limit, disk);
          const live = new Map<string, number>();
          let largest = 0;
          for (const [i, done] of steps.entries()) {
            if (done.kind === "put") {
              const held = [...live].reduce((n, [name, length]) => n + frameSize(name, length), 0);
              const size = frameSize(`e${i}`, done.length);
              const taken = await put(log, `e${i}`, done.length).then(
                () => true,
                (error: { code: string }) => expect(error.code).toBe("ENOSPC") === null,
              );
              if (taken) {
                live.set(`e${i}`, done.length);
                largest = Math.max(largest, size);
              }
              // What fits beside what is live is taken.
              const kept = Math.max(largest, size) + overhead;
              if (held + size + kept <= Math.min(bytes, limit)) expect(taken, `put ${i}`).toBe(true);
            } else if (done.kind === "delete") {
              const name = [...live.keys()][done.which % Math.max(1, live.size)];
              if (name === undefined) continue;
              await log.delete(name);
              live.delete(name);
            } else if (done.kind === "compact") {
              await log.compact();
              expect(taken()).toBeLessThanOrEqual(2 * log.liveBytes);
            } else {
              await log.close();
              log = await openExtentLog(directory, limit, disk);
            }
          }
          for (let again = 0; again < 2; again++) {
            expect(log.names().sort()).toEqual([...live.keys()].sort());
            for (const [name, length] of live) expect(await whole(log, name, length), name).toBe(true);
            await log.close();
            for (const file of await readdir(directory))
              expect((await stat(join(directory, file))).size, file).toBeGreaterThan(0);
            log = await openExtentLog(directory, limit, disk);
          }
          await log.close();
        } finally {
          await dispose();
        }
      },
    ),
    { numRuns: 30 },
  );
});

test("where others took the rest of the file system, dead segments and dead ends of segments are given back first", async () => {
  const { directory, disk, budget, taken, dispose } = await smallDisk(4 << 20);
  const log = await openExtentLog(directory, 1 << 20, disk);
  for (let i = 0; i < 20; i++) await put(log, `e${i}`, 30_000);
  budget.bytes = taken();
  await expect(put(log, "refused", 30_000)).rejects.toMatchObject({ code: "ENOSPC" });
  expect(taken()).toBe(budget.bytes);
  // Of every segment the last frame; the first segments have something live in front of it.
  for (let i = 0; i < 20; i++) if (i % 3 !== 0) await log.delete(`e${i}`);
  await log.compact();
  expect(taken()).toBeLessThanOrEqual(2 * log.liveBytes);
  await put(log, "taken", 30_000);
  for (let i = 0; i < 20; i += 3) expect(await whole(log, `e${i}`, 30_000)).toBe(true);
  expect(await whole(log, "taken", 30_000)).toBe(true);
  await log.close();
  await dispose();
});

test("what cannot be given back is told, and is given back once it can be", async () => {
  const { directory, disk, budget, taken, dispose } = await smallDisk(4 << 20);
  const log = await openExtentLog(directory, 64 << 20, disk);
  await put(log, "front", 30_000);
  await put(log, "end", 20_000);
  budget.bytes = taken();
  await log.delete("front");
  await expect(log.compact()).rejects.toMatchObject({ code: "ENOSPC" });
  expect(await readdir(directory)).toHaveLength(1);
  expect(await whole(log, "end", 20_000)).toBe(true);
  budget.bytes += 30_000;
  await log.compact();
  expect(taken()).toBe(log.liveBytes);
  await log.close();
  await dispose();
});

test("an extent that was moved and then deleted stays deleted, also where a crash kept its old segment", async () => {
  const { directory, disk, dispose } = await smallDisk(4 << 20);
  const log = await openExtentLog(directory, 64 << 20, disk);
  await put(log, "gone", 30_000);
  await put(log, "moved", 10);
  const [old = ""] = await readdir(directory);
  const before = await readFile(join(directory, old));
  await log.delete("gone");
  before.write("SNXD", 0, "latin1");
  await log.compact();
  await log.close();
  expect(await readdir(directory)).not.toContain(old);
  await writeAt(join(directory, old), constants.O_WRONLY | constants.O_CREAT, [before], 0);
  const crashed = await openExtentLog(directory, 64 << 20, disk);
  expect(crashed.names()).toEqual(["moved"]);
  await crashed.delete("moved");
  await crashed.close();
  const again = await openExtentLog(directory, 64 << 20, disk);
  expect(again.names()).toEqual([]);
  await again.close();
  await dispose();
});
