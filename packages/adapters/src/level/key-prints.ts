/** Places of a set that has just begun; their number is always a power of two. */
const few = 1024;

/** A set of keys by 32-bit prints, off the heap: what it says it lacks was never added. */
export class KeyPrints {
  /** The prints, each at the first free place from the one that its low bits name; 0 is free. */
  #places = new Int32Array(few);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(key: string): void {
    if (2 * this.#size >= this.#places.length) this.#grow();
    this.#put(printOf(key));
  }

  mayHave(key: string): boolean {
    const print = printOf(key);
    return this.#places[this.#placeOf(print)] === print;
  }

  clear(): void {
    this.#places = new Int32Array(few);
    this.#size = 0;
  }

  #put(print: number): void {
    const place = this.#placeOf(print);
    if (this.#places[place] === 0) this.#size += 1;
    this.#places[place] = print;
  }

  /** Where a print is, or would be put. */
  #placeOf(print: number): number {
    const mask = this.#places.length - 1;
    let place = print & mask;
    while (this.#places[place] !== 0 && this.#places[place] !== print) place = (place + 1) & mask;
    return place;
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Int32Array(2 * before.length);
    this.#size = 0;
    for (const print of before) if (print !== 0) this.#put(print);
  }
}

/** FNV-1a of a byte string, never 0. */
export function printOf(key: string): number {
  let print = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) print = Math.imul(print ^ key.charCodeAt(at), 0x01000193);
  return print === 0 ? 1 : print | 0;
}
