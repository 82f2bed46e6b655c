import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CodedError } from "@seneschal/kernel";
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

/**
 * Decodes a file's pieces as UTF-8, the last without `goesOn`. Throws `file_invalid` for what is none, and for U+0000, which no text holds and other encodings do: read as UTF-8 nothing would be
 * found in them.
 */
export function textDecoder(name: string): (bytes?: Uint8Array, goesOn?: boolean) => string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return (bytes, goesOn = false) => {
    try {
      const text = decoder.decode(bytes, { stream: goesOn });
      if (!text.includes("\0")) return text;
    } catch (error) {
      throw new CodedError("file_invalid", `${name} is not text in UTF-8`, {}, error);
    }
    throw new CodedError("file_invalid", `${name} is not text in UTF-8: it holds U+0000`);
  };
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
