/** Dialects in which the parser goes back over each call in brackets several times, so that its time doubles with each level. */
const COSTLY: ReadonlySet<string> = new Set(["postgres", "mssql"]);
/** Levels of calls that such a dialect takes in milliseconds. */
const COSTLY_DEPTH = 10;
/** Levels of brackets: beyond, the parser gives up by itself, or its time grows with the square. */
const DEPTH = 200;
/** `INTERVAL INTERVAL ...` doubles the time in every dialect. */
const INTERVALS = /\binterval(?:\s{1,64}interval){5}\b/i;

/**
 * Whether a parser should be asked at all, by the nesting of brackets: one pass over the text, and none of its quotes and comments. A text that hides its brackets from this rule is
 * ended by the deadline of who parses.
 */
export function isAffordable(sql: string, dialect: string): boolean {
  if (INTERVALS.test(sql)) return false;
  const costly = COSTLY.has(dialect);
  // For each open bracket, whether it is a call's.
  const open: boolean[] = [];
  let calls = 0;
  let word = false;
  for (let i = 0; i < sql.length; i++) {
    const c = sql.charCodeAt(i);
    if (c === 0x28 || c === 0x5b || c === 0x7b) {
      open.push(word);
      if (word) calls++;
      if (open.length > DEPTH || (costly && calls > COSTLY_DEPTH)) return false;
      word = false;
    } else if (c === 0x29 || c === 0x5d || c === 0x7d) {
      if (open.pop() === true) calls--;
      word = false;
    } else if (c === 0x27 || c === 0x22 || c === 0x60) {
      i = endOfQuote(sql, i, c);
      word = c !== 0x27;
    } else if (c === 0x2d && sql.charCodeAt(i + 1) === 0x2d) i = endOf(sql, "\n", i);
    else if (c === 0x2f && sql.charCodeAt(i + 1) === 0x2a) i = endOf(sql, "*/", i + 2);
    // Spaces between a name and its bracket change nothing.
    else if (c > 0x20) word = (c | 0x20) >= 0x61 ? (c | 0x20) <= 0x7a || c > 0x7f || c === 0x5f : c >= 0x30 && c <= 0x39;
  }
  return true;
}

function endOfQuote(sql: string, from: number, quote: number): number {
  const end = sql.indexOf(String.fromCharCode(quote), from + 1);
  return end < 0 ? sql.length : end;
}

function endOf(sql: string, what: string, from: number): number {
  const end = sql.indexOf(what, from);
  return end < 0 ? sql.length : end + what.length - 1;
}
