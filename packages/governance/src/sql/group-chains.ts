import { type SqlToken, sqlTokens } from "./split-statements.ts";

/** Operators in a row that the parser reads as they stand: it nests each in the next, and its stack is small. */
const LONG = 256;
const GROUP = 64;

/** Words that end an expression or begin another. */
const ENDS: ReadonlySet<string> = new Set(
  (
    "select from where group order by having limit offset fetch qualify window on using join union except intersect minus when then else end " +
    "set values returning output into with as over filter xor insert update delete merge create if elseif elsif while do begin declare return for"
  ).split(" "),
);

const CLOSERS: ReadonlySet<string> = new Set([")", "]", "}", "end"]);

/**
 * A text whose long rows of OR and AND, as programs write them, stand in parentheses by 64 and these by 64 again: the same condition, nested less deep. The first and the last operand of a row stay
 * as they are, as only what stands between two operators is surely a whole one.
 */
export function groupChains(sql: string): string {
  if ((sql.match(/\b(?:or|and)\b/gi)?.length ?? 0) <= LONG) return sql;
  const marks: { readonly at: number; readonly text: string }[] = [];
  const group = (row: readonly SqlToken[]): void => {
    if (row.length <= LONG) return;
    for (let size = GROUP; size < row.length; size *= GROUP)
      for (let i = 0; i + size < row.length; i += size)
        marks.push({ at: row[i]?.end ?? 0, text: " (" }, { at: row[i + size]?.start ?? 0, text: ") " });
  };
  interface Rows {
    or: SqlToken[];
    and: SqlToken[];
    between: boolean;
  }
  const none = (): Rows => ({ or: [], and: [], between: false });
  const open: { readonly by: string; readonly rows: Rows }[] = [{ by: "", rows: none() }];
  const end = (rows: Rows): void => {
    group(rows.or);
    group(rows.and);
    Object.assign(rows, none());
  };
  let before = "";
  for (const token of sqlTokens(sql)) {
    const { rows, by } = open.at(-1) as (typeof open)[number];
    const word = token.text.toLowerCase();
    // Of a script: `END CASE` opens nothing.
    if (word === "(" || word === "[" || word === "{" || (word === "case" && before !== "end"))
      open.push({ by: word, rows: none() });
    else if (CLOSERS.has(word)) {
      end(rows);
      // A bracket closes what was left open within it, too.
      if (word !== "end") while (open.length > 1 && open.at(-1)?.by === "case") end((open.pop() as (typeof open)[number]).rows);
      if (open.length > 1 && (word !== "end" || by === "case")) open.pop();
    } else if (word === "or") {
      group(rows.and);
      Object.assign(rows, { and: [], between: false });
      rows.or.push(token);
    } else if (word === "between") rows.between = true;
    else if (word === "and") {
      if (rows.between) rows.between = false;
      else rows.and.push(token);
    } else if (word === "," || word === ";" || ENDS.has(word)) end(rows);
    before = word;
  }
  for (const { rows } of open) end(rows);
  let text = "";
  let from = 0;
  for (const mark of marks.sort((a, b) => a.at - b.at)) {
    text += sql.slice(from, mark.at) + mark.text;
    from = mark.at;
  }
  return text + sql.slice(from);
}
