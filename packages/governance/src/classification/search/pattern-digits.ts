import type { AST } from "@eslint-community/regexpp";
import {
  ANY_TEXT,
  EMPTY,
  either,
  type FirstDigitRun,
  joined,
  lengthsOf,
  ONE_DIGIT,
  ONE_OTHER,
  repeated,
} from "./first-digit-run.ts";
import type { ParsedPattern } from "./parse-pattern.ts";

/** What is known of the digits (0 to 9) in every match of a pattern. */
export interface PatternDigits {
  /** Fewest and most digits of a match. */
  readonly least: number;
  readonly most: number;
  /** Longest match, in UTF-16 code units. */
  readonly longest: number;
  /** No digit stands before or behind a match: the runs of digits in it are whole ones. */
  readonly whole: boolean;
  /** How long its first run of digits may be, see {@link FirstDigitRun}; bit 0: it may have none. */
  readonly firstDigitRun: number;
}

interface Extent extends Pick<PatternDigits, "least" | "most" | "longest"> {
  readonly first: FirstDigitRun;
}

const NOTHING: Extent = { least: 0, most: 0, longest: 0, first: EMPTY };
const ANYTHING: Extent = { least: 0, most: Number.POSITIVE_INFINITY, longest: Number.POSITIVE_INFINITY, first: ANY_TEXT };

/** Of a pattern that nothing is known of. */
const ANY_DIGITS: PatternDigits = {
  least: 0,
  most: ANYTHING.most,
  longest: ANYTHING.longest,
  whole: false,
  firstDigitRun: -1,
};

const DIGITS = [..."0123456789"];

/** What is known of a pattern's matches. What cannot be read may be anything. */
export function patternDigits(pattern: ParsedPattern | undefined): PatternDigits {
  if (pattern === undefined) return ANY_DIGITS;
  const { alternatives, unicode } = pattern;

  const of = (node: AST.Element): Extent => {
    switch (node.type) {
      case "Assertion":
        return NOTHING;
      case "Character":
        return character(isDigit(node.value), isDigit(node.value), unicode ? 2 : 1);
      case "CharacterSet":
      case "CharacterClass":
        return character(isDigitOnly(node), takes(node).length > 0, unicode ? 2 : 1);
      case "Quantifier":
        return times(of(node.element), node.min, node.max);
      case "Group":
      case "CapturingGroup":
        return oneOf(node.alternatives);
      default:
        return ANYTHING;
    }
  };
  const oneOf = (list: readonly AST.Alternative[]): Extent =>
    list.map(({ elements }) => elements.map(of).reduce(inTurn, NOTHING)).reduce(eitherOr);
  /** Those of the ten digits that one character of the pattern takes. */
  const takes = ({ raw }: AST.CharacterSet | AST.CharacterClass): string[] => {
    const one = new RegExp(raw, unicode ? "u" : "");
    return DIGITS.filter((digit) => one.test(digit));
  };
  const refusesDigit = (elements: readonly AST.Element[], side: "lookbehind" | "lookahead"): boolean => {
    for (const node of side === "lookbehind" ? elements : [...elements].reverse()) {
      if (node.type !== "Assertion") return false;
      if (node.kind !== side || !node.negate) continue;
      for (const { elements: inner } of node.alternatives) {
        const [one] = inner;
        if (inner.length !== 1 || one === undefined) continue;
        if ((one.type === "CharacterSet" || one.type === "CharacterClass") && takes(one).length === 10) return true;
      }
    }
    return false;
  };
  const whole = alternatives.every(({ elements }) => refusesDigit(elements, "lookbehind") && refusesDigit(elements, "lookahead"));
  const { least, most, longest, first } = oneOf(alternatives);
  return { least, most, longest, whole, firstDigitRun: lengthsOf(first) };
}

function character(onlyDigits: boolean, digits: boolean, longest: number): Extent {
  const first = onlyDigits ? ONE_DIGIT : digits ? either(ONE_DIGIT, ONE_OTHER) : ONE_OTHER;
  return { least: onlyDigits ? 1 : 0, most: digits ? 1 : 0, longest, first };
}

function inTurn(one: Extent, other: Extent): Extent {
  return {
    least: one.least + other.least,
    most: one.most + other.most,
    longest: one.longest + other.longest,
    first: joined(one.first, other.first),
  };
}

function eitherOr(one: Extent, other: Extent): Extent {
  return {
    least: Math.min(one.least, other.least),
    most: Math.max(one.most, other.most),
    longest: Math.max(one.longest, other.longest),
    first: either(one.first, other.first),
  };
}

function times({ least, most, longest, first }: Extent, min: number, max: number): Extent {
  return {
    least: product(least, min),
    most: product(most, max),
    longest: product(longest, max),
    first: repeated(first, min, max),
  };
}

/** `0 * Infinity` is 0 here: nothing, however often. */
function product(extent: number, count: number): number {
  return extent === 0 || count === 0 ? 0 : extent * count;
}

function isDigitOnly(node: AST.Character | AST.CharacterSet | AST.CharacterClass | AST.CharacterClassRange): boolean {
  switch (node.type) {
    case "Character":
      return isDigit(node.value);
    case "CharacterClassRange":
      return isDigit(node.min.value) && isDigit(node.max.value);
    case "CharacterSet":
      return node.kind === "digit" && !node.negate;
    default:
      return !node.negate && node.elements.length > 0 && (node.elements as readonly (typeof node)[]).every(isDigitOnly);
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
