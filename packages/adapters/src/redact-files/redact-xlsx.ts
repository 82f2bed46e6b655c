import {
  checkRedactionOptions,
  type RedactionKeys,
  type RedactionOptions,
  redactWorkbook,
  restoreWorkbook,
  type TierPolicy,
} from "@seneschal/governance";
import { CodedError, checkArgument, utf8Decode } from "@seneschal/kernel";
import { missingBackEnd } from "../back-end.ts";
import type { RedactedFile, RestoredFile } from "./redacted-file.ts";

const MOST_PARTS = 10_000;
/** Bytes of a part, and of all parts, once they are unpacked. */
const MOST_OF_PART = 64 << 20;
const MOST = 256 << 20;
/** The names of parts that hold text, all of which is redacted. */
const TEXT = /\.(?:xml|rels|vml)$/i;

/**
 * Redacts an Excel workbook (`.xlsx`): every text of every part ({@link redactWorkbook}). What cannot be read is not harmless: macros, embedded objects, pictures and other parts that are no XML are refused by name, and so are encrypted
 * workbooks. Nothing is unpacked before its claimed size is looked at. Only what was read is written. Needs the package fflate.
 *
 * Throws `file_invalid` naming the part, `back_end_missing`, and what {@link redactWorkbook} throws.
 */
export async function redactXlsx(file: Uint8Array, options: RedactionOptions): Promise<RedactedFile> {
  checkRedactionOptions(options);
  checkArgument("file", file, "bytes");
  const { parts, counts } = redactWorkbook(await unpacked(file), options);
  return { bytes: await packed(parts), counts };
}

/** A workbook with the values back, as texts, that `tokenise` and `encrypt` of this key took. Throws as {@link redactXlsx}. */
export async function restoreXlsx(file: Uint8Array, policy: TierPolicy, keys: RedactionKeys): Promise<RestoredFile> {
  checkArgument("file", file, "bytes");
  checkArgument("policy", policy, "object");
  checkArgument("keys", keys, "object");
  const { parts, count } = restoreWorkbook(await unpacked(file), policy, keys);
  return { bytes: await packed(parts), count };
}

async function unpacked(file: Uint8Array): Promise<ReadonlyMap<string, string>> {
  const { unzipSync } = await import("fflate").catch(missingBackEnd);
  const names = new Set<string>();
  let total = 0;
  const refuse = (message: string): never => {
    throw new CodedError("file_invalid", message);
  };
  let entries: Record<string, Uint8Array> = {};
  try {
    entries = unzipSync(file, {
      filter({ name, originalSize }) {
        if (names.has(name.toLowerCase())) refuse(`${name}: is there twice`);
        names.add(name.toLowerCase());
        total += originalSize;
        if (names.size > MOST_PARTS) refuse(`more than ${MOST_PARTS} parts`);
        if (originalSize > MOST_OF_PART || total > MOST) refuse(`${name}: is larger than it may be`);
        if (!name.endsWith("/") && !TEXT.test(name))
          refuse(`${name}: cannot be read, so it may hold anything: take it out first`);
        return !name.endsWith("/");
      },
    });
  } catch (cause) {
    if (cause instanceof CodedError) throw cause;
    throw new CodedError(
      "file_invalid",
      "not a workbook that can be read: it is no ZIP archive, is damaged or encrypted",
      {},
      cause,
    );
  }
  if (!names.has("[content_types].xml") || !names.has("xl/workbook.xml")) refuse("not a workbook: xl/workbook.xml is missing");
  const parts = new Map<string, string>();
  for (const [name, bytes] of Object.entries(entries)) {
    try {
      parts.set(name, utf8Decode(bytes));
    } catch (cause) {
      throw new CodedError("file_invalid", `${name}: is not in UTF-8`, { part: name }, cause);
    }
  }
  return parts;
}

async function packed(parts: ReadonlyMap<string, string>): Promise<Uint8Array> {
  const { strToU8, zipSync } = await import("fflate").catch(missingBackEnd);
  // The time of a run is nothing that the file should tell.
  return zipSync(Object.fromEntries([...parts].map(([name, text]) => [name, strToU8(text)])), { mtime: "1980-01-01T00:00:00" });
}
