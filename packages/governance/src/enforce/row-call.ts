import type { RowValue } from "@seneschal/kernel/ports";
import { governanceError } from "../errors.ts";
import { plainNumber } from "../redaction/known-values.ts";
import type { EnforcedDialect } from "./sql-text.ts";

export const COLUMN_TYPES = ["text", "integer", "numeric", "boolean"] as const;

/** What a field of a condition is in its database. */
export interface ConditionColumn {
  /** Dotted, as queries have to name it: `owner`, `orders.owner`. */
  readonly column: string;
  /**
   * `text` (TEXT, VARCHAR, STRING; not CHAR(n), which is padded), `integer` (at most 64 bits), `numeric` (exact decimals), `boolean`. Floating-point numbers, dates and others are none of them.
   */
  readonly type: (typeof COLUMN_TYPES)[number];
}

/** A column, or what was computed before, as SQL: a text by its code points. */
export interface ComputedPart {
  readonly sql: string;
  readonly type: ConditionColumn["type"];
  /** Digits that a number has at most. */
  readonly digits: number;
}

export type CallArgument = ComputedPart | { readonly value: RowValue };

/** Integers of 64 bits have so many digits. */
export const INTEGER_DIGITS = 19;

/** So many digits a computed integer may have: what is wider the database rounds, or ends the statement. */
const MAX_DIGITS: Readonly<Record<EnforcedDialect, number>> = { postgres: 1000, bigquery: 38, snowflake: 38 };
const WIDEST: Readonly<Record<EnforcedDialect, string>> = {
  postgres: "NUMERIC",
  bigquery: "BIGNUMERIC",
  snowflake: "NUMBER(38, 0)",
};
const SIGNS: Readonly<Record<string, string>> = { plus: "+", minus: "-", mul: "*" };
const MAX_LENGTH = 65_536;

/**
 * What a function of Rego makes of columns, as SQL that gives the same for every row: integers with all their digits, texts by code points. Of a NULL it is NULL. `undefined`: it has no value for any row,
 * as an argument is of another kind than it takes. Throws `validation_failed` for what the dialect computes otherwise, or may.
 */
export function callSql(
  dialect: EnforcedDialect,
  call: string,
  args: readonly CallArgument[],
  parameter: (value: string, type?: string) => string,
): ComputedPart | undefined {
  const [first] = args;
  const column = (arg: CallArgument): ComputedPart | undefined => ("sql" in arg ? arg : undefined);
  const constant = (arg: CallArgument | undefined): RowValue | undefined =>
    arg !== undefined && "value" in arg ? arg.value : undefined;
  const kindOf = (arg: CallArgument): "number" | "text" | undefined => {
    const own = column(arg);
    if (own !== undefined) return own.type === "boolean" ? undefined : own.type === "text" ? "text" : "number";
    const value = constant(arg);
    return typeof value === "string" ? "text" : typeof value === "number" || isDigits(value) ? "number" : undefined;
  };
  const wide = (arg: CallArgument): ComputedPart => {
    const own = column(arg);
    if (own?.type === "numeric") throw refused(`${call} of ${own.sql}: it may have fractions, which the policy rounds otherwise`);
    if (own !== undefined) return { ...own, sql: `CAST(${own.sql} AS ${WIDEST[dialect]})` };
    const plain = integer(constant(arg));
    return { sql: parameter(plain, WIDEST[dialect]), type: "integer", digits: plain.replace("-", "").length };
  };
  const number = (sql: string, digits: number): ComputedPart => {
    if (digits > MAX_DIGITS[dialect]) throw refused(`${call} may have more than ${MAX_DIGITS[dialect]} digits`);
    return { sql, type: "integer", digits };
  };
  const text = (sql: string): ComputedPart => {
    if (sql.length > MAX_LENGTH) throw refused(`${call}: what is computed is too long`);
    return { sql, type: "text", digits: 0 };
  };
  const known = (at: number): string => {
    const value = constant(args[at]);
    if (typeof value !== "string" || !isWritten(value)) throw refused(`${call}: an argument cannot be written`);
    return value;
  };

  if (first === undefined) throw refused(`${call} has no arguments`);
  if (Object.hasOwn(SIGNS, call)) {
    if (args.length !== 2) throw refused(`${call} has two arguments`);
    if (args.some((arg) => kindOf(arg) !== "number")) return undefined;
    const [a, b] = args.map(wide) as [ComputedPart, ComputedPart];
    return number(`(${a.sql} ${SIGNS[call]} ${b.sql})`, call === "mul" ? a.digits + b.digits : Math.max(a.digits, b.digits) + 1);
  }
  if (call === "abs") {
    if (kindOf(first) !== "number") return undefined;
    const { sql, digits } = wide(first);
    return number(`ABS(${sql})`, digits);
  }
  if (call === "concat") {
    if (args.some((arg) => kindOf(arg) !== "text")) return undefined;
    const parts = args.map((arg, i) => column(arg)?.sql ?? parameter(known(i)));
    return text(parts.length === 1 ? (parts[0] as string) : `(${parts.join(" || ")})`);
  }
  const own = column(first);
  if (own === undefined) throw refused(`${call} is of no column`);
  if (!TEXT_CALLS.has(call)) throw refused("a function is not known");
  if (own.type !== "text") return undefined;
  const x = own.sql;
  if (call === "count") return number(`LENGTH(${x})`, 10);
  if (call === "substring") {
    const [from, length] = [1, 2].map((at) => Number(integer(constant(args[at]))));
    if (from === undefined || length === undefined || !(from >= 0)) throw refused("substring has an offset and a length");
    const cut = `SUBSTR(${x}, ${Math.min(from, MAX_CHARACTERS) + 1}`;
    return text(length < 0 ? `${cut})` : `${cut}, ${Math.min(length, MAX_CHARACTERS)})`);
  }
  // What they do with a text of a collation is not said there.
  if (dialect === "snowflake") throw refused(`${call}: not on this database`);
  const postgres = dialect === "postgres";
  if (call === "lower" || call === "upper") {
    const { from, to } = caseTable(call === "upper");
    const bytes = postgres ? "OCTET_LENGTH" : "BYTE_LENGTH";
    const all = `TRANSLATE(${x}, ${parameter(from)}, ${parameter(to)})`;
    return text(`CASE WHEN ${bytes}(${x}) = LENGTH(${x}) THEN ${call.toUpperCase()}(${x}) ELSE ${all} END`);
  }
  const part = known(1);
  if (call === "replace") {
    if (part === "") throw refused("replace of the empty text");
    return text(`REPLACE(${x}, ${parameter(part)}, ${parameter(known(2))})`);
  }
  if (part === "") return own;
  const size = [...part].length;
  switch (call) {
    case "trim":
      return text(`${postgres ? "BTRIM" : "TRIM"}(${x}, ${parameter(part)})`);
    case "trim_left":
      return text(`LTRIM(${x}, ${parameter(part)})`);
    case "trim_right":
      return text(`RTRIM(${x}, ${parameter(part)})`);
    case "trim_prefix":
      return text(`CASE WHEN STARTS_WITH(${x}, ${parameter(part)}) THEN SUBSTR(${x}, ${size + 1}) ELSE ${x} END`);
    default: {
      const ends = postgres ? `RIGHT(${x}, ${size}) = ${parameter(part)}` : `ENDS_WITH(${x}, ${parameter(part)})`;
      return text(`CASE WHEN ${ends} THEN LEFT(${x}, LENGTH(${x}) - ${size}) ELSE ${x} END`);
    }
  }
}

const TEXT_CALLS: ReadonlySet<string> = new Set(
  "count substring lower upper replace trim trim_left trim_right trim_prefix trim_suffix".split(" "),
);

/** More than any text of a database has. */
const MAX_CHARACTERS = 2 ** 31 - 2;

const CASES = new Map<boolean, { readonly from: string; readonly to: string }>();

/**
 * Rego's `lower` and `upper` (Go's simple case mapping) as a table of characters. Those of databases hang on collations and map one letter to several.
 */
function caseTable(upper: boolean): { readonly from: string; readonly to: string } {
  const made = CASES.get(upper);
  if (made !== undefined) return made;
  let [from, to] = ["", ""];
  // No letter beyond has two cases.
  for (let code = 0; code < 0x20000; code++) {
    const letter = String.fromCodePoint(code);
    const mapped = upper ? letter.toUpperCase() : letter === "\u0130" ? "i" : letter.toLowerCase();
    if (mapped === letter || [...mapped].length > 1) continue;
    from += letter;
    to += mapped;
  }
  const table = { from, to };
  CASES.set(upper, table);
  return table;
}

const isDigits = (value: unknown): value is { readonly number: string } =>
  typeof value === "object" && value !== null && typeof (value as { number?: unknown }).number === "string";

function integer(value: unknown): string {
  const digits =
    typeof value === "number" ? (Number.isSafeInteger(value) ? String(value) : "") : isDigits(value) ? value.number : "";
  const plain = plainNumber(digits);
  if (plain === undefined || plain.includes(".") || plain.length > 1000)
    throw refused("a number is no integer that can be written");
  return plain;
}

/** True for a text that databases take as a value. */
export const isWritten = (value: string): boolean => !/[\0\p{Cs}]/u.test(value);

function refused(reason: string): Error {
  return governanceError("validation_failed", `row condition: ${reason}`, { field: "condition", reason });
}
