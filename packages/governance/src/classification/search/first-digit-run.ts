/**
 * How long the first run of digits (0 to 9) in a text may be, for all texts of some kind: bit n of a mask stands for a run of n digits, the last bit for all longer
 * ones. By what the texts begin and end with, so that kinds can be joined.
 */
export interface FirstDigitRun {
  /** Texts of digits alone; bit 0: the empty text. */
  readonly solid: number;
  /** Begin with another character and end in the first run; bit 0: no digit at all. */
  readonly open: number;
  /** Begin with another character; the first run ends before the text does. */
  readonly inner: number;
  /** Begin with the first run, which ends before the text does. */
  readonly head: number;
}

const LAST = 31;

export const EMPTY: FirstDigitRun = { solid: 1, open: 0, inner: 0, head: 0 };
export const ONE_DIGIT: FirstDigitRun = { solid: 2, open: 0, inner: 0, head: 0 };
export const ONE_OTHER: FirstDigitRun = { solid: 0, open: 1, inner: 0, head: 0 };
export const ANY_TEXT: FirstDigitRun = { solid: -1, open: -1, inner: -1, head: -1 };

/** Texts of the one kind or of the other. */
export function either(a: FirstDigitRun, b: FirstDigitRun): FirstDigitRun {
  return { solid: a.solid | b.solid, open: a.open | b.open, inner: a.inner | b.inner, head: a.head | b.head };
}

/** A text of the one kind, then one of the other. */
export function joined(a: FirstDigitRun, b: FirstDigitRun): FirstDigitRun {
  const nothing = a.solid & 1;
  const noDigit = nothing | (a.open & 1);
  const goesOn = b.open !== 0 || b.inner !== 0;
  return {
    solid: sums(a.solid, b.solid),
    open: sums(a.open, b.solid) | (noDigit ? b.open : 0),
    inner: a.inner | (goesOn ? a.open & ~1 : 0) | sums(a.open, b.head) | (noDigit ? b.inner : 0),
    head: a.head | (goesOn ? a.solid & ~1 : 0) | sums(a.solid, b.head),
  };
}

/** Texts of the kind, from `min` to `max` of them one after the other. */
export function repeated(one: FirstDigitRun, min: number, max: number): FirstDigitRun {
  let all = EMPTY;
  for (let n = 1; n <= max; n++) {
    const more = joined(all, one);
    const next = n <= min ? more : either(all, more);
    if (isSame(next, all)) break;
    all = next;
  }
  return all;
}

function isSame(a: FirstDigitRun, b: FirstDigitRun): boolean {
  return a.solid === b.solid && a.open === b.open && a.inner === b.inner && a.head === b.head;
}

/** The lengths that the first run of any of the texts may have; bit 0: there may be none. */
export function lengthsOf({ solid, open, inner, head }: FirstDigitRun): number {
  return solid | open | inner | head;
}

/** The bit of a run of so many digits. */
export function runBit(digits: number): number {
  return 1 << Math.min(digits, LAST);
}

/** All sums of a number of the one mask and one of the other. */
function sums(a: number, b: number): number {
  let all = 0;
  for (let n = 0; n <= LAST; n++) {
    if ((a & (1 << n)) === 0) continue;
    const tooLong = n > 0 && b >>> (LAST + 1 - n) !== 0;
    all |= (b << n) | (tooLong ? 1 << LAST : 0);
  }
  return all;
}
