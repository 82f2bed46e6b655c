import {
  type ColumnReport,
  classifyColumnValues,
  lowestTier,
  maxTier,
  type Recogniser,
  type SampledColumn,
  type TierPolicy,
} from "@seneschal/governance";
import { CodedError } from "@seneschal/kernel";
import type { ParquetValues } from "./parquet/read-parquet.ts";

/** What a file holds. Never a value of it. */
export interface FileReport {
  readonly tier: string;
  readonly tags: readonly string[];
  readonly records: number;
  readonly columns: readonly ColumnReport[];
}

/** Longest piece of a value that is looked at, in characters. */
const MAX_VALUE = 4096;

const MAX_COLUMNS = 10_000;

/** A column of a file. */
export interface FileColumn {
  /** Which one it is: two may have one name. */
  readonly id: string;
  readonly name: string;
  /** What it is called in place of `name`, where that may be a value. */
  readonly called?: string;
  /** Of a nested one the names of its members, from the outermost on. */
  readonly path?: readonly string[];
}

/**
 * A bounded sample of every column of a file. The samples of a column are spread over all of it (every n-th value, n doubling as the file goes on), so that a
 * late column of secrets is not missed.
 */
export class ColumnSamples {
  readonly #columns = new Map<string, { readonly column: FileColumn; readonly sample: Sample }>();
  readonly #size: number;

  /** `size`: values kept per column at most. */
  constructor(size: number) {
    this.#size = Math.max(2, size);
  }

  /** Names a column, so that it is reported even when it is empty. Throws `file_invalid` for one too many. */
  column(column: FileColumn): Sample {
    const known = this.#columns.get(column.id);
    if (known !== undefined) return known.sample;
    if (this.#columns.size === MAX_COLUMNS) throw new CodedError("file_invalid", `more than ${MAX_COLUMNS} columns`);
    const sample = new Sample(this.#size);
    this.#columns.set(column.id, { column, sample });
    return sample;
  }

  /** The values of a record. */
  add(cells: readonly (FileColumn & { readonly value: string })[]): void {
    for (const cell of cells) this.column(cell).add(cell.value);
  }

  /** The values of a page. */
  addPage({ id, column, path, values, unread }: Pick<ParquetValues, "id" | "column" | "path" | "values" | "unread">): void {
    const sample = this.column({ id, name: column, path });
    sample.unread ||= unread;
    for (const value of values) sample.add(value);
  }

  /** What is kept, by column. */
  sampled(): readonly SampledColumn[] {
    return [...this.#columns.values()].map(({ column: { name, called, path }, sample: { values, unread } }) => ({
      name,
      ...(path === undefined ? {} : { path }),
      ...(called === undefined ? {} : { called }),
      ...(unread ? { unread } : {}),
      values,
    }));
  }

  report(about: string, records: number, policy: TierPolicy, recognisers: readonly Recogniser[]): FileReport {
    const columns = this.sampled().map(({ called, ...column }) => {
      const report = classifyColumnValues({ ...column, about }, policy, recognisers);
      return called === undefined ? report : { ...report, column: called };
    });
    let tier = lowestTier(policy);
    for (const column of columns) tier = maxTier(policy, tier, column.tier);
    return { tier, tags: [...new Set(columns.flatMap((column) => column.tags))], records, columns };
  }
}

/** At most `size` values, every n-th of all; `n` doubles when the room is full. */
class Sample {
  values: string[] = [];
  /** Some values nobody reads. */
  unread = false;
  readonly #size: number;
  #step = 1;
  #seen = 0;

  constructor(size: number) {
    this.#size = size;
  }

  add(value: string): void {
    if (value === "" || this.#seen++ % this.#step !== 0) return;
    this.values.push(value.length > MAX_VALUE ? value.slice(0, MAX_VALUE) : value);
    if (this.values.length < this.#size) return;
    this.values = this.values.filter((_, i) => i % 2 === 0);
    this.#step *= 2;
  }
}
