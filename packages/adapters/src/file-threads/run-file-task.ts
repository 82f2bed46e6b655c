import {
  columnName,
  type Recogniser,
  type RedactionOptions,
  type RedactionRule,
  redactAs,
  redactionKeys,
  redactJsonLines,
  restore,
} from "@seneschal/governance";
import { CodedError, checkArgument, isCoded, textDecoder, utf8Encode } from "@seneschal/kernel";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import type { Refusal } from "../classifier-threads/messages.ts";
import {
  type ClassifyOptions,
  classifyFile,
  classifyParquet,
  classifyPdf,
  classifyXlsx,
  type FileFormat,
  type FileReport,
  type PdfReport,
  type XlsxLimits,
  type XlsxReport,
} from "../classify-files/index.ts";
import {
  type RedactedFile,
  type RestoredFile,
  redactParquet,
  redactXlsx,
  restoreParquet,
  restoreXlsx,
} from "../redact-files/index.ts";

/** What is worked off in threads. PDFs are classified only. */
export type ServedFormat = FileFormat | "xlsx" | "parquet" | "pdf";

interface AnyTask {
  readonly bytes: Uint8Array;
  readonly format: ServedFormat;
}

/** A file, and what is to be done with it. */
export type FileTask =
  | (AnyTask & { readonly work: "classify"; readonly about: string })
  | (AnyTask & {
      readonly work: "redact";
      readonly rules: readonly RedactionRule[];
      /** Of the workspace, 32 bytes. */
      readonly key: Uint8Array;
      readonly country?: string;
      /** File or table name: context for its columns. */
      readonly about?: string;
    })
  | (AnyTask & { readonly work: "restore"; readonly key: Uint8Array });

/** What a file holds, by what its format has: columns, pages, or entities. `unread`: what nobody could read. */
export type ClassifiedFile = Pick<FileReport, "tier" | "tags"> & Partial<FileReport> & Partial<PdfReport> & Partial<XlsxReport>;

export type FileAnswer = ClassifiedFile | RedactedFile | RestoredFile | Refusal;

/** What a thread has room for. */
const WORKBOOK: XlsxLimits = { unpacked: 96 << 20, texts: 250_000 };

/** Does a task. Throws `validation_failed` and `file_invalid` for what is wrong with the file. */
export async function runFileTask(
  task: FileTask,
  given: Pick<RedactionOptions, "policy" | "recognisers"> & { readonly crypto: CryptoProvider; readonly random: Random },
): Promise<ClassifiedFile | RedactedFile | RestoredFile> {
  checkArgument("task", task, "object");
  checkArgument("given", given, "object");
  const { policy, recognisers, crypto, random } = given;
  const { bytes, format } = task;
  checkSignature(bytes, format);
  if (task.work === "classify") return classified(task, { policy, recognisers, about: task.about });
  const keys = redactionKeys(crypto, task.key, random);
  if (format === "pdf") throw new CodedError("file_invalid", "PDFs are classified and not redacted");
  const file = { byteLength: bytes.length, read: async (start: number, end: number) => bytes.slice(start, end) };
  if (task.work === "restore") {
    if (format === "xlsx") return restoreXlsx(bytes, policy, keys, WORKBOOK);
    if (format === "parquet") return restoreParquet(file, policy, keys);
    const { text, ...counts } = restore(textOf(bytes), policy, keys);
    return { bytes: utf8Encode(text), ...counts };
  }
  const { rules, country, about } = task;
  const options = {
    policy,
    recognisers,
    rules,
    keys,
    ...(country === undefined ? {} : { country }),
    ...(about === undefined ? {} : { about }),
  };
  if (format === "xlsx") return redactXlsx(bytes, options, WORKBOOK);
  if (format === "parquet") return redactParquet(file, options);
  return redactedText(format, textOf(bytes), options);
}

async function classified({ bytes, format }: AnyTask, options: ClassifyOptions): Promise<ClassifiedFile> {
  const { policy, recognisers } = options;
  const given = { ...(policy && { policy }), ...(recognisers && { recognisers }) };
  const file = { byteLength: bytes.length, read: async (start: number, end: number) => bytes.slice(start, end) };
  if (format === "xlsx") return classifyXlsx(bytes, options, WORKBOOK);
  if (format === "parquet") return classifyParquet(file, options);
  if (format === "pdf") return classifyPdf(file, given);
  async function* text(): AsyncGenerator<string> {
    yield textOf(bytes).replace(/^\ufeff/, "");
  }
  return classifyFile(text(), { ...options, format });
}

function textOf(bytes: Uint8Array): string {
  return textDecoder("the file")(bytes);
}

function redactedText(format: FileFormat, text: string, options: RedactionOptions): RedactedFile {
  const done = format === "jsonl" ? redactJsonLines(text, options) : redactAs(format, text, options);
  const counts = new Map<string, number>();
  for (const { entity } of done.redactions) counts.set(entity, (counts.get(entity) ?? 0) + 1);
  return { bytes: utf8Encode(done.text), counts };
}

const SIGNATURES = { xlsx: "PK\u0003\u0004", parquet: "PAR1", pdf: "%PDF-" } as const;

/**
 * Throws `file_invalid` for bytes that plainly are of another format than they are said to be: read as that, less would be found in them. JSON is a table of CSV as well, in which no name would say what a value is.
 */
function checkSignature(bytes: Uint8Array, format: ServedFormat): void {
  const begins = Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
  const isOf = { xlsx: begins.startsWith(SIGNATURES.xlsx), parquet: begins.startsWith(SIGNATURES.parquet), pdf: false };
  isOf.pdf = format === "pdf" ? begins.includes(SIGNATURES.pdf) : begins.startsWith(SIGNATURES.pdf);
  const isBinary = format === "xlsx" || format === "parquet" || format === "pdf";
  const others = Object.entries(isOf).filter(([name, is]) => is && name !== format);
  if (others.length > 0 || (isBinary && !isOf[format])) throw mismatch(format);
  if ((format === "csv" || format === "tsv") && isJson(bytes)) throw mismatch(format);
}

function mismatch(format: ServedFormat): CodedError {
  return new CodedError("file_mismatch", `the bytes are not those of ${format}`, { format });
}

/** Whether all of it, or its first line, is an object or a list of JSON. */
function isJson(bytes: Uint8Array): boolean {
  const text = textOf(bytes)
    .replace(/^\ufeff/, "")
    .trimStart();
  if (!/^[{[]/.test(text)) return false;
  return [text, text.split(/[\r\n]/, 1)[0] ?? ""].some((each) => {
    try {
      JSON.parse(each);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * What is wrong with the file is an answer; anything else is a failure of the thread's. Of a `field` (a part of a workbook) or `column` that was refused for a `reason` the name is told as `columnName` tells it, since a value may stand where a name
 * does.
 */
export function refusalOf(error: unknown, recognisers: readonly Recogniser[]): Refusal {
  checkArgument("recognisers", recognisers, "array");
  if (!isCoded(error, "validation_failed", "file_invalid", "file_mismatch", "back_end_missing")) throw error;
  const { code, message, details } = error;
  const { field, column, reason } = details;
  const refused = (told: string): Refusal => ({ refused: { code, message: told, details: {} } });
  if (typeof reason === "string" && typeof field === "string") {
    // Its ending says how it is written, and is none of its name's.
    const [, stem = field, ending = ""] = /^(.*)(\.[a-z]{2,4})$/is.exec(field) ?? [];
    return refused(`${columnName(stem, recognisers)}${ending}: ${reason}`);
  }
  if (typeof reason === "string" && typeof column === "string")
    return refused(`column ${columnName(column, recognisers)}: ${reason}`);
  return refused(columnName(message, recognisers));
}
