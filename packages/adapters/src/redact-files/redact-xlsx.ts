import {
  checkRedactionOptions,
  type RedactionKeys,
  type RedactionOptions,
  redactWorkbook,
  restoreWorkbook,
  type TierPolicy,
} from "@seneschal/governance";
import { checkArgument, checkOptions } from "@seneschal/kernel";
import { missingBackEnd } from "../back-end.ts";
import { unpackXlsx, type XlsxLimits } from "../classify-files/xlsx-parts.ts";
import type { RedactedFile, RestoredFile } from "./redacted-file.ts";

/**
 * Redacts an Excel workbook (`.xlsx`): every text of every part ({@link redactWorkbook}). What cannot be read is not harmless: macros, embedded objects, pictures and other parts that are no XML are refused by name, and so are encrypted
 * workbooks. Nothing is unpacked before its claimed size is looked at. Only what was read is written. Needs the package fflate.
 *
 * Throws `file_invalid` naming the part, `back_end_missing`, and what {@link redactWorkbook} throws.
 */
export async function redactXlsx(file: Uint8Array, options: RedactionOptions, limits: XlsxLimits = {}): Promise<RedactedFile> {
  checkRedactionOptions(options);
  checkArgument("file", file, "bytes");
  checkOptions("limits", limits, { unpacked: "number?", texts: "number?" });
  const { parts, counts } = redactWorkbook(await unpackXlsx(file, limits), options, limits.texts);
  return { bytes: await packed(parts), counts };
}

/** A workbook with the values back, as texts, that `tokenise` and `encrypt` of this key took. Throws as {@link redactXlsx}. */
export async function restoreXlsx(
  file: Uint8Array,
  policy: TierPolicy,
  keys: RedactionKeys,
  limits: XlsxLimits = {},
): Promise<RestoredFile> {
  checkArgument("file", file, "bytes");
  checkOptions("limits", limits, { unpacked: "number?", texts: "number?" });
  checkArgument("policy", policy, "object");
  checkArgument("keys", keys, "object");
  const { parts, ...counts } = restoreWorkbook(await unpackXlsx(file, limits), policy, keys);
  return { bytes: await packed(parts), ...counts };
}

async function packed(parts: ReadonlyMap<string, string>): Promise<Uint8Array> {
  const { strToU8, zipSync } = await import("fflate").catch(missingBackEnd);
  // The time of a run is nothing that the file should tell.
  return zipSync(Object.fromEntries([...parts].map(([name, text]) => [name, strToU8(text)])), { mtime: "1980-01-01T00:00:00" });
}
