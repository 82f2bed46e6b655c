import { checkArgument } from "@seneschal/kernel";
import type { RowCondition, RowValue } from "@seneschal/kernel/ports";
import { governanceError } from "../errors.ts";
import { plainNumber } from "../redaction/known-values.ts";
import { quoted } from "./table-query.ts";
import type { EnforcedDialect } from "./table-rules.ts";

export type { RowCondition };

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

export interface SqlCondition {
  /** True for the rows that pass; false or NULL for others, so that it is joined to others by AND. */
  readonly sql: string;
  /** In the order of their placeholders: `$1`, `$2` for PostgreSQL, `?` for the others. All are texts, which the statement casts. */
  readonly parameters: readonly string[];
}

/** Of conditions that rules make. */
const MAX_DEPTH = 500;

/**
 * A condition as SQL that is true exactly for the rows that meet it. Values are parameters and names are quoted, so that nothing of them becomes SQL; texts are compared by their code points,
 * whatever the collation of their column. `first`: the number of the first placeholder. Throws `validation_failed` for a field that `columns` does not have, and for what the dialect cannot say.
 *
 * @example
 * ```ts
 * import { conditionSql } from "@seneschal/governance";
 * const { sql, parameters } = conditionSql(
 *   "postgres",
 *   { type: "field", operator: "lt", field: "input.row.level", value: 3 },
 *   { "input.row.level": { column: "level", type: "integer" } },
 * );
 * console.log(sql, parameters); // ("level" < CAST($1 AS BIGINT) OR "level" IS NULL) [ '3' ]
 * ```
 */
export function conditionSql(
  dialect: EnforcedDialect,
  condition: RowCondition,
  columns: Readonly<Record<string, ConditionColumn>>,
  first = 1,
): SqlCondition {
  checkArgument("dialect", dialect, "string");
  checkArgument("condition", condition, "object");
  checkArgument("columns", columns, "object");
  checkArgument("first", first, "number");
  const writer = new Writer(dialect, columns, first);
  return writer.finish(writer.condition(condition, false, 0));
}

const TRUE = "TRUE";
const FALSE = "FALSE";

type Comparison = "eq" | "ne" | "lt" | "le" | "gt" | "ge";

const SIGNS: Readonly<Record<Comparison, string>> = { eq: "=", ne: "<>", lt: "<", le: "<=", gt: ">", ge: ">=" };
const OPPOSITE: Readonly<Record<Comparison, Comparison>> = { eq: "ne", ne: "eq", lt: "ge", ge: "lt", gt: "le", le: "gt" };

/** Rego's order of kinds: null, booleans, numbers, texts. */
const RANKS: Readonly<Record<ConditionColumn["type"], number>> = { boolean: 1, integer: 2, numeric: 2, text: 3 };

interface Column {
  readonly name: string;
  readonly type: ConditionColumn["type"];
}

/** The kind, and how it is written; booleans as they are. */
type Operand =
  | { readonly rank: 0 }
  | { readonly rank: 1; readonly value: boolean }
  | { readonly rank: 2 | 3; readonly value: string };

class Writer {
  /** Values by the number that stands for each between two characters that no name holds, until the whole is known. */
  readonly #values: { readonly value: string; readonly type: string }[] = [];
  readonly #dialect: EnforcedDialect;
  readonly #columns: Readonly<Record<string, ConditionColumn>>;
  readonly #first: number;

  constructor(dialect: EnforcedDialect, columns: Readonly<Record<string, ConditionColumn>>, first: number) {
    if (!Object.hasOwn(TEXT_TYPES, dialect)) throw refused("no such dialect");
    if (!Number.isSafeInteger(first) || first < 1) throw refused("first is no number of a placeholder");
    this.#dialect = dialect;
    this.#columns = columns;
    this.#first = first;
  }

  /** `opposite`: of the rows that do not meet it. */
  condition(c: RowCondition, opposite: boolean, depth: number): string {
    if (typeof c !== "object" || c === null || depth > MAX_DEPTH) throw refused("it is none, or too deep");
    if (c.type === "compound") {
      if (!Array.isArray(c.value)) throw refused(`${String(c.operator)} has no parts`);
      if (c.operator === "not") {
        if (c.value.length !== 1) throw refused("not has one part");
        return this.condition(c.value[0] as RowCondition, !opposite, depth + 1);
      }
      if (c.operator !== "and" && c.operator !== "or") throw refused("an operator is not known");
      const parts = c.value.map((part) => this.condition(part, opposite, depth + 1));
      return (c.operator === "and") === opposite ? any(parts) : all(parts);
    }
    if (c.type !== "field") throw refused("it is none");
    const column = this.#column(c.field);
    switch (c.operator) {
      case "exists":
        return opposite ? FALSE : TRUE;
      case "in":
        if (!Array.isArray(c.value)) throw refused("in has no values");
        return this.#in(
          column,
          c.value.map((value) => this.#operand(value)),
          opposite,
        );
      case "startswith":
      case "endswith":
      case "contains":
        return this.#holds(c.operator, column, c.value, opposite);
      case "eq":
      case "ne":
      case "lt":
      case "le":
      case "gt":
      case "ge": {
        const operator = opposite ? OPPOSITE[c.operator] : c.operator;
        const { value } = c;
        if (typeof value === "object" && value !== null && "field" in value)
          return this.#columnsCompared(operator, column, this.#column(value.field));
        return this.#compared(operator, column, this.#operand(value));
      }
      default:
        throw refused("an operator is not known");
    }
  }

  #column(field: string): Column {
    const known = typeof field === "string" && Object.hasOwn(this.#columns, field) ? this.#columns[field] : undefined;
    if (known === undefined) throw refused(`no column is named for ${field}`);
    const { column, type } = known;
    if (typeof column !== "string" || !Object.hasOwn(RANKS, type)) throw refused(`the column of ${field} has no name or no type`);
    const name = column
      .split(".")
      .map((part) => quoted(this.#dialect, part))
      .join(".");
    return { name, type };
  }

  #operand(value: RowValue): Operand {
    if (value === null) return { rank: 0 };
    if (typeof value === "boolean") return { rank: 1, value };
    if (typeof value === "string") return { rank: 3, value: checkedText(value) };
    if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value))
      throw refused("a number was rounded");
    const digits = typeof value === "number" ? String(value) : value.number;
    const plain = typeof digits === "string" ? plainNumber(digits) : undefined;
    if (plain === undefined || plain.length > 1000) throw refused("a number cannot be written");
    return { rank: 2, value: plain };
  }

  // --- what fields become --------------------------------------------------------------------------------------------

  #compared(operator: Comparison, { name, type }: Column, operand: Operand): string {
    const { rank } = operand;
    const own = RANKS[type];
    // Of NULL: it is null, less than whatever is not.
    const nullHolds =
      rank === 0
        ? operator === "eq" || operator === "le" || operator === "ge"
        : operator === "ne" || operator === "lt" || operator === "le";
    if (operand.rank !== own) {
      const holds =
        operator === "ne" || (own < rank ? operator === "lt" || operator === "le" : operator === "gt" || operator === "ge");
      return ofColumn(name, nullHolds, holds);
    }
    if (operand.rank === 1)
      return this.#booleans(name, nullHolds, (value) => compares(operator, Number(value) - Number(operand.value)));
    const value = (operand as { readonly value: string }).value;
    return any([
      type === "text" ? this.#text(operator, name, value) : `${name} ${SIGNS[operator]} ${this.#number(value)}`,
      ...(nullHolds ? [`${name} IS NULL`] : []),
    ]);
  }

  #booleans(name: string, nullHolds: boolean, holds: (value: boolean) => boolean): string {
    const [no, yes] = [holds(false), holds(true)];
    if (no === yes) return ofColumn(name, nullHolds, yes);
    return any([`${name} = ${yes ? TRUE : FALSE}`, ...(nullHolds ? [`${name} IS NULL`] : [])]);
  }

  /** By code points. An equality is written in the column's own collation too, which never tells equal texts apart, so that an index can serve it. */
  #text(operator: Comparison, name: string, value: string): string {
    const exact = `${this.#binary(name)} ${SIGNS[operator]} ${this.#parameter(value)}`;
    return operator === "eq" ? all([`${name} = ${this.#parameter(value)}`, exact]) : exact;
  }

  #columnsCompared(operator: Comparison, a: Column, b: Column): string {
    if (operator === "gt") return this.#columnsCompared("lt", b, a);
    if (operator === "ge") return this.#columnsCompared("le", b, a);
    const isNull = ({ name }: Column) => `${name} IS NULL`;
    const isNot = ({ name }: Column) => `${name} IS NOT NULL`;
    const order = RANKS[a.type] - RANKS[b.type];
    const sides = [a, b].map(({ name, type }) => (type === "text" ? this.#binary(name) : name));
    const same = order === 0 ? [sides.join(` ${SIGNS[operator]} `)] : [];
    switch (operator) {
      case "eq":
        return any([...same, all([isNull(a), isNull(b)])]);
      case "ne":
        return any(order === 0 ? [...same, all([isNull(a), isNot(b)]), all([isNot(a), isNull(b)])] : [isNot(a), isNot(b)]);
      case "lt":
        return order < 0 ? isNot(b) : any([...same, all([isNull(a), isNot(b)])]);
      case "le":
        return order < 0 ? any([isNull(a), isNot(b)]) : any([...same, isNull(a)]);
    }
  }

  #in(column: Column, operands: readonly Operand[], opposite: boolean): string {
    const { name, type } = column;
    const values = operands.flatMap((operand) =>
      operand.rank === RANKS[type] && operand.rank > 0 ? [operand as { readonly value: string | boolean }] : [],
    );
    const nullHolds = operands.some(({ rank }) => rank === 0) !== opposite;
    if (type === "boolean")
      return this.#booleans(name, nullHolds, (value) => values.some((each) => each.value === value) !== opposite);
    if (values.length === 0) return ofColumn(name, nullHolds, opposite);
    const list = (of: string) =>
      `${of} ${opposite ? "NOT IN" : "IN"} (${values.map(({ value }) => (type === "text" ? this.#parameter(value as string) : this.#number(value as string))).join(", ")})`;
    const exact = list(type === "text" ? this.#binary(name) : name);
    return any([type === "text" && !opposite ? all([list(name), exact]) : exact, ...(nullHolds ? [`${name} IS NULL`] : [])]);
  }

  /** Functions and not LIKE: in a text that is looked for nothing means anything else. */
  #holds(operator: "startswith" | "endswith" | "contains", { name, type }: Column, value: string, opposite: boolean): string {
    if (typeof value !== "string") throw refused(`${operator} has no text`);
    const wanted = checkedText(value);
    // Of what is no text it does not hold.
    if (type !== "text") return opposite ? TRUE : FALSE;
    if (wanted === "") return `${name} IS ${opposite ? "" : "NOT "}NULL`;
    const call = this.#call(operator, this.#binary(name), wanted);
    return opposite ? any([`NOT ${call}`, `${name} IS NULL`]) : call;
  }

  #call(operator: "startswith" | "endswith" | "contains", text: string, wanted: string): string {
    const parameter = (): string => this.#parameter(wanted);
    if (this.#dialect === "snowflake") return `${operator.toUpperCase()}(${text}, ${parameter()})`;
    if (operator === "contains") return `(STRPOS(${text}, ${parameter()}) > 0)`;
    if (operator === "startswith") return `STARTS_WITH(${text}, ${parameter()})`;
    return this.#dialect === "bigquery"
      ? `ENDS_WITH(${text}, ${parameter()})`
      : `(RIGHT(${text}, ${[...wanted].length}) = ${parameter()})`;
  }

  // --- what stands in the statement ----------------------------------------------------------------------------------

  /** A column of texts, to be compared by code points. */
  #binary(name: string): string {
    return { postgres: `${name} COLLATE "C"`, bigquery: `COLLATE(${name}, '')`, snowflake: `COLLATE(${name}, 'utf8')` }[
      this.#dialect
    ];
  }

  #parameter(value: string, type = TEXT_TYPES[this.#dialect]): string {
    return `\0${this.#values.push({ value, type }) - 1}\0`;
  }

  /** With the placeholders of what has stayed. */
  finish(told: string): SqlCondition {
    const parameters: string[] = [];
    const numbers = new Map<string, number>();
    const sql = told.replace(/\0(\d+)\0/g, (_, index) => {
      const { value, type } = this.#values[Number(index)] as { readonly value: string; readonly type: string };
      const key = this.#dialect === "postgres" ? `${type} ${value}` : index;
      const number = numbers.get(key) ?? this.#first + parameters.push(value) - 1;
      numbers.set(key, number);
      return `CAST(${this.#dialect === "postgres" ? `$${number}` : "?"} AS ${type})`;
    });
    return { sql, parameters };
  }

  #number(plain: string): string {
    const [whole = "", fraction = ""] = plain.replace("-", "").split(".");
    const dialect = this.#dialect;
    const isLong = fraction === "" && BigInt.asIntN(64, BigInt(plain)) === BigInt(plain);
    if (dialect !== "postgres" && whole.length + fraction.length > 38) throw refused("a number has more digits than the dialect");
    if (dialect === "snowflake") return this.#parameter(plain, `NUMBER(38, ${fraction.length})`);
    return this.#parameter(
      plain,
      isLong ? { postgres: "BIGINT", bigquery: "INT64" }[dialect] : { postgres: "NUMERIC", bigquery: "BIGNUMERIC" }[dialect],
    );
  }
}

const TEXT_TYPES: Readonly<Record<EnforcedDialect, string>> = { postgres: "TEXT", bigquery: "STRING", snowflake: "VARCHAR" };

function compares(operator: Comparison, order: number): boolean {
  return { eq: order === 0, ne: order !== 0, lt: order < 0, le: order <= 0, gt: order > 0, ge: order >= 0 }[operator];
}

/** By what holds of NULL, and of all else. */
function ofColumn(name: string, nullHolds: boolean, holds: boolean): string {
  if (nullHolds === holds) return holds ? TRUE : FALSE;
  return `${name} IS ${holds ? "NOT " : ""}NULL`;
}

function all(parts: readonly string[]): string {
  return joined(parts, " AND ", TRUE, FALSE);
}

function any(parts: readonly string[]): string {
  return joined(parts, " OR ", FALSE, TRUE);
}

/** `nothing` adds nothing to the others, `decides` makes them needless. */
function joined(parts: readonly string[], by: string, nothing: string, decides: string): string {
  if (parts.includes(decides)) return decides;
  const told = parts.filter((part) => part !== nothing);
  return told.length === 0 ? nothing : told.length === 1 ? (told[0] as string) : `(${told.join(by)})`;
}

function checkedText(value: string): string {
  if (/[\0\p{Cs}]/u.test(value)) throw refused("a text cannot be written");
  return value;
}

function refused(reason: string): Error {
  return governanceError("validation_failed", `row condition: ${reason}`, { field: "condition", reason });
}
