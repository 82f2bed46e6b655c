import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CodedError, textDecoder } from "@seneschal/kernel";
import type { Host } from "./host.ts";

/** The bytes of a file named on the command line. Throws `file_unreadable` naming it. */
export async function readBytes(host: Host, name: string): Promise<Buffer> {
  return (await readIfThere(host, name)) ?? unreadable(name);
}

/** As {@link readBytes}; undefined where no file of that name is. */
export async function readIfThere(host: Host, name: string): Promise<Buffer | undefined> {
  try {
    return await readFile(resolve(host.cwd, name));
  } catch (error) {
    return (error as { code?: unknown }).code === "ENOENT" ? undefined : unreadable(name, error);
  }
}

/** As {@link readBytes}, as UTF-8; a byte order mark stays. Throws `file_invalid` naming the file for another encoding. */
export async function readText(host: Host, name: string): Promise<string> {
  const decode = textDecoder(name);
  return decode(await readBytes(host, name));
}

/** What a file of JSON says. Throws `file_unreadable`, and `file_invalid` for one that is not JSON. */
export async function readJson(host: Host, name: string, read: (text: string) => unknown = JSON.parse): Promise<unknown> {
  const text = await readText(host, name);
  try {
    return read(text);
  } catch (error) {
    throw new CodedError("file_invalid", `${name} is not JSON`, {}, error);
  }
}

function unreadable(name: string, cause?: unknown): never {
  throw new CodedError("file_unreadable", `${name} cannot be read`, {}, cause);
}
