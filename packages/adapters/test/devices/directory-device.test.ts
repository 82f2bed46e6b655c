import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDirectoryDevice } from "@seneschal/adapters/devices";
import { blobDeviceSuite } from "@seneschal/core/testing";
import { expect, test } from "vitest";

async function flip(path: string, bit: number): Promise<void> {
  const bytes = await readFile(path);
  const at = bit % (bytes.length * 8);
  bytes[at >> 3]! ^= 1 << (at & 7);
  await writeFile(path, bytes);
}

async function place(capacityBytes: number) {
  const directory = await mkdtemp(join(tmpdir(), "seneschal-device-"));
  const open = () => openDirectoryDevice({ id: "d1", directory, capacityBytes });
  return {
    directory,
    device: await open(),
    damage: (extent: string, bit: number) => flip(join(directory, "extents", extent), bit),
    reopen: open,
    dispose: () => rm(directory, { recursive: true, force: true }),
  };
}

blobDeviceSuite({ test, equal: (a, b, message) => expect(a, message).toEqual(b) }, place);

test("every flipped bit of the superblock is found by inspect and mended", async () => {
  const { directory, device, dispose } = await place(1 << 20);
  const path = join(directory, "superblock");
  const bits = (await readFile(path)).length * 8;
  for (let bit = 0; bit < bits; bit++) {
    await flip(path, bit);
    expect(await device.inspect()).toEqual(["superblock damaged, written again"]);
  }
  expect(await device.inspect()).toEqual([]);
  await dispose();
});

test("an extent that ends about where the first read ends comes back whole", async () => {
  const { device, dispose } = await place(1 << 22);
  for (let stored = 65_534; stored <= 65_538; stored++) {
    const bytes = Uint8Array.from({ length: stored - "x65534".length - 14 }, (_, i) => i % 251);
    await device.write(`x${stored}`, bytes);
    expect(Buffer.compare((await device.read(`x${stored}`)) ?? Buffer.alloc(0), bytes)).toBe(0);
  }
  await dispose();
});

test("a torn write leaves nothing after a restart", async () => {
  const { directory, reopen, dispose } = await place(1 << 20);
  await writeFile(join(directory, "tmp", "7"), "half an extent");
  const device = await reopen();
  expect((await device.usage()).usedBytes).toBe(0);
  expect(await readdir(join(directory, "tmp"))).toEqual([]);
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
