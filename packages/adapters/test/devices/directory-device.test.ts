import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, readlink, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDirectoryDevice, storedExtents } from "@seneschal/adapters/devices";
import type { BlobDevice } from "@seneschal/kernel/ports";
import { blobDeviceSuite } from "@seneschal/kernel/testing";
import { expect, test } from "vitest";
import { devicePlace, flip } from "./device-place.ts";

const place = (capacityBytes: number) => devicePlace((directory) => openDirectoryDevice({ id: "d1", directory, capacityBytes }));

blobDeviceSuite({ test, equal: (a, b, message) => expect(a, message).toEqual(b) }, place);

test("every flipped bit of the superblock is found by inspect and mended", async () => {
  const { directory, device, dispose } = await place(1 << 20);
  const path = join(directory, "superblock");
  const bits = (await readFile(path)).length * 8;
  for (let bit = 0; bit < bits; bit++) {
    await flip(path, 0, bit);
    expect(await device.inspect()).toEqual(["superblock damaged, written again"]);
  }
  expect(await device.inspect()).toEqual([]);
  await dispose();
});

const bytes = (length: number, seed = 0) => Uint8Array.from({ length }, (_, i) => (i * 31 + seed * 7) & 255);
const segmentsOf = async (directory: string) => (await readdir(join(directory, "segments"))).sort();
const namesOf = async (device: BlobDevice) => {
  const names: string[] = [];
  for await (const name of device.list()) names.push(name);
  return names.sort();
};

test("writers of the same moment share one segment, and each has its own bytes", async () => {
  const { directory, device, reopen, dispose } = await place(1 << 22);
  await Promise.all(Array.from({ length: 1100 }, (_, i) => device.write(`e${i}`, bytes(i % 97, i))));
  expect(await segmentsOf(directory)).toHaveLength(1);
  const again = await reopen();
  for (let i = 0; i < 1100; i++) expect(Buffer.compare((await again.read(`e${i}`)) as Uint8Array, bytes(i % 97, i))).toBe(0);
  await dispose();
});

test("a group torn at any byte by a crash: what came before reads back, each of the group is whole or absent, writing goes on", async () => {
  const { directory, device, reopen, dispose } = await place(1 << 20);
  await device.write("before", bytes(40));
  await Promise.all(["a", "b", "c"].map((name, i) => device.write(name, bytes(12, i + 1))));
  const segments = join(directory, "segments");
  const [segment = ""] = await segmentsOf(directory);
  const whole = await readFile(join(segments, segment));
  const first = (await storedExtents(directory)).find(({ name }) => name === "a");
  for (const tail of ["cut", "zeros"])
    for (let kept = first?.at ?? 0; kept <= whole.length; kept += tail === "cut" ? 1 : 5) {
      const rest = tail === "cut" ? Buffer.alloc(0) : Buffer.alloc(whole.length - kept);
      for (const file of await segmentsOf(directory)) await rm(join(segments, file));
      await writeFile(join(segments, segment), Buffer.concat([whole.subarray(0, kept), rest]));
      const opened = await reopen();
      expect(await opened.read("before")).toEqual(bytes(40));
      for (const [i, name] of ["a", "b", "c"].entries()) {
        const found = await opened.read(name);
        expect(found ?? bytes(12, i + 1), `${tail} at ${kept}`).toEqual(bytes(12, i + 1));
        expect(await opened.has(name)).toBe(found !== undefined);
      }
      // Another crash, after a write into the next segment, brings nothing back.
      const left = await namesOf(opened);
      await opened.write("after", bytes(50));
      await opened.close();
      const again = await reopen();
      expect(await namesOf(again)).toEqual([...left, "after"].sort());
      for (const name of left) expect(await again.read(name)).toBeDefined();
      expect(await again.read("after")).toEqual(bytes(50));
    }
  await dispose();
});

test("any flipped bit of a segment costs one extent at most, whatever is opened after it", async () => {
  const { directory, device, reopen, dispose } = await place(1 << 20);
  const names = ["a", "b", "c", "d"];
  for (const [i, name] of names.entries()) await device.write(name, bytes(12, i));
  await device.delete("b");
  const path = join(directory, "segments", (await segmentsOf(directory))[0] as string);
  const intact = await readFile(path);
  for (let bit = 0; bit < intact.length * 8; bit++) {
    const flipped = Buffer.from(intact);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    await writeFile(path, flipped);
    const opened = await reopen();
    let lost = 0;
    for (const [i, name] of names.entries()) {
      const found = await opened.read(name).catch((error: { code: string }) => {
        expect(error.code).toBe("extent_corrupt");
      });
      if (found !== undefined) expect(found).toEqual(bytes(12, i));
      else if (name !== "b") lost += 1;
    }
    expect(lost, `bit ${bit}`).toBeLessThanOrEqual(1);
  }
  await dispose();
});

test("what is deleted stays deleted after a crash", async () => {
  const { device, reopen, dispose } = await place(1 << 20);
  await Promise.all(["a", "b", "c"].map((name) => device.write(name, bytes(100))));
  await device.delete("b");
  expect(await namesOf(await reopen())).toEqual(["a", "c"]);
  await dispose();
});

test("deleted bytes are given back to the disk: the directory holds its capacity and one segment at most", async () => {
  const capacity = 320 << 10;
  const { directory, device, reopen, dispose } = await place(capacity);
  const onDisk = async () => {
    const sizes = await Promise.all((await segmentsOf(directory)).map((f) => stat(join(directory, "segments", f))));
    return sizes.reduce((n, { size }) => n + size, 0);
  };
  const kept: number[] = [];
  for (let i = 0; i < 500; i++) {
    await device.write(`e${i}`, bytes(3000, i));
    kept.push(i);
    // Every fourth extent lives long, so that segments are never empty by themselves.
    const old = kept.find((at) => at % 4 !== 0 && at < i - 20) ?? (kept.length > 90 ? kept[0] : undefined);
    if (old !== undefined) {
      kept.splice(kept.indexOf(old), 1);
      await device.delete(`e${old}`);
    }
    expect(await onDisk()).toBeLessThanOrEqual(capacity + (64 << 10) + 3100);
  }
  await device.close();
  for (const opened of [device, await reopen()]) {
    expect(await namesOf(opened)).toEqual(kept.map((i) => `e${i}`).sort());
    for (const i of kept) expect(Buffer.compare((await opened.read(`e${i}`)) as Uint8Array, bytes(3000, i))).toBe(0);
  }
  await dispose();
});

test("a crash before a rewritten segment is removed leaves every extent once, with its bytes", async () => {
  const { directory, device, reopen, dispose } = await place(1 << 20);
  const segments = join(directory, "segments");
  for (let i = 0; i < 20; i++) await device.write(`e${i}`, bytes(4000, i));
  const [old = ""] = await segmentsOf(directory);
  const before = await readFile(join(segments, old));
  for (let i = 0; i < 20; i++) if (i % 4 !== 0) await device.delete(`e${i}`);
  await device.write("last", bytes(10));
  await device.close();
  expect(await segmentsOf(directory)).not.toContain(old);
  // The frames that were deleted are marked so in the old segment too.
  for (const [i, { at }] of (await scanOf(before)).entries()) if (i % 4 !== 0) before.write("SNXD", at, "latin1");
  await writeFile(join(segments, old), before);
  const again = await reopen();
  const names = ["last", ...[0, 4, 8, 12, 16].map((i) => `e${i}`)].sort();
  expect(await namesOf(again)).toEqual(names);
  expect((await again.usage()).usedBytes).toBe((await device.usage()).usedBytes);
  for (const i of [0, 4, 8, 12, 16]) expect(Buffer.compare((await again.read(`e${i}`)) as Uint8Array, bytes(4000, i))).toBe(0);
  await dispose();

  async function scanOf(segment: Buffer) {
    const copy = await place(1 << 20);
    await writeFile(join(copy.directory, "segments", old), segment);
    const found = [...(await storedExtents(copy.directory))].sort((a, b) => a.at - b.at);
    await copy.dispose();
    return found;
  }
});

test("an extent that is read while its segment is written again comes back whole", async () => {
  const { device, dispose } = await place(1 << 20);
  for (let i = 0; i < 60; i++) await device.write(`e${i}`, bytes(4000, i));
  const readers = Array.from({ length: 4 }, async () => {
    for (let round = 0; round < 30; round++)
      for (let i = 0; i < 60; i += 5) expect(Buffer.compare((await device.read(`e${i}`)) as Uint8Array, bytes(4000, i))).toBe(0);
  });
  for (let i = 0; i < 60; i++) if (i % 5 !== 0) await device.delete(`e${i}`);
  for (let i = 60; i < 120; i++) {
    await device.write(`e${i}`, bytes(4000, i));
    await device.delete(`e${i}`);
  }
  await Promise.all(readers);
  await dispose();
});

test("after a write that failed the device goes on behind it, and what failed is not there", async () => {
  const { directory, device, reopen, dispose } = await place(1 << 20);
  await device.write("a", bytes(10));
  await rename(join(directory, "segments"), join(directory, "away"));
  await expect(device.write("b", bytes(10))).rejects.toMatchObject({ code: "device_unavailable" });
  await rename(join(directory, "away"), join(directory, "segments"));
  await device.write("c", bytes(10));
  for (const opened of [device, await reopen()]) expect(await namesOf(opened)).toEqual(["a", "c"]);
  await dispose();
});

test("a segment that somebody else put there is neither written nor cut", async () => {
  const { directory, device, dispose } = await place(1 << 20);
  const foreign = join(directory, "segments", "0000000001.seg");
  await writeFile(foreign, "not of this device");
  await expect(device.write("a", bytes(10))).rejects.toMatchObject({ code: "device_unavailable" });
  await device.write("a", bytes(10));
  expect(await readFile(foreign, "utf8")).toBe("not of this device");
  await dispose();
});

test("a directory of an earlier layout is refused", async () => {
  const { directory, reopen, dispose } = await place(1 << 20);
  const line = JSON.stringify({ format: "seneschal-device/1", id: "d1", capacity_bytes: 1 << 20 });
  await writeFile(join(directory, "superblock"), `${line}\n${createHash("sha256").update(line).digest("hex")}\n`);
  await expect(reopen()).rejects.toMatchObject({ code: "device_mismatch" });
  await dispose();
});

test("a directory of another device is refused", async () => {
  const { directory, dispose } = await place(1 << 20);
  await expect(openDirectoryDevice({ id: "d2", directory, capacityBytes: 1 << 20 })).rejects.toMatchObject({
    code: "device_mismatch",
  });
  await dispose();
});

test("a device whose directory is gone does not answer: reads are errors, not absences", async () => {
  const { directory, device } = await place(1 << 20);
  await device.write("a", new Uint8Array(1));
  await rm(directory, { recursive: true });
  for (const call of [
    () => device.read("a"),
    () => device.has("a"),
    () => device.write("b", new Uint8Array(1)),
    () => device.usage(),
  ])
    await expect(call()).rejects.toMatchObject({ code: "device_unavailable" });
});

test.runIf(process.platform === "linux")(
  "however many segments are read at once, few stay open, and none once the device is closed",
  async () => {
    const directory = await realpath(await mkdtemp(join(tmpdir(), "seneschal-open-files-")));
    const device = await openDirectoryDevice({ id: "d", directory, capacityBytes: 4 << 20 });
    const bytes = new Uint8Array(100_000).fill(7);
    for (let i = 0; i < 40; i++) await device.write(`e${i}`, bytes);
    const open = async (): Promise<number> => {
      const files = await readdir("/proc/self/fd");
      const paths = await Promise.all(files.map((file) => readlink(`/proc/self/fd/${file}`).catch(() => "")));
      return paths.filter((path) => path.startsWith(directory)).length;
    };
    for (let round = 0; round < 3; round++) {
      const read = await Promise.all(Array.from({ length: 40 }, (_, i) => device.read(`e${i}`)));
      expect(read.every((found) => Buffer.compare(found ?? Buffer.alloc(0), bytes) === 0)).toBe(true);
    }
    await expect.poll(open).toBeLessThanOrEqual(16);
    await device.close();
    await expect.poll(open).toBe(0);
    await rm(directory, { recursive: true });
  },
);
