import { open } from "node:fs/promises";
import type { StoredExtent } from "@seneschal/adapters/devices";

/** Flips one bit of what a device keeps of an extent, behind its back; `bit` counts modulo the stored bits. */
export async function flipExtent({ path, at, size }: StoredExtent, bit = size * 4): Promise<void> {
  const file = await open(path, "r+");
  try {
    const position = at + ((bit >> 3) % size);
    const byte = Buffer.alloc(1);
    await file.read(byte, 0, 1, position);
    byte[0]! ^= 1 << (bit & 7);
    await file.write(byte, 0, 1, position);
  } finally {
    await file.close();
  }
}

/** Takes an extent away, behind the device's back: its frame is marked as deleted. */
export async function removeExtent({ path, at }: StoredExtent): Promise<void> {
  await overwrite(path, Buffer.from("SNXD"), at);
}

/** Leaves only the first bytes of what a device keeps of an extent, as a write that lost its power would. */
export async function tearExtent({ path, at, size }: StoredExtent, kept: number): Promise<void> {
  await overwrite(path, Buffer.alloc(Math.max(0, size - kept)), at + kept);
}

async function overwrite(path: string, bytes: Uint8Array, position: number): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.write(bytes, 0, bytes.length, position);
  } finally {
    await file.close();
  }
}
