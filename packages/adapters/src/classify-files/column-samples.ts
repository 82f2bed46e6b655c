import {
  type ColumnReport,
  classifyColumnValues,
  lowestTier,
  maxTier,
  type Recogniser,
  type SampledColumn,
  type TierPolicy,
} from "@seneschal/governance";

/** What a file holds. Never a value of it. */
export interface FileReport {
  readonly tier: string;
  readonly tags: readonly string[];
  readonly records: number;
  readonly columns: readonly ColumnReport[];
}

/** Longest piece of a value that is looked at, in characters. */
const MAX_VALUE = 4096;

/**
 * A bounded sample of every column of a file. The samples of a column are spread over all of it (every n-th value, n doubling as the file goes on), so that a
 * late column of secrets is not missed.
 */
export class ColumnSamples {
  readonly #columns = new Map<string, Sample>();
  readonly #size: number;

  /** `size`: values kept per column at most. */
  constructor(size: number) {
    this.#size = Math.max(2, size);
  }

  /** Names a column, so that it is reported even when it is empty. */
  column(name: string): Sample {
    let sample = this.#columns.get(name);
    if (sample === undefined) {
      sample = new Sample(this.#size);
      this.#columns.set(name, sample);
    }
    return sample;
  }

  /** What is kept, by column. */
  sampled(): readonly SampledColumn[] {
    return [...this.#columns].map(([name, { values }]) => ({ name, values }));
  }

  report(about: string, records: number, policy: TierPolicy, recognisers: readonly Recogniser[]): FileReport {
    const columns = [...this.#columns].map(([name, sample]) =>
      classifyColumnValues({ name, about, values: sample.values }, policy, recognisers),
    );
    let tier = lowestTier(policy);
    for (const column of columns) tier = maxTier(policy, tier, column.tier);
    return { tier, tags: [...new Set(columns.flatMap((column) => column.tags))], records, columns };
  }
}

/** At most `size` values, every n-th of all; `n` doubles when the room is full. */
class Sample {
  values: string[] = [];
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
