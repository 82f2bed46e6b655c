import { systemRandom } from "@seneschal/adapters/system";
import { base64, fromBase64 } from "@seneschal/crypto";
import { type CrkPublicJson, crkFromJson, signWithShares } from "@seneschal/crypto/threshold";
import { CodedError, type JsonObject } from "@seneschal/kernel";
import { shownBeforeSigned } from "../custody/shown-before-signed.ts";
import type { Host } from "../host.ts";
import { readJson } from "../read-file.ts";
import type { AddCommand } from "./add-command.ts";

/** `seneschal sign`: a root key's signature from share files, offline. The key is never assembled. */
export const addSign: AddCommand = (program, { host, result }) => {
  program
    .command("sign")
    .description("sign bytes with a threshold of share files, offline")
    .requiredOption("--crk <file>", "public half of the key: JSON of a signing session's crk")
    .requiredOption("--share <files...>", "share files")
    .requiredOption("--message <base64>", "the exact bytes; - reads them from standard input")
    .option("--body <file>", "what the operation's body_sha256 is of, so that its fields are shown")
    .action(async (options: { crk: string; share: string[]; message: string; body?: string }) => {
      const text = options.message === "-" ? (await host.stdin()).trim() : options.message;
      const message = bytesOf("--message", text);
      const body = options.body === undefined ? null : ((await readJson(host, options.body)) as JsonObject);
      const { hash, signs, lines } = shownBeforeSigned(message, body);
      const crk = crkFromJson((await readJson(host, options.crk)) as CrkPublicJson);
      const shares = [];
      for (const file of options.share) shares.push(await readShare(host, file));
      const signature = base64(signWithShares(crk, shares, message, systemRandom));
      // Beside the signature, which alone goes on in a pipe.
      host.err(lines.join("\n"));
      result({ signature, public_key: base64(crk.publicKey), hash, signs }, signature);
    });
};

/** A share file: `{ "index", "data" }`. Throws `file_unreadable` and `file_invalid`, naming the file. */
export async function readShare(host: Host, name: string): Promise<{ readonly index: number; readonly data: string }> {
  const value = (await readJson(host, name)) as { readonly index?: unknown; readonly data?: unknown } | null;
  if (value === null || typeof value.index !== "number" || typeof value.data !== "string") {
    throw new CodedError("file_invalid", `${name} is no share: expected {"index", "data"}`);
  }
  return { index: value.index, data: value.data };
}

function bytesOf(name: string, text: string): Uint8Array {
  try {
    return fromBase64(text);
  } catch (error) {
    throw new CodedError("usage", `${name} is not base64`, {}, error);
  }
}
