import { foldedName } from "../folded-name.ts";
import { identifier, identifiersIn, type Node } from "../tree.ts";
import type { ColumnInput, ResultColumn } from "../types.ts";
import { memberOf, transformed, unique } from "./column-inputs.ts";

export interface Relation {
  readonly names: readonly string[];
  readonly columns: readonly ResultColumn[];
  readonly open: readonly string[];
  /** What a column of any other name is made from: members of an unnested value, columns of a pivot. */
  readonly other?: readonly ColumnInput[];
  /** Known by its name only, to neither a star nor a bare column: `deleted`, `excluded`. */
  readonly hidden?: true;
}

export interface Result {
  readonly columns: readonly ResultColumn[];
  readonly open: readonly string[];
  readonly dataset: readonly ColumnInput[];
}

/** Common table expressions by their folded names: what differs only in case or quotation marks are several, or one, as the database has it. */
export type Ctes = ReadonlyMap<string, readonly Cte[]>;

interface Cte {
  /** Its name in the tree. */
  readonly name: unknown;
  readonly result: Result;
}

/** Names visible at one place; `outer` for correlated subqueries. */
export interface Scope {
  readonly relations: readonly Relation[];
  readonly ctes: Ctes;
  readonly outer?: Scope;
  /** Where columns met outside the select list go. */
  readonly indirect: ColumnInput[];
}

export const NOTHING: Result = { columns: [], open: [], dataset: [] };

export function EMPTY_SCOPE(): Scope {
  return { relations: [], ctes: new Map(), indirect: [] };
}

export const NOT_GIVEN: { readonly given?: Result; readonly sure: boolean } = { sure: false };

/** What WITH gave a name; not `sure` where a table may be meant as well. */
export function givenBy(ctes: Ctes, name: unknown): { readonly given?: Result; readonly sure: boolean } {
  const alike = ctes.get(foldedName(identifier(name))) ?? [];
  if (alike.length === 0) return NOT_GIVEN;
  return { given: either(alike.map(({ result }) => result)), sure: alike.some((each) => surelyOne(each.name, name)) };
}

/**
 * True for two names that every database takes for one. Some fold what is not in double quotation marks, this way or that, and some look at the case of all; where a name is a text it is not known whether it was quoted.
 */
export function surelyOne(a: unknown, b: unknown): boolean {
  const [x, y] = [identifier(a), identifier(b)];
  if (x !== y) return false;
  if (typeof a === "string" || typeof b === "string") return x === x.toLowerCase();
  return ((a as Node)["quote_style"] === '"') === ((b as Node)["quote_style"] === '"');
}

/** Under RECURSIVE one may read those behind it (PostgreSQL): each behind all that it names. */
export function givenFirst(ctes: readonly Node[]): readonly Node[] {
  const nameOfCte = (cte: Node): string => foldedName(identifier(((cte["alias"] ?? {}) as Node)["name"]));
  const ordered = new Set<Node>();
  const visited = new Set<Node>();
  const visit = (cte: Node): void => {
    if (visited.has(cte)) return;
    visited.add(cte);
    const names = new Set(identifiersIn(cte["query"]).map(foldedName));
    for (const other of ctes) if (names.has(nameOfCte(other))) visit(other);
    ordered.add(cte);
  };
  for (const cte of ctes) visit(cte);
  return [...ordered];
}

/** All that one of several results may be. */
export function either(results: readonly Result[]): Result {
  const [only] = results;
  if (only !== undefined && results.length === 1) return only;
  return {
    columns: results.flatMap(({ columns }) => columns),
    open: [...new Set(results.flatMap(({ open }) => open))],
    dataset: results.flatMap(({ dataset }) => dataset),
  };
}

/** The columns that a natural join compares: those of a name that both sides have, or may have. */
export function inCommon(left: readonly Relation[], right: Relation): readonly ColumnInput[] {
  const all = [...left, right];
  const names = new Set(all.flatMap(({ columns }) => columns.map(({ name }) => name.toLowerCase())));
  const common = [...names].filter((name) => has(right, name) && left.some((relation) => has(relation, name)));
  const found = common.flatMap((name) => all.flatMap((relation) => lookup(relation, name)));
  const open = (relation: Relation) => relation.open.length > 0 || relation.other !== undefined;
  return open(right) && left.some(open) ? [...found, ...all.flatMap(rowOf)] : found;
}

/** Dataset level inputs travel with the relation they shaped. */
const DATASETS = new WeakMap<Relation, readonly ColumnInput[]>();

export function relationOf(names: readonly string[], result: Result): Relation {
  const relation: Relation = { names, columns: result.columns, open: result.open };
  DATASETS.set(relation, result.dataset);
  return relation;
}

export function datasetOf(relation: Relation): readonly ColumnInput[] {
  return DATASETS.get(relation) ?? [];
}

/** Inputs behind a dotted name, from the innermost scope that knows it; `undefined` where none does. */
export function resolve(scope: Scope, parts: readonly string[], complete: boolean): readonly ColumnInput[] | undefined {
  const field = parts.at(-1) ?? "";
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    if (parts.length > 1) {
      const matching = named(at, parts.slice(0, -1).join(".").toLowerCase());
      if (matching.length > 0) return matching.some((r) => has(r, field)) ? matching.flatMap((r) => lookup(r, field)) : undefined;
      // `table.column.field` and `column.field` of a structure.
      const first = parts[0]?.toLowerCase() ?? "";
      const owner = parts.length > 2 ? at.relations.filter((r) => r.names.some((name) => name === first)) : [];
      if (owner.length > 0)
        return memberOf(
          owner.flatMap((relation) => lookup(relation, parts[1] ?? "")),
          field,
        );
      const known = at.relations.filter((r) => r.hidden !== true && columnsCalled(r, parts[0] ?? "").length > 0);
      if (known.length > 0)
        return memberOf(
          known.flatMap((relation) => lookup(relation, parts[0] ?? "")),
          field,
        );
      continue;
    }
    const visible = at.relations.filter((r) => r.hidden !== true);
    const known = visible.filter((r) => columnsCalled(r, field).length > 0);
    if (known.length > 0) return known.flatMap((relation) => lookup(relation, field));
    // Members of an unnested value are meant by their bare names only where no table may have the column.
    const tables = visible.filter((r) => r.open.length > 0);
    const open = tables.length > 0 ? tables : visible.filter((r) => r.other !== undefined);
    // A relation's own name in the place of a column means its whole row; where its columns are not known one of them may be called so too.
    const rows = at.relations.filter((r) => r.names.some((name) => name === field.toLowerCase())).flatMap(rowOf);
    const here = [...rows, ...open.flatMap((relation) => lookup(relation, field))];
    if (here.length === 0) continue;
    // A table that does not have it leaves it to the query around.
    return complete || at.outer === undefined ? here : [...here, ...(resolve(at.outer, parts, complete) ?? [])];
  }
  return undefined;
}

/** True where a relation in sight is known to have a column of that name. */
export function hasColumn(scope: Scope | undefined, name: string): boolean {
  if (scope === undefined) return false;
  return scope.relations.some((r) => columnsCalled(r, name).length > 0) || hasColumn(scope.outer, name);
}

/** Relations that a qualifier means. */
function named(scope: Scope, qualifier: string): readonly Relation[] {
  return scope.relations.filter((r) => r.names.some((name) => name === qualifier || name.endsWith(`.${qualifier}`)));
}

/** Relations that a star takes: those that the qualifier means, or all that are in sight. */
export function starred(scope: Scope, qualifier: string | undefined): readonly Relation[] {
  if (qualifier === undefined) return scope.relations.filter((r) => r.hidden !== true);
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    const matching = named(at, qualifier);
    if (matching.length > 0) return matching;
  }
  return [];
}

/** True where the relation has, or may have, a column of the name. */
function has(relation: Relation, field: string): boolean {
  return relation.open.length > 0 || relation.other !== undefined || columnsCalled(relation, field).length > 0;
}

export function lookup(relation: Relation, field: string): readonly ColumnInput[] {
  const known = columnsCalled(relation, field);
  if (known.length > 0) return known.flatMap((column) => column.inputs);
  const other = memberOf(relation.other ?? [], field);
  return [...relation.open.map((table) => identity(table, field).inputs[0] as ColumnInput), ...other];
}

const INDEXES = new WeakMap<readonly ResultColumn[], ReadonlyMap<string, readonly ResultColumn[]>>();

const NO_COLUMNS: readonly ResultColumn[] = [];

/** The columns of a relation that have a name. A list is looked through once, however often it is asked. */
function columnsCalled({ columns }: Relation, name: string): readonly ResultColumn[] {
  let index = INDEXES.get(columns);
  if (index === undefined) {
    const made = new Map<string, ResultColumn[]>();
    for (const column of columns) {
      const key = column.name.toLowerCase();
      const same = made.get(key);
      if (same === undefined) made.set(key, [column]);
      else same.push(column);
    }
    index = made;
    INDEXES.set(columns, index);
  }
  return index.get(name.toLowerCase()) ?? NO_COLUMNS;
}

const ROWS = new WeakMap<Relation, readonly ColumnInput[]>();

/** All that a relation's row holds; put together once. */
export function rowOf(relation: Relation): readonly ColumnInput[] {
  const known = ROWS.get(relation) ?? wholeRowOf(relation);
  ROWS.set(relation, known);
  return known;
}

function wholeRowOf(relation: Relation): readonly ColumnInput[] {
  const columns = relation.columns.flatMap((column) => column.inputs).map(transformed);
  return unique([...columns, ...(relation.other ?? []), ...relation.open.map(wholeRow)]);
}

/** The whole row of a table whose columns are not known. */
export function wholeRow(table: string): ColumnInput {
  return { table, field: "*", type: "DIRECT", subtype: "TRANSFORMATION", masking: false };
}

export function identity(table: string, field: string): ResultColumn {
  return { name: field, inputs: [{ table, field, type: "DIRECT", subtype: "IDENTITY", masking: false }] };
}

export function renamed(result: Result, names: readonly string[]): Result {
  if (names.length === 0) return result;
  // Which columns the names are given to is not known where they are not.
  const any = result.open.map(wholeRow);
  const columns = result.columns.map(({ name, inputs }, i) => ({ name: names[i] ?? name, inputs: [...inputs, ...any] }));
  const more = result.open.length === 0 ? [] : names.slice(columns.length);
  return { ...result, columns: [...columns, ...more.map((name) => ({ name, inputs: any }))] };
}
