import { checkArgument } from "@seneschal/kernel";
import type { RowCondition, RowField, RowValue } from "@seneschal/kernel/ports";
import { governanceError } from "../errors.ts";
import { plainNumber } from "../redaction/known-values.ts";
import { type CallArgument, type ConditionColumn, callSql, INTEGER_DIGITS, isWritten } from "./row-call.ts";
import { type EnforcedDialect, literal, quoted } from "./sql-text.ts";

export type { RowCondition };

export interface SqlCondition {
  /** True for the rows that pass; false or NULL for others, so that it is joined to others by AND. */
  readonly sql: string;
  /** In the order of their placeholders: `$1`, `$2` for PostgreSQL, `?` for the others. All are texts, which the statement casts. */
  readonly parameters: readonly string[];
}

/** Of conditions that rules make. */
const MAX_DEPTH = 500;

/** Characters of what is computed, and of parameters: they are sent. */
const MAX_LENGTH = 4 << 20;

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

/** The same with its values as they are, where a statement has no parameters. Throws for a text that not every dialect reads alike. */
export function conditionText(
  dialect: EnforcedDialect,
  condition: RowCondition,
  columns: Readonly<Record<string, ConditionColumn>>,
): string {
  const writer = new Writer(dialect, columns, 1);
  return writer.text(writer.condition(condition, false, 0));
}

const TRUE = "TRUE";
const FALSE = "FALSE";

type Comparison = "eq" | "ne" | "lt" | "le" | "gt" | "ge";
type Holds = "startswith" | "endswith" | "contains";

const SIGNS: Readonly<Record<Comparison, string>> = { eq: "=", ne: "<>", lt: "<", le: "<=", gt: ">", ge: ">=" };
const OPPOSITE: Readonly<Record<Comparison, Comparison>> = { eq: "ne", ne: "eq", lt: "ge", ge: "lt", gt: "le", le: "gt" };

/** Rego's order of kinds: null, booleans, numbers, texts. */
const RANKS: Readonly<Record<ConditionColumn["type"], number>> = { boolean: 1, integer: 2, numeric: 2, text: 3 };

/** What a condition is about: a column, or what is computed of columns. */
interface Column {
  readonly name: string;
  /** By code points. */
  readonly exact: string;
  readonly type: ConditionColumn["type"];
  /** Of what is computed the columns that it has no value without: it counts where it has one, so that it is never null. */
  readonly of?: readonly string[];
  readonly digits: number;
}

/** The kind, and how it is written; booleans as they are. */
type Operand =
  | { readonly rank: 0 }
  | { readonly rank: 1; readonly value: boolean }
  | { readonly rank: 2 | 3; readonly value: string };

class Writer {
  /** Values by the number that stands for each between two characters that no name holds, until the whole is known. */
  readonly #values: { readonly value: string; readonly type: string }[] = [];
  /** Characters of what is computed. */
  #computed = 0;
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
    const column = this.#field(c.field, depth);
    // It has no value for any row, which is said beside it.
    if (column === undefined) return c.operator === "exists" && opposite ? TRUE : FALSE;
    const { of = [] } = column;
    switch (c.operator) {
      case "exists":
        return opposite ? any(of.map((name) => `${name} IS NULL`)) : all(of.map((name) => `${name} IS NOT NULL`));
      case "in":
        if (!Array.isArray(c.value)) throw refused("in has no values");
        return this.#in(
          column,
          c.value.map((value) => this.#operand(value)),
          opposite,
        );
      case "startswith":
      case "endswith":
      case "contains": {
        const { value } = c;
        if (typeof value !== "object" || value === null) return this.#holds(c.operator, column, value, opposite);
        const part = this.#field(value.field, depth);
        return part === undefined ? FALSE : this.#holdsColumn(c.operator, column, part, opposite);
      }
      case "eq":
      case "ne":
      case "lt":
      case "le":
      case "gt":
      case "ge": {
        const operator = opposite ? OPPOSITE[c.operator] : c.operator;
        const { value } = c;
        if (typeof value === "object" && value !== null && "field" in value) {
          const other = this.#field(value.field, depth);
          return other === undefined ? FALSE : this.#columnsCompared(operator, column, other);
        }
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
    return { name, type, exact: type === "text" ? this.#binary(name) : name, digits: INTEGER_DIGITS };
  }

  /** A column, or what is computed; `undefined` for what has no value for any row, as a column of it is of another kind. */
  #field(field: RowField, depth: number): Column | undefined {
    if (typeof field !== "object") return this.#column(field);
    if (field === null || !Array.isArray(field.of) || depth > MAX_DEPTH) throw refused("a field is none, or too deep");
    const of = new Set<string>();
    const args: CallArgument[] = [];
    for (const arg of field.of as (typeof field)["of"]) {
      if (typeof arg !== "object" || arg === null || !("field" in arg)) args.push({ value: arg });
      else {
        const own = this.#field(arg.field, depth + 1);
        if (own === undefined) return undefined;
        for (const name of own.of ?? [own.name]) of.add(name);
        args.push({ sql: own.exact, type: own.type, digits: own.digits });
      }
    }
    const made = callSql(this.#dialect, field.call, args, (value, type) => this.#parameter(value, type));
    this.#computed += made?.sql.length ?? 0;
    if (this.#computed > MAX_LENGTH) throw refused("it becomes too long");
    return made && { name: made.sql, exact: made.sql, type: made.type, digits: made.digits, of: [...of] };
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

  #compared(operator: Comparison, column: Column, operand: Operand): string {
    const { rank } = operand;
    const own = RANKS[column.type];
    // Of NULL: it is null, less than whatever is not.
    const nullHolds =
      rank === 0
        ? operator === "eq" || operator === "le" || operator === "ge"
        : operator === "ne" || operator === "lt" || operator === "le";
    if (operand.rank !== own) {
      const holds =
        operator === "ne" || (own < rank ? operator === "lt" || operator === "le" : operator === "gt" || operator === "ge");
      return ofColumn(column, nullHolds, holds);
    }
    if (operand.rank === 1)
      return this.#booleans(column, nullHolds, (value) => compares(operator, Number(value) - Number(operand.value)));
    const value = (operand as { readonly value: string }).value;
    return any([
      column.type === "text" ? this.#text(operator, column, value) : `${column.name} ${SIGNS[operator]} ${this.#number(value)}`,
      nullHolds ? isNull(column) : FALSE,
    ]);
  }

  #booleans(column: Column, nullHolds: boolean, holds: (value: boolean) => boolean): string {
    const [no, yes] = [holds(false), holds(true)];
    if (no === yes) return ofColumn(column, nullHolds, yes);
    return any([`${column.name} = ${yes ? TRUE : FALSE}`, nullHolds ? isNull(column) : FALSE]);
  }

  /** By code points. An equality is written in the column's own collation too, which never tells equal texts apart, so that an index can serve it. */
  #text(operator: Comparison, { name, exact, of }: Column, value: string): string {
    const told = `${exact} ${SIGNS[operator]} ${this.#parameter(value)}`;
    return operator === "eq" && of === undefined ? all([`${name} = ${this.#parameter(value)}`, told]) : told;
  }

  #columnsCompared(operator: Comparison, a: Column, b: Column): string {
    if (operator === "gt") return this.#columnsCompared("lt", b, a);
    if (operator === "ge") return this.#columnsCompared("le", b, a);
    const order = RANKS[a.type] - RANKS[b.type];
    const same = order === 0 ? [`${a.exact} ${SIGNS[operator]} ${b.exact}`] : [];
    switch (operator) {
      case "eq":
        return any([...same, all([isNull(a), isNull(b)])]);
      case "ne":
        return any(
          order === 0 ? [...same, all([isNull(a), isNotNull(b)]), all([isNotNull(a), isNull(b)])] : [isNotNull(a), isNotNull(b)],
        );
      case "lt":
        return order < 0 ? isNotNull(b) : any([...same, all([isNull(a), isNotNull(b)])]);
      case "le":
        return order < 0 ? any([isNull(a), isNotNull(b)]) : any([...same, isNull(a)]);
    }
  }

  #in(column: Column, operands: readonly Operand[], opposite: boolean): string {
    const { name, exact, type, of: computed } = column;
    const values = operands.flatMap((operand) =>
      operand.rank === RANKS[type] && operand.rank > 0 ? [operand as { readonly value: string | boolean }] : [],
    );
    const nullHolds = operands.some(({ rank }) => rank === 0) !== opposite;
    if (type === "boolean")
      return this.#booleans(column, nullHolds, (value) => values.some((each) => each.value === value) !== opposite);
    if (values.length === 0) return ofColumn(column, nullHolds, opposite);
    const list = (of: string) =>
      `${of} ${opposite ? "NOT IN" : "IN"} (${values.map(({ value }) => (type === "text" ? this.#parameter(value as string) : this.#number(value as string))).join(", ")})`;
    const served = type === "text" && !opposite && computed === undefined;
    return any([served ? all([list(name), list(exact)]) : list(exact), nullHolds ? isNull(column) : FALSE]);
  }

  /** Functions and not LIKE: in a text that is looked for nothing means anything else. */
  #holds(operator: Holds, column: Column, value: string, opposite: boolean): string {
    if (typeof value !== "string") throw refused(`${operator} has no text`);
    const wanted = checkedText(value);
    // Of what is no text it does not hold.
    if (column.type !== "text") return opposite ? TRUE : FALSE;
    if (wanted === "") return opposite ? isNull(column) : isNotNull(column);
    const call = this.#call(operator, column.exact, () => this.#parameter(wanted), String([...wanted].length));
    return opposite ? any([`NOT ${call}`, isNull(column)]) : call;
  }

  /** Of two columns: that they are texts is said beside it. */
  #holdsColumn(operator: Holds, column: Column, part: Column, opposite: boolean): string {
    if (column.type !== "text" || part.type !== "text") return FALSE;
    const call = this.#call(operator, column.exact, () => part.exact, `LENGTH(${part.exact})`);
    return opposite ? all([`NOT ${call}`, `${part.exact} <> ''`]) : any([call, `${part.exact} = ''`]);
  }

  #call(operator: Holds, text: string, wanted: () => string, length: string): string {
    if (this.#dialect === "snowflake") return `${operator.toUpperCase()}(${text}, ${wanted()})`;
    if (operator === "contains") return `(STRPOS(${text}, ${wanted()}) > 0)`;
    if (operator === "startswith") return `STARTS_WITH(${text}, ${wanted()})`;
    return this.#dialect === "bigquery" ? `ENDS_WITH(${text}, ${wanted()})` : `(RIGHT(${text}, ${length}) = ${wanted()})`;
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
    let length = 0;
    const sql = told.replace(/\0(\d+)\0/g, (_, index) => {
      const { value, type } = this.#values[Number(index)] as { readonly value: string; readonly type: string };
      // Where placeholders have no numbers each is a parameter of its own.
      const key = `${type} ${value}`;
      let number = this.#dialect === "postgres" ? numbers.get(key) : undefined;
      if (number === undefined) {
        length += value.length;
        if (length > MAX_LENGTH) throw refused("its values become too long");
        number = this.#first + parameters.push(value) - 1;
        numbers.set(key, number);
      }
      return `CAST(${this.#dialect === "postgres" ? `$${number}` : "?"} AS ${type})`;
    });
    return { sql, parameters };
  }

  /** With the values themselves. */
  text(told: string): string {
    return told.replace(/\0(\d+)\0/g, (_, index) => {
      const { value, type } = this.#values[Number(index)] as { readonly value: string; readonly type: string };
      return `CAST(${literal(value)} AS ${type})`;
    });
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

const isNull = ({ name, of }: Column): string => (of === undefined ? `${name} IS NULL` : FALSE);
const isNotNull = ({ name, of }: Column): string => (of === undefined ? `${name} IS NOT NULL` : TRUE);

/** By what holds of NULL, and of all else. */
function ofColumn(column: Column, nullHolds: boolean, holds: boolean): string {
  if (nullHolds === holds) return holds ? TRUE : FALSE;
  return holds ? isNotNull(column) : isNull(column);
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
  if (!isWritten(value)) throw refused("a text cannot be written");
  return value;
}

function refused(reason: string): Error {
  return governanceError("validation_failed", `row condition: ${reason}`, { field: "condition", reason });
}
