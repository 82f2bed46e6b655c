/** A file that is read piece by piece, in any order. */
export interface RandomAccess {
  readonly byteLength: number;
  /** The bytes from `start` up to `end`, exclusive; fewer at the end of the file. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** Least that is fetched at once. */
export const FETCH = 1024 * 1024;

/** Walks forward over a part of a file and holds no more than is asked for, or one fetch. */
export class PageCursor {
  readonly #file: RandomAccess;
  readonly #end: number;
  #bytes = new Uint8Array(0);
  #start: number;
  /** Place in the file. */
  offset: number;

  constructor(file: RandomAccess, start: number, end: number) {
    this.#file = file;
    this.#start = start;
    this.offset = start;
    this.#end = Math.min(end, file.byteLength);
  }

  get done(): boolean {
    return this.offset >= this.#end;
  }

  /** Up to `length` bytes from here on; fewer only at the end of the part. */
  async peek(length: number): Promise<Uint8Array> {
    const end = Math.min(this.offset + length, this.#end);
    if (end > this.#start + this.#bytes.length || this.offset < this.#start) {
      this.#bytes = Uint8Array.from(await this.#file.read(this.offset, Math.min(this.#end, Math.max(end, this.offset + FETCH))));
      this.#start = this.offset;
    }
    return this.#bytes.subarray(this.offset - this.#start, end - this.#start);
  }
}
