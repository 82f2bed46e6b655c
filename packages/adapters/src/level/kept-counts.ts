/** So many prefixes are kept; one that is let go is counted again when it is asked for. */
const maxKept = 4096;

interface Kept {
  readonly index: string;
  readonly prefix: string;
  /** The entries when counting began. */
  readonly base: Promise<number>;
  /** What commits added and took away since. */
  delta: number;
}

/**
 * How many entries of an index begin with a prefix: counted when first asked, then kept up by every commit, so that the total of a
 * list costs no walk over all of it. An index is named by its place; keys and prefixes are byte strings behind it. The
 * least recently asked prefixes are let go.
 */
export class KeptCounts {
  readonly #kept = new Map<string, Kept>();
  /** By index, how many kept prefixes have each length: where a key must be cut to find its prefixes. */
  readonly #lengths = new Map<string, Map<number, number>>();

  /** The count of a prefix; `undefined` when it is not kept. */
  get(index: string, prefix: string): Promise<number> | undefined {
    const kept = this.#kept.get(index + prefix);
    if (kept === undefined) return undefined;
    this.#kept.delete(index + prefix);
    this.#kept.set(index + prefix, kept);
    return now(kept);
  }

  /** Keeps a count that is not kept yet. `base` counts the entries as they are now, between two commits. */
  keep(index: string, prefix: string, base: Promise<number>): Promise<number> {
    const kept: Kept = { index, prefix, base, delta: 0 };
    this.#kept.set(index + prefix, kept);
    this.#note(kept, 1);
    base.catch(() => this.#drop(kept));
    const [oldest] = this.#kept.values();
    if (this.#kept.size > maxKept && oldest !== undefined) this.#drop(oldest);
    return now(kept);
  }

  /** An entry of an index was written (1) or deleted (-1). */
  changed(index: string, key: string, by: 1 | -1): void {
    for (const length of this.#lengths.get(index)?.keys() ?? []) {
      const kept = this.#kept.get(index + key.slice(0, length));
      if (kept !== undefined) kept.delta += by;
    }
  }

  /** Nothing is kept any more. */
  clear(): void {
    this.#kept.clear();
    this.#lengths.clear();
  }

  #drop(kept: Kept): void {
    if (this.#kept.get(kept.index + kept.prefix) !== kept) return;
    this.#kept.delete(kept.index + kept.prefix);
    this.#note(kept, -1);
  }

  #note({ index, prefix }: Kept, by: 1 | -1): void {
    const lengths = this.#lengths.get(index) ?? new Map<number, number>();
    this.#lengths.set(index, lengths);
    const count = (lengths.get(prefix.length) ?? 0) + by;
    if (count > 0) lengths.set(prefix.length, count);
    else lengths.delete(prefix.length);
  }
}

async function now(kept: Kept): Promise<number> {
  const base = await kept.base;
  return base + kept.delta;
}
