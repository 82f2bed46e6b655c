import { type AST, RegExpParser } from "@eslint-community/regexpp";

/** What a regular expression is made of, and how it reads letters. */
export interface ParsedPattern {
  readonly alternatives: readonly AST.Alternative[];
  readonly unicode: boolean;
  readonly ignoreCase: boolean;
}

/** `undefined` of what is not read: the sets of the flag `v`. */
export function parsePattern({ source, flags, unicode, ignoreCase }: RegExp): ParsedPattern | undefined {
  if (flags.includes("v")) return undefined;
  return { ...new RegExpParser().parsePattern(source, 0, source.length, { unicode }), unicode, ignoreCase };
}
