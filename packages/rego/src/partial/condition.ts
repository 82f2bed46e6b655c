import { numberText } from "../value/number.ts";
import { compare, isNumber, type Value } from "../value/value.ts";

/** What a column holds. A number that no double is stands as its digits: `{ number: "9007199254740993" }`. */
export type ConditionValue = null | boolean | number | string | { readonly number: string };

/** How two values compare, by Rego's order of all of them: null < false < true < numbers < strings. */
export type Comparison = "eq" | "ne" | "lt" | "le" | "gt" | "ge";

/** Rego's functions of that name, of integers and of texts; `concat` is of its texts, one behind the other. */
export type ConditionFunction =
  | "plus"
  | "minus"
  | "mul"
  | "abs"
  | "count"
  | "concat"
  | "lower"
  | "upper"
  | "substring"
  | "replace"
  | "trim"
  | "trim_left"
  | "trim_right"
  | "trim_prefix"
  | "trim_suffix";

/** A column by its ref, such as `input.row.owner`, or what a function makes of columns: it has a value where they all are of the kind that the function takes. */
export type ConditionField = string | ConditionCall;

export interface ConditionCall {
  readonly call: ConditionFunction;
  readonly of: readonly (ConditionValue | { readonly field: ConditionField })[];
}

/**
 * What must hold of a row, as a tree of UCAST's form. Each of them is true or false of every row that has all its columns, null among their values, so that
 * `not`, which stands before `in`, `exists` and the three of texts alone, is its opposite. Beside whatever is said of a call stands that it exists, and where its opposite is said, or that it does
 * not: what is said of it where it has no value changes nothing. An `and` of nothing always holds, an `or` of nothing never.
 */
export type Condition =
  | { readonly type: "compound"; readonly operator: "and" | "or" | "not"; readonly value: readonly Condition[] }
  | {
      readonly type: "field";
      readonly operator: Comparison;
      readonly field: ConditionField;
      readonly value: ConditionValue | { readonly field: ConditionField };
    }
  | { readonly type: "field"; readonly operator: "in"; readonly field: ConditionField; readonly value: readonly ConditionValue[] }
  /** It is a text that begins with, ends with or holds `value`. */
  | {
      readonly type: "field";
      readonly operator: "startswith" | "endswith" | "contains";
      readonly field: ConditionField;
      readonly value: string | { readonly field: ConditionField };
    }
  /** The row has the column, or the call a value: what reads it needs no more of it. */
  | { readonly type: "field"; readonly operator: "exists"; readonly field: ConditionField };

export const ALWAYS: Condition = Object.freeze({ type: "compound", operator: "and", value: [] });
export const NEVER: Condition = Object.freeze({ type: "compound", operator: "or", value: [] });

/** Whether it holds of every row, or of none, as it stands. */
export const isAlways = (c: Condition): boolean => c.operator === "and" && c.value.length === 0;
export const isNever = (c: Condition): boolean => c.operator === "or" && c.value.length === 0;

export function and(parts: readonly Condition[]): Condition {
  const [first = ALWAYS, ...more] = parts.filter((part) => !isAlways(part));
  if (more.length === 0) return first;
  const all: Condition[] = [];
  for (const part of [first, ...more]) {
    if (isNever(part)) return NEVER;
    if (part.operator === "and") all.push(...part.value);
    else all.push(part);
  }
  // what says something of a column says that it is there
  const told = new Set(all.flatMap((c) => (c.operator === "exists" && typeof c.field === "string" ? [] : columnsOf(c))));
  const seen = new Set<string>();
  const kept = all.filter((c) => {
    if (c.type !== "field") return true;
    if (c.operator === "exists" && typeof c.field === "string" && told.has(c.field)) return false;
    return isNew(c, seen);
  });
  return kept.length === 1 ? (kept[0] as Condition) : { type: "compound", operator: "and", value: kept };
}

/** The columns that a condition of a field reads. */
function columnsOf(c: Condition): readonly string[] {
  if (c.type !== "field") return [];
  return [c.field, ...("value" in c && isField(c.value) ? [c.value.field] : [])].flatMap(columnsIn);
}

function columnsIn(field: ConditionField): readonly string[] {
  return typeof field === "string" ? [field] : field.of.flatMap((arg) => (isField(arg) ? columnsIn(arg.field) : []));
}

/** The calls in a field. */
export function callsIn(field: ConditionField): number {
  return typeof field === "string" ? 0 : field.of.reduce<number>((n, arg) => n + (isField(arg) ? callsIn(arg.field) : 0), 1);
}

/** What tells two fields apart. */
export const fieldKey = (field: ConditionField): string => (typeof field === "string" ? field : JSON.stringify(field));

export function or(parts: readonly Condition[]): Condition {
  const any: Condition[] = [];
  const seen = new Set<string>();
  for (const part of parts) {
    if (isAlways(part)) return ALWAYS;
    for (const c of part.operator === "or" ? part.value : [part]) if (c.type !== "field" || isNew(c, seen)) any.push(c);
  }
  const told = gathered(any);
  return told.length === 1 ? (told[0] as Condition) : { type: "compound", operator: "or", value: told };
}

/** Of several values of one column one `in`, where the first of them stood. */
function gathered(any: readonly Condition[]): readonly Condition[] {
  const values = new Map<
    string,
    { readonly at: number; readonly field: ConditionField; readonly all: Map<string, ConditionValue> }
  >();
  const out: Condition[] = [];
  for (const c of any) {
    const own = valuesOf(c);
    if (own === undefined || c.type !== "field") {
      out.push(c);
      continue;
    }
    const key = fieldKey(c.field);
    let known = values.get(key);
    if (known === undefined) {
      known = { at: out.push(c) - 1, field: c.field, all: new Map() };
      values.set(key, known);
    }
    for (const value of own) known.all.set(JSON.stringify(value), value);
  }
  for (const { at, field, all } of values.values()) out[at] = oneOf(field, [...all.values()]);
  return out;
}

function valuesOf(c: Condition): readonly ConditionValue[] | undefined {
  if (c.operator === "in") return c.value;
  return c.operator === "eq" && !isField(c.value) ? [c.value] : undefined;
}

/** The column is one of them. */
export function oneOf(field: ConditionField, values: readonly ConditionValue[]): Condition {
  const [only] = values;
  if (only === undefined) return NEVER;
  return values.length === 1
    ? { type: "field", operator: "eq", field, value: only }
    : { type: "field", operator: "in", field, value: values };
}

/** What tells two conditions of one column apart. */
const keyOf = (c: Condition): string => JSON.stringify(c);

function isNew(c: Condition, seen: Set<string>): boolean {
  const key = keyOf(c);
  return !seen.has(key) && seen.add(key) !== undefined;
}

function isField(value: unknown): value is { readonly field: ConditionField } {
  return typeof value === "object" && value !== null && "field" in value;
}

const OPPOSITE: Readonly<Record<Comparison, Comparison>> = { eq: "ne", ne: "eq", lt: "ge", ge: "lt", gt: "le", le: "gt" };

const isComparison = (operator: string): operator is Comparison => Object.hasOwn(OPPOSITE, operator);

/** The opposite, with `not` pushed to the fields. `step` is called once for each node. */
export function not(c: Condition, step: () => void): Condition {
  step();
  if (c.type === "compound") {
    if (c.operator === "not") return c.value[0] as Condition;
    const parts = c.value.map((part) => not(part, step));
    return c.operator === "and" ? or(parts) : and(parts);
  }
  if (isComparison(c.operator)) return { ...c, operator: OPPOSITE[c.operator] } as Condition;
  return { type: "compound", operator: "not", value: [c] };
}

/** Whether no row can meet both, as far as is told at once: by a column that is two values, or by opposites of one column. */
export function excludes(a: Condition, b: Condition, step: () => void): boolean {
  const parts = (c: Condition) =>
    (c.operator === "and" ? c.value : [c]).filter((part) => part.type === "field" || part.operator === "not");
  const right = parts(b).map((part) => [part, keyOf(part)] as const);
  return parts(a).some((left) => {
    const opposite = keyOf(not(left, step));
    return right.some(([part, key]) => {
      step();
      if (key === opposite) return true;
      if (left.operator !== "eq" || part.operator !== "eq" || fieldKey(left.field) !== fieldKey(part.field)) return false;
      return !isField(left.value) && !isField(part.value) && JSON.stringify(left.value) !== JSON.stringify(part.value);
    });
  });
}

/** A scalar as conditions hold it; `undefined` for an array, an object or a set. */
export function conditionValue(value: Value): ConditionValue | undefined {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (!isNumber(value)) return undefined;
  return typeof value === "number" && !(Number.isInteger(value) && !Number.isSafeInteger(value))
    ? value
    : { number: numberText(value) };
}

/** `field OPERATOR value` for whatever value: columns are no arrays, objects or sets. */
export function compared(operator: Comparison, field: ConditionField, value: Value): Condition {
  const scalar = conditionValue(value);
  if (scalar !== undefined) return { type: "field", operator, field, value: scalar };
  // every scalar is less than what is none
  const holds = compare(null, value) < 0 && (operator === "ne" || operator === "lt" || operator === "le");
  return holds ? { type: "field", operator: "exists", field } : NEVER;
}
