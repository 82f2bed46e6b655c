import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import type { Random } from "@seneschal/kernel/ports";

/** Makes `unseal.key` (32 random bytes in base64, readable by its owner only) unless it is there. Returns its path and whether it is new. */
export async function makeUnsealKey(dataDir: string, random: Random): Promise<{ readonly path: string; readonly made: boolean }> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, "unseal.key");
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
