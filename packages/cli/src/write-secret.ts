import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CodedError } from "@seneschal/core";
import type { Host } from "./host.ts";

/** Writes a new file that its owner alone can read; never over one that is there (`file_exists`). */
export async function writeSecret(host: Host, path: string, text: string): Promise<string> {
  const full = resolve(host.cwd, path);
  try {
    await writeFile(full, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as { code?: unknown }).code === "EEXIST") throw new CodedError("file_exists", `${path} exists already`);
    throw new CodedError("file_unwritable", `${path} cannot be written`, {}, error);
  }
  return full;
}
