import { printOf } from "./key-prints.ts";

/** When so many characters were taken in, the older half is let go. */
const maxCharacters = 4 * 1024 * 1024;
/** A longer value is read from the engine each time. */
const longest = 16 * 1024;
/** Of so many keys it is known that they were asked for; a power of two. */
const askedPlaces = 1 << 14;

/** What lies under a key; `null` is nothing. */
export type KeptValue = string | null;

/**
 * What lies under the keys that are asked for again and again, nothing included, so that reading them does not wait for the
 * engine's lock. Only for the one process that writes: it says what
 * it reads and what it writes. A key is kept when it is asked for a second time, so that what is looked up once (does the
 * new id exist?) takes no room; in two generations, as a map that is always rewritten burdens the garbage collector.
 */
export class KeptValues {
  #younger = new Map<string, KeptValue | undefined>();
  #older = new Map<string, KeptValue | undefined>();
  #taken = 0;
  /** Keys whose write is on its way: the engine shows the new value before the write is said to be committed. */
  readonly #written = new Set<string>();
  /** Prints of keys that were read from the engine, each at the place that its low bits name. */
  readonly #asked = new Int32Array(askedPlaces);

  /** What is committed under a key; `undefined` when only the engine knows. */
  get(key: string): KeptValue | undefined {
    const young = this.#younger.get(key);
    if (young !== undefined) return young;
    const old = this.#older.get(key);
    if (old !== undefined) this.#keep(key, old);
    return old;
  }

  /** The engine was asked for a key and answered at once. */
  read(key: string, value: KeptValue): void {
    if (this.#written.has(key)) return;
    const print = printOf(key);
    const place = print & (askedPlaces - 1);
    if (this.#asked[place] === print) this.#keep(key, value);
    else this.#asked[place] = print;
  }

  /** A write of the key begins; while it lasts only the engine knows. */
  writing(key: string): void {
    this.#written.add(key);
    this.#forget(key);
  }

  /** The write is committed. */
  wrote(key: string, value: KeptValue): void {
    this.#written.delete(key);
    if (!this.#younger.has(key) && !this.#older.has(key)) return;
    this.#forget(key);
    this.#keep(key, value);
  }

  #forget(key: string): void {
    if (this.#younger.has(key)) this.#younger.set(key, undefined);
    if (this.#older.has(key)) this.#older.set(key, undefined);
  }

  /** Nothing is kept any more. */
  clear(): void {
    this.#younger = new Map();
    this.#older = new Map();
    this.#taken = 0;
    this.#written.clear();
  }

  #keep(key: string, value: KeptValue): void {
    const length = value?.length ?? 0;
    if (length > longest) return;
    this.#taken += key.length + length;
    if (this.#taken > maxCharacters / 2) {
      this.#older = this.#younger;
      this.#younger = new Map();
      this.#taken = 0;
    }
    this.#younger.set(key, value);
  }
}
