import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, type Recogniser, type TierPolicy } from "@seneschal/governance";
import { checkArgument, checkOptions } from "@seneschal/kernel";
import { ColumnSamples, type FileReport } from "./column-samples.ts";
import type { RandomAccess } from "./parquet/page-cursor.ts";
import { FILE_FORMATS, type FileFormat, readRecords } from "./read-records.ts";

/** How far a file has come. */
export interface ClassifyProgress {
  /** Characters (text) or bytes (Parquet) read so far. */
  readonly read: number;
  readonly records: number;
}

export interface ClassifyOptions {
  /** File or table name: context for its columns. */
  readonly about?: string;
  readonly policy?: TierPolicy;
  readonly recognisers?: readonly Recogniser[];
  /** Values that are looked at per column, spread over the file. Default 1000. */
  readonly samples?: number;
  readonly onProgress?: (progress: ClassifyProgress) => void;
}

const PROGRESS_STEP = 1000;
const SAMPLES = 1000;

/**
 * Classifies a CSV, TSV, JSON Lines or JSON text column by column while it streams: memory is bounded by the samples kept, of JSON (16 MiB at most) by the text. Throws `file_invalid` for a text that is
 * not of the format.
 *
 * @example
 * ```ts
 * import { Readable } from "node:stream";
 * import { classifyFile } from "@seneschal/adapters/classify-files";
 * const rows = Readable.from(["city,contact\n", "Bern,ada@example.org\n"]); // createReadStream("people.csv", "utf8") of node:fs
 * const report = await classifyFile(rows, { format: "csv" });
 * console.log(report.tier); // CONFIDENTIAL
 * ```
 */
export async function classifyFile(
  chunks: AsyncIterable<string>,
  options: ClassifyOptions & { readonly format: FileFormat },
): Promise<FileReport> {
  checkOptions("options", options, {
    about: "string?",
    policy: "object?",
    recognisers: "array?",
    samples: "number?",
    onProgress: "function?",
    format: FILE_FORMATS,
  });
  checkArgument("chunks", chunks, "object");
  const { format, about = "", onProgress } = options;
  const samples = new ColumnSamples(options.samples ?? SAMPLES);
  let read = 0;
  let records = 0;
  async function* counted(): AsyncGenerator<string> {
    for await (const chunk of chunks) {
      read += chunk.length;
      yield chunk;
    }
  }
  for await (const record of readRecords(counted(), format)) {
    if (!record.names) records++;
    samples.add(record);
    if (records % PROGRESS_STEP === 0) onProgress?.({ read, records });
  }
  onProgress?.({ read, records });
  return samples.report(about, records, options.policy ?? DEFAULT_TIER_POLICY, options.recognisers ?? DEFAULT_RECOGNISERS);
}

/**
 * Classifies a Parquet file column by column, page by page: memory is bounded by one page and the samples kept. Throws `file_invalid` naming the column that
 * cannot be read.
 */
export async function classifyParquet(file: RandomAccess, options: ClassifyOptions = {}): Promise<FileReport> {
  checkOptions("options", options, {
    about: "string?",
    policy: "object?",
    recognisers: "array?",
    samples: "number?",
    onProgress: "function?",
  });
  checkArgument("file", file, "object");
  const { about = "", onProgress } = options;
  const { readParquet } = await import("./parquet/read-parquet.ts");
  const samples = new ColumnSamples(options.samples ?? SAMPLES);
  let records = 0;
  for await (const page of readParquet(file)) {
    records = page.records;
    samples.addPage(page);
    onProgress?.({ read: page.read, records });
  }
  onProgress?.({ read: file.byteLength, records });
  return samples.report(about, records, options.policy ?? DEFAULT_TIER_POLICY, options.recognisers ?? DEFAULT_RECOGNISERS);
}
