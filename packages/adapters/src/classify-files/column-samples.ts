import {
  type ColumnReport,
  classifyColumnValues,
  lowestTier,
  maxTier,
  type Recogniser,
  type SampledColumn,
  SpreadValues,
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

class SampledValues extends SpreadValues {
  /** Some values nobody reads. */
  unread = false;
}

/** A bounded sample of every column of a file, spread over all of it. */
export class ColumnSamples {
  readonly #columns = new Map<string, { readonly column: FileColumn; readonly sample: SampledValues }>();
  readonly #size: number;

  /** `size`: values kept per column at most. */
  constructor(size: number) {
    this.#size = Math.max(2, size);
  }

  /** Names a column, so that it is reported even when it is empty. Throws `file_invalid` for one too many. */
  column(column: FileColumn): SampledValues {
    const known = this.#columns.get(column.id);
    if (known !== undefined) return known.sample;
    if (this.#columns.size === MAX_COLUMNS) throw new CodedError("file_invalid", `more than ${MAX_COLUMNS} columns`);
    const sample = new SampledValues(this.#size);
    this.#columns.set(column.id, { column, sample });
    return sample;
  }

  /** The values of a record. Of one that names the columns the cells without a value are their names, and no empty ones. */
  add({ cells, names }: { readonly cells: readonly (FileColumn & { readonly value: string })[]; readonly names: boolean }): void {
    for (const cell of cells) {
      const sample = this.column(cell);
      if (!names || cell.value !== "") sample.add(cell.value);
    }
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
    const columns = [...this.#columns.values()].map(({ column: { name, called, path }, sample }) => {
      // Where nothing else says anything, an empty value is what dropping values leaves, and the name holds of none.
      const values = sample.allButEmpty ? [...sample.values, ""] : sample.values;
      const { unread } = sample;
      const report = classifyColumnValues({ name, ...(path && { path }), unread, values, about }, policy, recognisers);
      return called === undefined ? report : { ...report, column: called };
    });
    let tier = lowestTier(policy);
    for (const column of columns) tier = maxTier(policy, tier, column.tier);
    return { tier, tags: [...new Set(columns.flatMap((column) => column.tags))], records, columns };
  }
}
