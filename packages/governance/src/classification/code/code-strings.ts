const QUOTE = /["'`]/g;
/** What stands between two texts that are one: nothing, an operator, the end of a line, a call that goes on with it. */
const JOINS =
  /\s{0,99}(?:\+=?|&|\.|\|\||<>|\\|\)\s{0,9}(?:;\s{0,9}\w{1,60})?\.\s{0,9}(?:append|add|concat|write|push)\w{0,20}\s{0,9}\()?\s{0,99}[frbun@$]{0,3}(?=["'`])/iy;
/** Something else between them, or behind the last one: a variable, a call. */
const BETWEEN =
  /\s{0,99}(?:\+|&|\.|\|\|)\s{0,99}([\w$][\w.$()[\]]{0,80}?)\s{0,99}(?:\+|&|\.|\|\|)\s{0,99}[frbun@$]{0,3}(?=["'`])/iy;
const BEHIND = /\s{0,99}(?:\+|&|\|\||\.\s)\s{0,9}[\w$(]/y;
const LISTED = /\b(?:concat(?:_ws)?|join|format)\s{0,9}\(\s{0,9}\[?\s{0,9}$|\[\s{0,9}$/i;
const COMMA = /\s{0,99},\s{0,99}[frbun@$]{0,3}(?=["'`])/iy;
/** A text of a piece of code, and where it stands with all of its pieces. */
interface CodeString {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const MAX_STRINGS = 500;
const MAX_LENGTH = 100_000;

/**
 * The texts in a piece of code of whatever language: between quotes, three quotes or backticks, those that it joins as one (`'SEL' + 'ECT a'`, `concat('SEL', 'ECT a')`, one behind the other), with `#{x}`
 * where it puts something else in.
 */
export function codeStrings(code: string): readonly CodeString[] {
  const found: CodeString[] = [];
  let budget = MAX_LENGTH;
  QUOTE.lastIndex = 0;
  for (let open = QUOTE.exec(code); open !== null && found.length < MAX_STRINGS && budget > 0; open = QUOTE.exec(code)) {
    const listed = LISTED.test(code.slice(Math.max(0, open.index - 40), open.index));
    let text = "";
    let at = open.index;
    for (;;) {
      const piece = stringAt(code, at);
      if (piece === undefined) break;
      text += piece.text;
      at = piece.end;
      const next = gapAt(code, at, listed);
      if (next === undefined) break;
      text += next.instead;
      at = next.end;
    }
    if (at === open.index) continue;
    BEHIND.lastIndex = at;
    if (BEHIND.test(code)) text += "#{x}";
    if (text.length > 3) found.push({ text, start: open.index, end: at });
    budget -= at - open.index;
    QUOTE.lastIndex = at;
  }
  return found;
}

/** What is between two pieces of one text, where the second begins. */
function gapAt(code: string, from: number, listed: boolean): { readonly instead: string; readonly end: number } | undefined {
  const forms: readonly (readonly [gap: RegExp, instead: string])[] = [
    [JOINS, ""],
    ...(listed ? ([[COMMA, ""]] as const) : []),
    [BETWEEN, "#{x}"],
  ];
  for (const [gap, instead] of forms) {
    gap.lastIndex = from;
    if (gap.test(code)) return { instead, end: gap.lastIndex };
  }
  return undefined;
}

function stringAt(code: string, open: number): { readonly text: string; readonly end: number } | undefined {
  const quote = code[open] ?? "";
  const close = code.startsWith(quote.repeat(3), open) ? quote.repeat(3) : quote;
  const from = open + close.length;
  for (let at = from; at < code.length && at - from < MAX_LENGTH; at++) {
    if (code[at] === "\\") at++;
    else if (code.startsWith(close, at)) {
      // A fence of Markdown begins with the name of a language.
      const inner = code.slice(from, at).replace(close === "```" ? /^\w{0,20}\s/ : "", "");
      return { text: inner.replace(/\\(["'`\\])/g, "$1").replace(/\\[nrt]/g, " "), end: at + close.length };
    } else if (code[at] === "\n" && close.length === 1 && quote !== "`" && at - from > 4000) return undefined;
  }
  return undefined;
}

/** A text with what URLs encode written out; the same text where nothing is. */
export function withoutUrlEncoding(text: string): string {
  return /%[2-7][0-9a-f]/i.test(text)
    ? text.replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;
}
