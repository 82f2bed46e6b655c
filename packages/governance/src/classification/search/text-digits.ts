import { runBit } from "./first-digit-run.ts";
import type { PatternDigits } from "./pattern-digits.ts";

/** Runs of digits are added up to here: no identifier has more. */
const COUNTED = 40;

const NONE = new Uint32Array(COUNTED + 1);

/** Where the digits (0 to 9) of a text stand, for telling which patterns cannot match in it. Takes time linear in the text. */
export class TextDigits {
  readonly count: number;
  /** Bits of the runs' lengths. */
  readonly #runs: number;
  /** By a number of digits: length of the shortest piece that holds so many in whole runs; 0 when there is none. */
  readonly #shortest: Uint32Array;

  constructor(text: string) {
    const starts: number[] = [];
    const ends: number[] = [];
    let count = 0;
    let runs = 0;
    for (let at = 0; at < text.length; at++) {
      if (!isDigit(text, at)) continue;
      starts.push(at);
      while (isDigit(text, at)) at++;
      ends.push(at);
      const digits = at - (starts[starts.length - 1] ?? 0);
      count += digits;
      runs |= runBit(digits);
    }
    this.count = count;
    this.#runs = runs;
    this.#shortest = count === 0 ? NONE : new Uint32Array(COUNTED + 1);
    for (let first = 0; first < starts.length; first++) {
      const start = starts[first] ?? 0;
      for (let last = first, digits = 0; last < starts.length; last++) {
        const end = ends[last] ?? 0;
        digits += end - (starts[last] ?? 0);
        if (digits > COUNTED) break;
        const shortest = this.#shortest[digits] ?? 0;
        if (shortest === 0 || end - start < shortest) this.#shortest[digits] = end - start;
      }
    }
  }

  /** False when no match of the pattern can be in the text. */
  mayHold({ least, most, longest, whole, firstDigitRun }: PatternDigits): boolean {
    if (!whole || least === 0) return this.count >= least;
    if ((firstDigitRun & this.#runs) === 0) return false;
    if (most > COUNTED) return this.count >= least;
    for (let digits = least; digits <= most; digits++) {
      const shortest = this.#shortest[digits] ?? 0;
      if (shortest > 0 && shortest <= longest) return true;
    }
    return false;
  }
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}
