import {
  type ColumnReport,
  classifyColumnValues,
  DEFAULT_RECOGNISERS,
  DEFAULT_TIER_POLICY,
  lowestTier,
  maxTier,
  type Recogniser,
  type TierPolicy,
} from "@seneschal/core/governance";
import { type FileFormat, readRecords } from "./read-records.ts";

/** How far a file has come. */
export interface ClassifyProgress {
  /** Characters read so far. */
  readonly read: number;
  readonly records: number;
}

export interface ClassifyFileOptions {
  readonly format: FileFormat;
  /** File or table name: context for its columns. */
  readonly about?: string;
  readonly policy?: TierPolicy;
  readonly recognisers?: readonly Recogniser[];
  /** Values that are looked at per column, spread over the file. Default 1000. */
  readonly samples?: number;
  readonly onProgress?: (progress: ClassifyProgress) => void;
}

/** What a file holds. Never a value of it. */
export interface FileReport {
  readonly tier: string;
  readonly tags: readonly string[];
  readonly records: number;
  readonly columns: readonly ColumnReport[];
}

const PROGRESS_STEP = 1000;

/**
 * Classifies a CSV, TSV or JSON Lines text column by column while it streams: memory is bounded by the samples kept. The samples of a column are
 * spread over the whole file (every n-th value, n doubling as the file goes on), so that a late column of secrets is not missed.
 *
 * @example
 * ```ts
 * import { createReadStream } from "node:fs";
 * import { classifyFile } from "@seneschal/adapters/classify-files";
 * const report = await classifyFile(createReadStream("people.csv", "utf8"), { format: "csv", onProgress: ({ records }) => console.error(records) });
 * console.log(report.tier);
 * ```
 */
export async function classifyFile(chunks: AsyncIterable<string>, options: ClassifyFileOptions): Promise<FileReport> {
  const {
    format,
    about = "",
    policy = DEFAULT_TIER_POLICY,
    recognisers = DEFAULT_RECOGNISERS,
    samples = 1000,
    onProgress,
  } = options;
  const columns = new Map<string, Sample>();
  let read = 0;
  let records = 0;
  async function* counted(): AsyncGenerator<string> {
    for await (const chunk of chunks) {
      read += chunk.length;
      yield chunk;
    }
  }
  for await (const record of readRecords(counted(), format)) {
    records++;
    for (const [name, value] of Object.entries(record)) {
      let sample = columns.get(name);
      if (sample === undefined) {
        sample = new Sample(samples);
        columns.set(name, sample);
      }
      if (value !== "") sample.add(value);
    }
    if (records % PROGRESS_STEP === 0) onProgress?.({ read, records });
  }
  onProgress?.({ read, records });
  const reports = [...columns].map(([name, sample]) =>
    classifyColumnValues({ name, about, values: sample.values }, policy, recognisers),
  );
  let tier = lowestTier(policy);
  for (const column of reports) tier = maxTier(policy, tier, column.tier);
  return { tier, tags: [...new Set(reports.flatMap((column) => column.tags))], records, columns: reports };
}

/** At most `size` values, every n-th of all; `n` doubles when the room is full. */
class Sample {
  values: string[] = [];
  readonly #size: number;
  #step = 1;
  #seen = 0;

  constructor(size: number) {
    this.#size = Math.max(2, size);
  }

  add(value: string): void {
    if (this.#seen++ % this.#step !== 0) return;
    this.values.push(value.length > 4096 ? value.slice(0, 4096) : value);
    if (this.values.length < this.#size) return;
    this.values = this.values.filter((_, i) => i % 2 === 0);
    this.#step *= 2;
  }
}
