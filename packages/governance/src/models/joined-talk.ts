import { checkArgument } from "@seneschal/kernel";

/** A text of a talk with a model, and who says it. */
export interface Said {
  readonly role: string;
  readonly text: string;
}

/** A stretch of a text of a talk. */
export interface Stretch {
  /** Place of the text in the talk. */
  readonly place: number;
  readonly start: number;
  readonly end: number;
}

/** What of a long text is read with the texts beside it: longer than any value and what announces it. */
const EDGE = 8192;
/** Units of stretches that are read as one. */
const LONGEST = 131_072;

/**
 * What of a talk a model may read as one, besides each text for itself: all texts in their order, those of each role, and all but the model's own answers. Of a long text only its beginning is read with what stands before it, and
 * its end with what follows.
 *
 * @example
 * ```ts
 * import { readTogether } from "@seneschal/governance";
 * const talk = [{ role: "user", text: "536-22" }, { role: "assistant", text: "go on" }, { role: "user", text: "-8726" }];
 * console.log(readTogether(talk).map((stretches) => stretches.map(({ place }) => place))); // [ [ 0, 1, 2 ], [ 0, 2 ] ]
 * ```
 */
export function readTogether(talk: readonly Said[]): readonly (readonly Stretch[])[] {
  checkArgument("talk", talk, "array");
  const all = talk.flatMap(({ text }, place) => (text === "" ? [] : [place]));
  const of = (keeps: (role: string) => boolean): readonly number[] => all.filter((place) => keeps(talk[place]?.role ?? ""));
  const roles = new Set(talk.map(({ role }) => role));
  const read = [all, of((role) => role !== "assistant"), ...[...roles].map((role) => of((each) => each === role))];
  const different = new Map(read.map((places) => [places.join(), places]));
  return [...different.values()].flatMap((places) => chains(talk, places));
}

/** Stretches that follow one another, cut within long texts, and of many texts in pieces that lie over one another by half. */
function chains(talk: readonly Said[], places: readonly number[]): readonly (readonly Stretch[])[] {
  const found: (readonly Stretch[])[] = [];
  let chain: Stretch[] = [];
  let length = 0;
  const closed = (): void => {
    if (chain.length > 1) found.push(chain);
  };
  for (const place of places) {
    const { length: end } = talk[place]?.text ?? "";
    const cut = end > 2 * EDGE;
    chain.push({ place, start: 0, end: cut ? EDGE : end });
    length += cut ? EDGE : end;
    if (cut) {
      closed();
      chain = [{ place, start: end - EDGE, end }];
      length = EDGE;
    } else if (length > LONGEST) {
      closed();
      chain = chain.slice(Math.ceil(chain.length / 2));
      length = chain.reduce((sum, stretch) => sum + stretch.end - stretch.start, 0);
    }
  }
  closed();
  return found;
}

/** Words as they are written, also two without a blank: a message ends and the next begins. */
const WORDS = /^(?:\p{Lu}?[\p{Ll}'’.,-]*(?:\p{Lu}[\p{Ll}'’.,-]*)?(?:\s+|$))*$/u;
/** Longest answer to a question that is a value and little else, and where in it the value begins. */
const LONGEST_ANSWER = 128;
const BEGINS = 12;

/**
 * Whether what is found in texts that are read as one says something that no text says for itself: it lies over an end, or is the answer to what the text before it asks for. Names, places and whatever else is words do not count: any two
 * texts beside one another may make them.
 *
 * @example
 * ```ts
 * import { countsAcross } from "@seneschal/governance";
 * console.log(countsAcross(["536-22", "-8726"], 0, 11), countsAcross(["I am Bob", "What"], 5, 12)); // true false
 * ```
 */
export function countsAcross(parts: readonly string[], start: number, end: number): boolean {
  checkArgument("parts", parts, "array");
  checkArgument("start", start, "number");
  checkArgument("end", end, "number");
  let from = 0;
  let first = 0;
  while (first < parts.length - 1 && from + (parts[first]?.length ?? 0) <= start) from += parts[first++]?.length ?? 0;
  const { length } = parts[first] ?? "";
  const answers = first > 0 && start - from <= BEGINS && length <= LONGEST_ANSWER;
  return (end > from + length || answers) && !WORDS.test(parts.join("").slice(start, end));
}
