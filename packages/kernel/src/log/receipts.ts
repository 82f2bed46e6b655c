import { checkArgument } from "../argument.ts";
import type { Json } from "../json.ts";

/** How long answers are remembered: both bounds hold. */
export interface ReceiptWindow {
  readonly commands: number;
  readonly ms: number;
}

/** Id, time and answer of an accepted command. */
export type Receipt = readonly [id: string, at: number, result: Json];

interface Shared {
  readonly rows: Receipt[];
  readonly places: Map<string, number>;
}

/**
 * The answers of the newest accepted commands: an immutable value over a shared, append-only list. Each value sees its own
 * stretch of the list, so that adding is cheap and an undone speculation leaves nothing behind; only adding to a value
 * that is not the newest copies.
 */
export class Receipts {
  readonly #shared: Shared;
  readonly #start: number;
  readonly #end: number;

  private constructor(shared: Shared, start: number, end: number) {
    this.#shared = shared;
    this.#start = start;
    this.#end = end;
  }

  static from(rows: readonly Receipt[]): Receipts {
    checkArgument("rows", rows, "array");
    return new Receipts({ rows: [...rows], places: new Map(rows.map(([id], at) => [id, at])) }, 0, rows.length);
  }

  get size(): number {
    return this.#end - this.#start;
  }

  get(id: string): Receipt | undefined {
    const place = this.#shared.places.get(id);
    return place === undefined || place < this.#start || place >= this.#end ? undefined : this.#shared.rows[place];
  }

  /** Remembers one more and forgets what falls out of the window, judged by the time of the new one. */
  add(receipt: Receipt, window: ReceiptWindow): Receipts {
    const wasted = this.#start > 1024 && this.#start > this.#end / 2;
    const own = this.#shared.rows.length !== this.#end || wasted ? Receipts.from(this.rows()) : this;
    own.#shared.places.set(receipt[0], own.#end);
    own.#shared.rows.push(receipt);
    const end = own.#end + 1;
    let start = Math.max(own.#start, end - window.commands);
    while (start < end - 1 && (own.#shared.rows[start] as Receipt)[1] < receipt[1] - window.ms) start += 1;
    return new Receipts(own.#shared, start, end);
  }

  rows(): readonly Receipt[] {
    return this.#shared.rows.slice(this.#start, this.#end);
  }
}
