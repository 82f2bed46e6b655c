/** Batches that left the window are cut off the queue when there are so many. */
const cutAt = 1024;

interface Batch {
  /** The sequence of its last commit. */
  readonly end: number;
  /** Its commit ids; their sequences are dense up to `end`. */
  readonly ids: readonly string[];
}

/**
 * The ids of the newest commits, in which a retry is recognised, by the batches that they were written in: a batch is let go when
 * all of it has left the window.
 */
export class CommitWindow {
  readonly #size: number;
  readonly #seqs = new Map<string, number>();
  /** Oldest first; those before `#oldest` have left. */
  readonly #batches: Batch[] = [];
  #oldest = 0;
  #newest = 0;

  /** `size`: so many commits are recognised. */
  constructor(size: number) {
    this.#size = size;
  }

  /** The sequence of a commit that is among the newest ones. */
  seqOf(commitId: string): number | undefined {
    const seq = this.#seqs.get(commitId);
    return seq !== undefined && seq > this.#newest - this.#size ? seq : undefined;
  }

  /** The ends of the batches that will have left when `newest` is the newest commit. */
  leaving(newest: number): readonly number[] {
    const ends: number[] = [];
    for (let at = this.#oldest; at < this.#batches.length; at += 1) {
      const { end } = this.#batches[at] as Batch;
      if (end > newest - this.#size) break;
      ends.push(end);
    }
    return ends;
  }

  /** A batch was written: its commit ids in order, the last of which has the sequence `end`. */
  add(end: number, ids: readonly string[]): void {
    for (const left of this.leaving(end)) this.#forget(left);
    for (const [at, id] of ids.entries()) this.#seqs.set(id, end - ids.length + 1 + at);
    this.#batches.push({ end, ids });
    this.#newest = end;
  }

  #forget(end: number): void {
    const { ids } = this.#batches[this.#oldest] as Batch;
    // An id whose commit left the window may have been used again since.
    for (const id of ids) if ((this.#seqs.get(id) as number) <= end) this.#seqs.delete(id);
    this.#oldest += 1;
    if (this.#oldest < cutAt) return;
    this.#batches.splice(0, this.#oldest);
    this.#oldest = 0;
  }
}
