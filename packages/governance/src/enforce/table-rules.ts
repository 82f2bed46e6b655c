import type { Json } from "@seneschal/kernel";
import { checkArgument } from "@seneschal/kernel";
import { governanceError } from "../errors.ts";
import type { Obligation } from "../evaluate/types.ts";

export const ENFORCED_DIALECTS = ["postgres", "bigquery", "snowflake"] as const;
export type EnforcedDialect = (typeof ENFORCED_DIALECTS)[number];

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
}

/** Obligations that say nothing about what a query shows. */
const BESIDE = new Set(["notice", "retention", "expiry"]);

/**
 * What a decision's obligations mean for tables. A mask or filter of a column holds for every table that has it, a filter must fit every table. Throws `validation_failed` for an obligation that
 * cannot be carried out in SQL: then the query must not run.
 */
export function tableRules(
  obligations: readonly Obligation[],
  tables: readonly { readonly name: string; readonly columns: readonly string[] }[],
): readonly TableRules[] {
  checkArgument("obligations", obligations, "array");
  checkArgument("tables", tables, "array");
  const masks = new Map<string, ColumnMask>();
  const filters: RowFilter[] = [];
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
  const filter = ({ column, equals }: Readonly<Record<string, Json | undefined>>): void => {
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
    if (type === "row_filter") filter(properties);
    else if (type === "masking") mask(properties["columns"], maskOf(properties));
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
  return tables.map(({ name, columns }) => {
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
    };
  });
}

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
