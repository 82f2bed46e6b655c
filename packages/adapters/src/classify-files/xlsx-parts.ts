import { CodedError, utf8Decode } from "@seneschal/kernel";
import { missingBackEnd } from "../back-end.ts";

const MOST_PARTS = 10_000;
/** Bytes of a part, and of all parts, once they are unpacked. */
const MOST_OF_PART = 64 << 20;
const MOST = 256 << 20;
/** The names of parts that hold text, all of which is redacted. */
const TEXT = /\.(?:xml|rels|vml)$/i;

/** How much of a workbook is read. */
export interface XlsxLimits {
  /** Bytes of its parts once they are unpacked. Default 256 MiB. */
  readonly unpacked?: number;
  /** Texts and attributes. */
  readonly texts?: number;
}

/** The parts of a workbook, by their names. Nothing is unpacked before its claimed size is looked at. Throws `file_invalid` naming the part. */
export async function unpackXlsx(file: Uint8Array, { unpacked: most = MOST }: XlsxLimits): Promise<ReadonlyMap<string, string>> {
  const { unzipSync } = await import("fflate").catch(missingBackEnd);
  const names = new Set<string>();
  let total = 0;
  const refuse = (reason: string): never => {
    throw new CodedError("file_invalid", reason);
  };
  const refusePart = (part: string, reason: string, cause?: unknown): never => {
    throw new CodedError("file_invalid", `${part}: ${reason}`, { field: part, reason }, cause);
  };
  let entries: Record<string, Uint8Array> = {};
  try {
    entries = unzipSync(file, {
      filter({ name, originalSize }) {
        if (names.has(name.toLowerCase())) refusePart(name, "is there twice");
        names.add(name.toLowerCase());
        // Names of parts by ECMA-376, part 2: whoever unpacks what is written again is led nowhere.
        if (/(?:^|\/)\.*(?:\/|$)|\\|^[a-z]:/i.test(name.replace(/\/$/, ""))) refusePart(name, "is no name of a part");
        total += originalSize;
        if (names.size > MOST_PARTS) refuse(`more than ${MOST_PARTS} parts`);
        if (originalSize > MOST_OF_PART || total > most) refusePart(name, "is larger than it may be");
        if (!name.endsWith("/") && !TEXT.test(name))
          refusePart(name, "cannot be read, so it may hold anything: take it out first");
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
      refusePart(name, "is not in UTF-8", cause);
    }
  }
  return parts;
}
