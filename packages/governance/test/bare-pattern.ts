import { RegExpParser, visitRegExpAST } from "@eslint-community/regexpp";

/** A pattern for whole texts, without what has to stand around a match: `stringMatching` makes the match alone. */
export function barePattern({ source, flags }: RegExp): RegExp {
  const unicode = flags.includes("u");
  let left = "";
  let at = 0;
  visitRegExpAST(new RegExpParser().parsePattern(source, 0, source.length, { unicode }), {
    onAssertionEnter({ start, end }) {
      if (start < at) return;
      left += source.slice(at, start);
      at = end;
    },
  });
  return new RegExp(`^(?:${left}${source.slice(at)})$`, unicode ? "u" : "");
}
