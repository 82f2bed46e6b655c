import type { Json } from "@seneschal/kernel";
import { checkArgument } from "@seneschal/kernel";
import type { RowCondition, RowField } from "@seneschal/kernel/ports";
import { governanceError } from "../errors.ts";
import type { Obligation } from "../evaluate/types.ts";
import type { ConditionColumn } from "./row-call.ts";

/** What stands in a column instead of its values: `***`, stars with the last few characters, nothing (`drop`), or the year of a date (`generalise`). */
export interface ColumnMask {
  readonly operator: "replace" | "mask" | "drop" | "generalise";
  /** Characters at the end that a `mask` leaves, at most four; a value of at most twice as many is masked whole. */
  readonly keepLast?: number;
}

/** Rows that are shown: the column has one of the values. */
export interface RowFilter {
  readonly column: string;
  readonly values: readonly (string | number | boolean)[];
}

/** A table as its database calls it, with all of its columns that may be seen, and what holds for them. */
export interface TableRules {
  /** Dotted, as queries have to name it. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly masks: Readonly<Record<string, ColumnMask>>;
  readonly filters: readonly RowFilter[];
  /** What else must hold of a row, with the columns that it names. */
  readonly conditions?: readonly {
    readonly condition: RowCondition;
    readonly columns: Readonly<Record<string, ConditionColumn>>;
  }[];
}

/** A table of a query, as the query names it. */
export interface EnforcedTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** What the columns hold, as their database calls it. */
  readonly types?: Readonly<Record<string, string>>;
  /** By the rule of a row filter: which of its rows pass, of rows at `input.row`. */
  readonly conditions?: Readonly<Record<string, RowCondition>>;
}

/** Where a row stands for the rules of row filters. */
export const FILTERED_ROW = "input.row";

/** The rules that row filters name: documents of the policy that say of a row whether it is shown. Throws `validation_failed` for what is no path of one. */
export function filterRules(obligations: readonly Obligation[]): readonly string[] {
  checkArgument("obligations", obligations, "array");
  return [...new Set(filtersOf(obligations).flatMap(({ rule }) => (rule === undefined ? [] : [ruleOf(rule)])))];
}

type Properties = Readonly<Record<string, Json | undefined>>;

function filtersOf(obligations: readonly Obligation[]): readonly Properties[] {
  return obligations.flatMap(({ type, properties }): readonly Properties[] => (type === "row_filter" ? [properties] : []));
}

function ruleOf(rule: Json): string {
  // What the log keeps of a decision is no rule of data.
  if (typeof rule !== "string" || !/^data(?:\.[A-Za-z_]\w*)+$/.test(rule) || /^data\.system(?:\.|$)/.test(rule))
    throw refused("the rule of a row filter is a path such as data.orders.include");
  return rule;
}

/** Obligations that say nothing about what a query shows. */
const BESIDE = new Set(["notice", "retention", "expiry"]);

/**
 * What a decision's obligations mean for tables. A mask or filter of a column holds for every table that has it, a filter must fit every table. Throws `validation_failed` for an obligation that
 * cannot be carried out in SQL: then the query must not run.
 */
export function tableRules(obligations: readonly Obligation[], tables: readonly EnforcedTable[]): readonly TableRules[] {
  checkArgument("obligations", obligations, "array");
  checkArgument("tables", tables, "array");
  const masks = new Map<string, ColumnMask>();
  const filters: RowFilter[] = [];
  const rules = filterRules(obligations);
  const mask = (columns: Json | undefined, given: ColumnMask): void => {
    if (!Array.isArray(columns) || columns.length === 0) throw refused("a mask names its columns");
    for (const column of columns) {
      if (typeof column !== "string") throw refused("a column is a text");
      const key = column.toLowerCase();
      if (!tables.some((table) => table.columns.some((name) => name.toLowerCase() === key)))
        throw refused("no table has a column that is to be masked");
      // Of two masks the one that leaves less.
      const known = masks.get(key);
      masks.set(
        key,
        known === undefined || STRICTEST.indexOf(given.operator) < STRICTEST.indexOf(known.operator) ? given : known,
      );
    }
  };
  const filter = ({ column, equals }: Properties): void => {
    const values = Array.isArray(equals) ? equals : [equals];
    const fine = values.every(
      (value) =>
        typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isSafeInteger(value)),
    );
    if (typeof column !== "string" || !fine || values.length === 0) throw refused("a row filter needs a column and values");
    const next: RowFilter = { column, values: values as RowFilter["values"] };
    // A promise and the duty that it makes are one filter.
    if (!filters.some((known) => JSON.stringify(known) === JSON.stringify(next))) filters.push(next);
  };
  for (const { type, properties } of obligations) {
    if (BESIDE.has(type)) continue;
    if (type === "row_filter") {
      if (properties["rule"] === undefined) filter(properties);
      else if (properties["column"] !== undefined || properties["equals"] !== undefined)
        throw refused("a row filter has a rule, or a column and values");
    } else if (type === "masking") mask(properties["columns"], maskOf(properties));
    else if (type === "transform" && Array.isArray(properties["transformations"]))
      for (const each of properties["transformations"]) {
        const change = (each ?? {}) as Readonly<Record<string, Json | undefined>>;
        if (change["type"] === "mask") mask(change["columns"], { operator: "replace" });
        else if (change["type"] === "drop") mask(change["columns"], { operator: "drop" });
        else if (change["type"] === "row_filter") filter(change);
        else throw refused(`a transformation ${String(change["type"])} cannot be carried out in a query`);
      }
    else throw refused(`an obligation ${type} cannot be carried out in a query`);
  }
  return tables.map((table) => {
    const { name, columns } = table;
    const as = (wanted: string) => columns.find((column) => column.toLowerCase() === wanted.toLowerCase());
    return {
      name,
      columns,
      masks: Object.fromEntries(
        columns.flatMap((column) => {
          const given = masks.get(column.toLowerCase());
          return given === undefined ? [] : [[column, given]];
        }),
      ),
      filters: filters.map(({ column, values }) => {
        const own = as(column);
        if (own === undefined) throw refused(`${name} has no column for a row filter`);
        return { column: own, values };
      }),
      ...(rules.length === 0 ? {} : { conditions: rules.map((rule) => conditionOf(table, rule)) }),
    };
  });
}

function conditionOf(table: EnforcedTable, rule: string) {
  const condition = Object.hasOwn(table.conditions ?? {}, rule) ? table.conditions?.[rule] : undefined;
  if (condition === undefined) throw refused(`nothing says which rows of ${table.name} ${rule} lets through`);
  return { condition, columns: columnsOf(condition, table) };
}

/** The columns that a condition names, as the table has them. Throws for one that it has not, or of a type that conditions do not know. */
function columnsOf(
  condition: RowCondition,
  { name, columns, types = {} }: EnforcedTable,
): Readonly<Record<string, ConditionColumn>> {
  const found: Record<string, ConditionColumn> = {};
  const fields = new Set<string>();
  const open: (RowCondition | RowField)[] = [condition];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "string") fields.add(next);
    else if ("call" in next) open.push(...next.of.flatMap(fieldIn));
    else if (next.type === "compound") open.push(...next.value);
    else open.push(next.field, ...("value" in next ? fieldIn(next.value) : []));
  }
  for (const field of fields) {
    const wanted = columnOf(field);
    const alike = columns.filter((column) => column.toLowerCase() === wanted.toLowerCase());
    const own = columns.find((column) => column === wanted) ?? (alike.length === 1 ? alike[0] : undefined);
    // A dot would make two names of it.
    if (own === undefined || own.includes(".")) throw refused(`${name} has no column for ${field}, which a row filter asks`);
    const type = typeOf(Object.hasOwn(types, own) ? types[own] : undefined);
    if (type === undefined) throw refused(`a row filter asks ${field} of ${name}, whose type no condition knows`);
    found[field] = { column: own, type };
  }
  return found;
}

function fieldIn(value: unknown): readonly RowField[] {
  return typeof value === "object" && value !== null && "field" in value ? [(value as { readonly field: RowField }).field] : [];
}

/** The column that `input.row.owner` or `input.row["odd name"]` names. */
function columnOf(field: string): string {
  const rest = field.slice(FILTERED_ROW.length);
  return rest.startsWith(".") ? rest.slice(1) : String((JSON.parse(rest) as readonly unknown[])[0]);
}

/** What a database's name of a type is for conditions; `undefined` for floating-point numbers, padded texts, dates and whatever else. */
function typeOf(type: string | undefined): ConditionColumn["type"] | undefined {
  const bare = type?.toLowerCase().replace(/\s*\(\s*\d+\s*(?:,\s*\d+\s*)?\)$/, "");
  return TYPES.find(([, names]) => bare !== undefined && names.has(bare))?.[0];
}

const TYPES: readonly (readonly [ConditionColumn["type"], ReadonlySet<string>])[] = [
  ["text", new Set(["text", "varchar", "character varying", "string"])],
  ["integer", new Set(["integer", "int", "int2", "int4", "int8", "int64", "smallint", "bigint"])],
  ["numeric", new Set(["numeric", "decimal", "bignumeric", "number"])],
  ["boolean", new Set(["boolean", "bool"])],
];

const STRICTEST: readonly ColumnMask["operator"][] = ["drop", "replace", "generalise", "mask"];

function maskOf({ operator = "replace", keep_last = 0 }: Readonly<Record<string, Json | undefined>>): ColumnMask {
  const known = STRICTEST.find((each) => each === operator);
  if (known === undefined || typeof keep_last !== "number" || ![0, 1, 2, 3, 4].includes(keep_last))
    throw refused("a mask is replace, mask, drop or generalise");
  return known === "mask" ? { operator: known, keepLast: keep_last } : { operator: known };
}

function refused(reason: string): Error {
  return governanceError("validation_failed", `obligations: ${reason}`, { field: "obligations", reason });
}
