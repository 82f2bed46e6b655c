/** Batches that left the window are cut off the queue when there are so many. */
const cutAt = 1024;
/** Places of a window that has just begun. */
const few = 256;
/** Parts ids: none holds it. */
const separator = "\0";

interface Batch {
  /** The sequence of its last commit. */
  readonly end: number;
  /** The sequence of its first one. */
  readonly begin: number;
  /** Its commit ids, of dense sequences. One text for all: a hundred thousand small ones are what a collector walks through for ever. */
  readonly ids: string;
}

/**
 * The ids of the newest commits, in which a retry is recognised, by the batches that they were written in: a batch is let go when
 * all of it has left the window. A table of hashes says which commit may be the one; the text of its batch decides.
 */
export class CommitWindow {
  readonly #size: number;
  /** Oldest first; those before `#oldest` have left. */
  readonly #batches: Batch[] = [];
  #oldest = 0;
  #newest = 0;
  /** Of every kept commit, at its sequence modulo their length (a power of two): the hash, and where the next commit of its chain is, plus one. */
  #hashes = new Int32Array(few);
  #next = new Int32Array(few);
  /** By the low bits of a hash: where its newest commit is, plus one. */
  #heads = new Int32Array(few);

  /** `size`: so many commits are recognised. */
  constructor(size: number) {
    this.#size = size;
  }

  /** The sequence of a commit that is among the newest ones. */
  seqOf(commitId: string): number | undefined {
    const hash = hashOf(commitId);
    const mask = this.#heads.length - 1;
    for (let at = this.#heads[hash & mask] as number; at !== 0; at = this.#next[at - 1] as number) {
      if (this.#hashes[at - 1] !== hash) continue;
      const seq = this.#newest - ((this.#newest - (at - 1)) & mask);
      // Newest first: what is out of the window has nothing newer behind it.
      if (seq <= this.#newest - this.#size) return undefined;
      if (this.#idOf(seq) === commitId) return seq;
    }
    return undefined;
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
    for (const _ of this.leaving(end)) this.#forget();
    const begin = end - ids.length + 1;
    const first = this.#batches[this.#oldest]?.begin ?? begin;
    while (end - first >= this.#heads.length) this.#grow();
    this.#batches.push({ begin, end, ids: ids.join(separator) });
    this.#newest = end;
    for (const [at, id] of ids.entries()) this.#link(begin + at, hashOf(id));
  }

  #forget(): void {
    const { begin, end } = this.#batches[this.#oldest] as Batch;
    for (let seq = begin; seq <= end; seq += 1) this.#unlink(seq);
    this.#oldest += 1;
    if (this.#oldest < cutAt) return;
    this.#batches.splice(0, this.#oldest);
    this.#oldest = 0;
  }

  #link(seq: number, hash: number): void {
    const mask = this.#heads.length - 1;
    const at = seq & mask;
    this.#hashes[at] = hash;
    this.#next[at] = this.#heads[hash & mask] as number;
    this.#heads[hash & mask] = at + 1;
  }

  #unlink(seq: number): void {
    const mask = this.#heads.length - 1;
    const place = (seq & mask) + 1;
    const next = this.#next[place - 1] as number;
    const head = (this.#hashes[place - 1] as number) & mask;
    let at = this.#heads[head] as number;
    if (at === place) {
      this.#heads[head] = next;
      return;
    }
    while (this.#next[at - 1] !== place) at = this.#next[at - 1] as number;
    this.#next[at - 1] = next;
  }

  #grow(): void {
    const [hashes, mask] = [this.#hashes, this.#heads.length - 1];
    const length = 2 * hashes.length;
    this.#hashes = new Int32Array(length);
    this.#next = new Int32Array(length);
    this.#heads = new Int32Array(length);
    for (const { begin, end } of this.#batches.slice(this.#oldest))
      for (let seq = begin; seq <= end; seq += 1) this.#link(seq, hashes[seq & mask] as number);
  }

  #idOf(seq: number): string | undefined {
    let [low, high] = [this.#oldest, this.#batches.length - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#batches[middle] as Batch).end < seq) low = middle + 1;
      else high = middle;
    }
    const { begin, ids } = this.#batches[low] as Batch;
    return ids.split(separator)[seq - begin];
  }
}

/** FNV-1a over UTF-16 units. Who finds texts of one hash gains a longer chain; ids are the server's own. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
