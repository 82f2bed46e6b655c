import { sqlTokens } from "./split-statements.ts";

/**
 * What the parser may need for a text at most, in steps. sqlparser-rs reads what stands inside a CASE, a CAST, an INTERVAL or the brackets of a FROM again when an alternative fails, in some dialects
 * the arguments of every call too: each level may double the work, some treble it. Plain parentheses cost nothing extra.
 */
export function parseCost(sql: string, dialect: string): number {
  if (!mayNest(sql)) return 0;
  const again = REREADS_CALLS.has(dialect);
  let cost = 0;
  let level = 0;
  /** What each open bracket added to the level, with the CASEs inside it. */
  const open = [0];
  const deeper = (by: number): void => {
    level += by;
    open[open.length - 1] = (open.at(-1) ?? 0) + by;
  };
  let before = "";
  let interval = false;
  for (const { text, quoted } of sqlTokens(sql)) {
    const word = quoted ? '"' : text.toLowerCase();
    if (word === "(" || word === "[" || word === "{") {
      open.push(0);
      if (interval) deeper(1);
      if (before === "from" || before === "join") deeper(1);
      else if (TYPED.has(before)) deeper(again ? 1.8 : 1);
      else if (word !== "(" || (again && /^["a-z_\u0080-\uffff]/.test(before) && !CLAUSES.has(before))) deeper(1.2);
    } else if (word === ")" || word === "]" || word === "}") {
      if (open.length > 1) level -= open.pop() ?? 0;
    } else if (word === "case" || (word === "interval" && before === "interval")) deeper(1);
    else if (word === "end" && (open.at(-1) ?? 0) >= 1) deeper(-1);
    if (level > WORTH_COUNTING && (word === "(" || word === "[" || word === "{" || word === "case" || word === "interval"))
      cost += 2 ** level;
    interval = before === "interval" || word === "interval";
    before = word;
  }
  return cost;
}

/** Steps beyond which a text is not given to the parser: some tenths of a second. */
export const MAX_PARSE_COST = 2 ** 15;

const WORTH_COUNTING = 6;

/** Dialects in which arguments are read twice. */
const REREADS_CALLS: ReadonlySet<string> = new Set(["postgres", "mssql", "snowflake"]);

/** Words before a parenthesis that make it none of a call. */
const CLAUSES: ReadonlySet<string> = new Set(
  "select where and or in as on by using values with union all except intersect when then else having set any some over".split(
    " ",
  ),
);
const TYPED: ReadonlySet<string> = new Set(
  "cast try_cast safe_cast convert try_convert substring substr ceil ceiling floor overlay position trim not extract interval".split(
    " ",
  ),
);

/** A cheap look: few brackets cannot nest deep. */
function mayNest(sql: string): boolean {
  let count = 0;
  for (const bracket of ["(", "[", "{"])
    for (let at = sql.indexOf(bracket); at >= 0; at = sql.indexOf(bracket, at + 1)) if (++count > WORTH_COUNTING) return true;
  return (sql.match(/\b(?:case|interval)\b/gi)?.length ?? 0) + count > WORTH_COUNTING;
}
