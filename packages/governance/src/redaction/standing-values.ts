import { partitionPoint } from "../partition-point.ts";

/** Values with the same beginning in the order of their code units, and for each the longest other one that it begins with, or -1. */
interface Group<Of> {
  readonly entries: (readonly [value: string, of: Of])[];
  /** None while values are put in. */
  begins?: readonly number[];
}

const NONE: readonly never[] = [];

/** Values that are looked for in texts: what a place of a text costs grows with what stands there, and not with how many values there are. */
export class StandingValues<Of> {
  readonly #from: number;
  readonly #groups = new Map<string, Group<Of>>();

  /** `from`: units that a value has at least. Shorter ones are left out. */
  constructor(from: number) {
    this.#from = from;
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  set(value: string, of: Of): void {
    if (value.length < this.#from) return;
    const key = value.slice(0, this.#from);
    const group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, { entries: [[value, of]] });
    else {
      group.entries.push([value, of]);
      delete group.begins;
    }
  }

  /** Those that stand in a text from `at` on, the longest first; of equal ones what was said last. */
  standingAt(text: string, at: number): readonly (readonly [value: string, of: Of])[] {
    const group = this.#groups.get(text.slice(at, at + this.#from));
    if (group === undefined) return NONE;
    const { entries } = group;
    group.begins ??= ordered(entries);
    const rest = text.slice(at);
    const found: (readonly [string, Of])[] = [];
    // Whatever the rest begins with, the last value that does not come behind it does too, as far as it goes.
    for (let i = partitionPoint(entries, ([value]) => value <= rest) - 1; i >= 0; i = group.begins[i] ?? -1) {
      const entry = entries[i] as readonly [string, Of];
      if (rest.startsWith(entry[0])) found.push(entry);
    }
    return found;
  }
}

/** Puts entries in order, the last of equal ones alone, and tells which each begins with. */
function ordered<Of>(entries: (readonly [value: string, of: Of])[]): readonly number[] {
  const sorted = [...new Map(entries)].sort(([a], [b]) => (a < b ? -1 : 1));
  entries.splice(0, entries.length);
  const begins: number[] = [];
  for (const entry of sorted) {
    let before = entries.length - 1;
    while (before >= 0 && !entry[0].startsWith(entries[before]?.[0] ?? "")) before = begins[before] ?? -1;
    begins.push(before);
    entries.push(entry);
  }
  return begins;
}
