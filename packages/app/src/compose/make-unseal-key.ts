import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import type { Random } from "@seneschal/kernel/ports";

/** Makes a key file (32 random bytes in base64, readable by its owner only), through to the disk, unless it is there. Returns whether it is new. */
export async function makeUnsealKey(path: string, random: Random): Promise<{ readonly path: string; readonly made: boolean }> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(`${Buffer.from(random(32)).toString("base64")}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    return { path, made: true };
  } catch (error) {
    if ((error as { code?: unknown }).code === "EEXIST") return { path, made: false };
    throw error;
  }
}
