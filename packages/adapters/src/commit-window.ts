import { hash } from "node:crypto";

/** Batches that left the window are cut off the queue when there are so many. */
const cutAt = 1024;
/** Places of a window that has just begun. */
const few = 256;
/** 32-bit words of a print. */
const words = 4;

type Print = ArrayLike<number>;

/**
 * The ids of the newest commits, in which a retry is recognised, by the batches that they were written in: a batch is let go when
 * all of it has left the window. An id is kept as 128 bits of its SHA-256, in tables that no garbage collector walks through.
 */
export class CommitWindow {
  readonly #size: number;
  /** The sequences of the last commits of batches, oldest first; those before `#oldest` have left. */
  readonly #ends: number[] = [];
  #oldest = 0;
  /** The sequence of the oldest kept commit; the sequences are dense from there. */
  #first = 1;
  #newest = 0;
  /** Of every kept commit, at its sequence modulo their number (a power of two): the print, and where the next commit of its chain is, plus one. */
  #prints = new Int32Array(few * words);
  #next = new Int32Array(few);
  /** By the low bits of a print's first word: where its newest commit is, plus one. */
  #heads = new Int32Array(few);

  /** `size`: so many commits are recognised. */
  constructor(size: number) {
    this.#size = size;
  }

  /** The sequence of a commit that is among the newest ones. */
  seqOf(commitId: string): number | undefined {
    const print = printOf(commitId);
    const mask = this.#heads.length - 1;
    for (let at = this.#heads[(print[0] as number) & mask] as number; at !== 0; at = this.#next[at - 1] as number) {
      if (!this.#holds(at - 1, print)) continue;
      const seq = this.#newest - ((this.#newest - (at - 1)) & mask);
      // Newest first: what is out of the window has nothing newer behind it.
      return seq > this.#newest - this.#size ? seq : undefined;
    }
    return undefined;
  }

  /** The ends of the batches that will have left when `newest` is the newest commit. */
  leaving(newest: number): readonly number[] {
    let kept = this.#oldest;
    while (kept < this.#ends.length && (this.#ends[kept] as number) <= newest - this.#size) kept += 1;
    return this.#ends.slice(this.#oldest, kept);
  }

  /** A batch was written: its commit ids in order, the last of which has the sequence `end`. */
  add(end: number, ids: readonly string[]): void {
    for (const left of this.leaving(end)) this.#forget(left);
    const begin = end - ids.length + 1;
    if (this.#oldest === this.#ends.length) this.#first = begin;
    while (end - this.#first >= this.#heads.length) this.#grow();
    this.#ends.push(end);
    this.#newest = end;
    for (const [at, id] of ids.entries()) this.#link(begin + at, printOf(id));
  }

  #forget(end: number): void {
    for (; this.#first <= end; this.#first += 1) this.#unlink(this.#first);
    this.#oldest += 1;
    if (this.#oldest < cutAt) return;
    this.#ends.splice(0, this.#oldest);
    this.#oldest = 0;
  }

  #link(seq: number, print: Print): void {
    const mask = this.#heads.length - 1;
    const at = seq & mask;
    const head = (print[0] as number) & mask;
    this.#prints.set(print, at * words);
    this.#next[at] = this.#heads[head] as number;
    this.#heads[head] = at + 1;
  }

  #unlink(seq: number): void {
    const mask = this.#heads.length - 1;
    const place = (seq & mask) + 1;
    const next = this.#next[place - 1] as number;
    const head = (this.#prints[(place - 1) * words] as number) & mask;
    let at = this.#heads[head] as number;
    if (at === place) {
      this.#heads[head] = next;
      return;
    }
    while (this.#next[at - 1] !== place) at = this.#next[at - 1] as number;
    this.#next[at - 1] = next;
  }

  #grow(): void {
    const [prints, mask] = [this.#prints, this.#heads.length - 1];
    const length = 2 * this.#heads.length;
    this.#prints = new Int32Array(length * words);
    this.#next = new Int32Array(length);
    this.#heads = new Int32Array(length);
    for (let seq = this.#first; seq <= this.#newest; seq += 1)
      this.#link(seq, prints.subarray((seq & mask) * words, ((seq & mask) + 1) * words));
  }

  #holds(at: number, print: Print): boolean {
    for (let word = 0; word < words; word += 1) if (this.#prints[at * words + word] !== print[word]) return false;
    return true;
  }
}

/** 128 bits of an id's SHA-256: no two ids have one print. */
function printOf(commitId: string): Print {
  const digest = hash("sha256", commitId, "binary");
  return [wordAt(digest, 0), wordAt(digest, 4), wordAt(digest, 8), wordAt(digest, 12)];
}

/** Four of a text's characters, each of which is a byte, as one number. */
function wordAt(text: string, at: number): number {
  return text.charCodeAt(at) | (text.charCodeAt(at + 1) << 8) | (text.charCodeAt(at + 2) << 16) | (text.charCodeAt(at + 3) << 24);
}
