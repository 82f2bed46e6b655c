import { checkArgument } from "@seneschal/kernel";

/** Longest piece of a value that is looked at, in characters. */
const MAX_VALUE = 4096;

/** A bounded sample of the values of a column: at most `size`, every n-th of all; `n` doubles when the room is full, so that a late column of secrets is not missed. Empty values are left out. */
export class SpreadValues {
  readonly #size: number;
  #values: string[] = [];
  #step = 1;
  #seen = 0;
  #someEmpty = false;

  /** `size`: values kept at most, two at least. */
  constructor(size: number) {
    checkArgument("size", size, "number");
    this.#size = Math.max(2, size);
  }

  get values(): readonly string[] {
    return this.#values;
  }

  /** Some values were empty, and all others are kept. */
  get allButEmpty(): boolean {
    return this.#someEmpty && this.#step === 1;
  }

  add(value: string): void {
    checkArgument("value", value, "string");
    this.#someEmpty ||= value.trim() === "";
    if (value === "" || this.#seen++ % this.#step !== 0) return;
    this.#values.push(value.length > MAX_VALUE ? value.slice(0, MAX_VALUE) : value);
    if (this.#values.length < this.#size) return;
    this.#values = this.#values.filter((_, i) => i % 2 === 0);
    this.#step *= 2;
  }
}
