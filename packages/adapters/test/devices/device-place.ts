import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type StoredExtent, storedExtents } from "@seneschal/adapters/devices";
import type { BlobDevice } from "@seneschal/kernel/ports";

/** Flips one bit of a file; `bit` counts from byte `at`. */
export async function flip(path: string, at: number, bit: number): Promise<void> {
  const file = await open(path, "r+");
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, at + (bit >> 3));
  byte[0]! ^= 1 << (bit & 7);
  await file.write(byte, 0, 1, at + (bit >> 3));
  await file.close();
}

/** A directory of its own below `root`, the device that `opened` makes of it, and the harm that may be done to it. */
export async function devicePlace(opened: (directory: string, root: string) => Promise<BlobDevice>) {
  const root = await mkdtemp(join(tmpdir(), "seneschal-device-"));
  const directory = join(root, "d1");
  const reopen = () => opened(directory, root);
  const places = new Map<string, StoredExtent>();
  return {
    directory,
    device: await reopen(),
    async damage(extent: string, bit: number) {
      // Looked up while it is intact.
      const found = places.get(extent) ?? (await storedExtents(directory)).find(({ name }) => name === extent);
      if (found === undefined) throw new Error(`no extent ${extent}`);
      places.set(extent, found);
      await flip(found.path, found.at, bit % (found.size * 8));
    },
    reopen,
    dispose: () => rm(root, { recursive: true, force: true }),
  };
}
