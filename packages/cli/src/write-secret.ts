import { resolve } from "node:path";
import { CodedError } from "@seneschal/kernel";
import { createFile, syncDirectoryOf } from "./durable-file.ts";
import type { Host } from "./host.ts";

/** Writes a new file that its owner alone can read, through to the disk: what it holds is nowhere else. Never over one that is there (`file_exists`). */
export async function writeSecret(host: Host, path: string, content: string | Uint8Array): Promise<string> {
  const full = resolve(host.cwd, path);
  try {
    await createFile(full, typeof content === "string" ? Buffer.from(content) : content, 0o600);
    await syncDirectoryOf(full);
  } catch (error) {
    if ((error as { code?: unknown }).code === "EEXIST") throw new CodedError("file_exists", `${path} exists already`);
    throw new CodedError("file_unwritable", `${path} cannot be written`, {}, error);
  }
  return full;
}
