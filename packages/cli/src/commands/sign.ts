import { resolve } from "node:path";
import { systemRandom } from "@seneschal/adapters/system";
import { CodedError } from "@seneschal/core";
import { base64, fromBase64 } from "@seneschal/crypto";
import { type CrkPublicJson, crkFromJson, signWithShares } from "@seneschal/crypto/threshold";
import { readText } from "../read-config.ts";
import type { AddCommand } from "./add-command.ts";

/** `seneschal sign`: a root key's signature from share files, offline. The key is never assembled. */
export const addSign: AddCommand = (program, { host, result }) => {
  program
    .command("sign")
    .description("sign bytes with a threshold of share files, offline")
    .requiredOption("--crk <file>", "public half of the key: JSON of a signing session's crk")
    .requiredOption("--share <files...>", "share files")
    .requiredOption("--message <base64>", "the exact bytes; - reads them from standard input")
    .action(async (options: { crk: string; share: string[]; message: string }) => {
      const text = options.message === "-" ? (await host.stdin()).trim() : options.message;
      const message = bytesOf("--message", text);
      const crk = crkFromJson(jsonOf(options.crk, await readText(resolve(host.cwd, options.crk), options.crk)));
      const shares = [];
      for (const file of options.share) shares.push(shareOf(file, await readText(resolve(host.cwd, file), file)));
      const signature = base64(signWithShares(crk, shares, message, systemRandom));
      result({ signature, public_key: base64(crk.publicKey) }, signature);
    });
};

/** A share file: `{ "index", "data" }`. Throws `file_invalid` naming the file. */
export function shareOf(name: string, text: string): { readonly index: number; readonly data: string } {
  const value = jsonOf<{ index?: unknown; data?: unknown }>(name, text);
  if (typeof value.index !== "number" || typeof value.data !== "string") {
    throw new CodedError("file_invalid", `${name} is no share: expected {"index", "data"}`);
  }
  return { index: value.index, data: value.data };
}

function jsonOf<T = CrkPublicJson>(name: string, text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new CodedError("file_invalid", `${name} is not JSON`, {}, error);
  }
}

function bytesOf(name: string, text: string): Uint8Array {
  try {
    return fromBase64(text);
  } catch (error) {
    throw new CodedError("usage", `${name} is not base64`, {}, error);
  }
}
