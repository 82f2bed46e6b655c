import { allocate, charge, tick } from "./meter.ts";
import { compareNumbers, Decimal, type Num } from "./number.ts";

/**
 * A Rego value. Parsed JSON is used as it is, never copied: plain objects are read by own properties only and never
 * written. Sets, and objects made by a policy, have classes of their own. `undefined` is not a value.
 */
export type Value = null | boolean | Num | string | readonly Value[] | PlainObject | RegoObject | RegoSet;

/** A JSON object as parsed. */
export interface PlainObject {
  readonly [key: string]: Value;
}

type Scalar = null | boolean | number | bigint | string;

/** Separates the canonical text of a composite from every string. */
class Canonical {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A key under which equal values are found: scalars stand for themselves, all else for its canonical text. */
function keyOf(value: Value): Scalar | Canonical {
  switch (typeof value) {
    case "number":
      return Number.isSafeInteger(value) || !Number.isInteger(value) ? value : BigInt(value);
    case "object":
      return value === null ? null : new Canonical(canonical(value));
    default:
      return value as Scalar;
  }
}

/** A text that is equal exactly for equal values. */
function canonical(value: Value): string {
  const out: string[] = [];
  write(value, out, 0);
  return out.join("");
}

const MAX_NESTING = 500;

function write(value: Value, out: string[], depth: number): void {
  charge(4);
  switch (typeof value) {
    case "string":
      charge(value.length >> 4);
      out.push(JSON.stringify(value));
      return;
    case "number":
      out.push(Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value).toString() : String(value));
      return;
    case "bigint":
    case "boolean":
      out.push(String(value));
      return;
    default:
  }
  if (value === null) out.push("null");
  else if (value instanceof Decimal) out.push(`${value.mantissa}e${value.exponent}`);
  else {
    if (depth > MAX_NESTING) charge(Number.MAX_SAFE_INTEGER);
    if (isArray(value)) {
      out.push("[");
      for (const item of value) {
        write(item, out, depth + 1);
        out.push(",");
      }
      out.push("]");
    } else if (value instanceof RegoSet) {
      out.push("<");
      for (const item of value.sorted()) {
        write(item, out, depth + 1);
        out.push(",");
      }
      out.push(">");
    } else {
      out.push("{");
      for (const key of sortedKeys(value)) {
        write(key, out, depth + 1);
        out.push(":");
        write(getKey(value, key) as Value, out, depth + 1);
        out.push(",");
      }
      out.push("}");
    }
  }
}

/** A set of values, in Rego order when listed. */
export class RegoSet {
  readonly #scalars = new Map<Scalar, Value>();
  #composites: Map<string, Value> | undefined;
  #order: readonly Value[] | undefined;

  static of(items: Iterable<Value>): RegoSet {
    const set = new RegoSet();
    for (const item of items) set.add(item);
    return set;
  }

  /** For building only: a set that others can see is never changed. */
  add(item: Value): void {
    const key = keyOf(item);
    if (key instanceof Canonical) {
      this.#composites ??= new Map();
      if (this.#composites.has(key.text)) return;
      allocate(1);
      this.#composites.set(key.text, item);
    } else {
      if (this.#scalars.has(key)) return;
      allocate(1);
      this.#scalars.set(key, item);
    }
    this.#order = undefined;
  }

  has(item: Value): boolean {
    if (typeof item === "object" && item !== null) {
      if (this.#composites === undefined) return false;
      return this.#composites.has(canonical(item));
    }
    return this.#scalars.has(keyOf(item) as Scalar);
  }

  get size(): number {
    return this.#scalars.size + (this.#composites?.size ?? 0);
  }

  /** The elements in Rego order. */
  sorted(): readonly Value[] {
    if (this.#order === undefined) {
      const items = [...this.#scalars.values(), ...(this.#composites?.values() ?? [])];
      charge(items.length);
      this.#order = items.sort(compare);
    }
    return this.#order;
  }
}

/** An object made by a policy: keys of any type. */
export class RegoObject {
  readonly #scalars = new Map<Scalar, readonly [Value, Value]>();
  #composites: Map<string, readonly [Value, Value]> | undefined;
  #order: readonly Value[] | undefined;

  static of(entries: Iterable<readonly [Value, Value]>): RegoObject {
    const object = new RegoObject();
    for (const [key, value] of entries) object.set(key, value);
    return object;
  }

  /** For building only: an object that others can see is never changed. */
  set(key: Value, value: Value): void {
    const k = keyOf(key);
    allocate(1);
    if (k instanceof Canonical) {
      this.#composites ??= new Map();
      this.#composites.set(k.text, [key, value]);
    } else this.#scalars.set(k, [key, value]);
    this.#order = undefined;
  }

  get(key: Value): Value | undefined {
    if (typeof key === "object" && key !== null) return this.#composites?.get(canonical(key))?.[1];
    return this.#scalars.get(keyOf(key) as Scalar)?.[1];
  }

  get size(): number {
    return this.#scalars.size + (this.#composites?.size ?? 0);
  }

  /** The keys in Rego order. */
  sorted(): readonly Value[] {
    if (this.#order === undefined) {
      const keys: Value[] = [];
      for (const [key] of this.#scalars.values()) keys.push(key);
      for (const [key] of this.#composites?.values() ?? []) keys.push(key);
      charge(keys.length);
      this.#order = keys.sort(compare);
    }
    return this.#order;
  }
}

export function isArray(value: unknown): value is readonly Value[] {
  return Array.isArray(value);
}

/** True for objects of either form. */
export function isObject(value: unknown): value is PlainObject | RegoObject {
  if (typeof value !== "object" || value === null) return false;
  if (Object.getPrototypeOf(value) === Object.prototype) return true;
  return !Array.isArray(value) && !(value instanceof RegoSet) && !(value instanceof Decimal);
}

export function isNumber(value: unknown): value is Num {
  return typeof value === "number" || typeof value === "bigint" || value instanceof Decimal;
}

export type TypeName = "null" | "boolean" | "number" | "string" | "array" | "object" | "set";

export function typeName(value: Value): TypeName {
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "boolean";
    case "number":
    case "bigint":
      return "number";
    default:
      if (value === null) return "null";
      if (Array.isArray(value)) return "array";
      if (value instanceof RegoSet) return "set";
      return value instanceof Decimal ? "number" : "object";
  }
}

const plainKeys = new WeakMap<object, readonly string[]>();

/** Keys in Rego order. Own keys of plain objects, the order cached by identity. */
export function sortedKeys(object: PlainObject | RegoObject): readonly Value[] {
  if (object instanceof RegoObject) return object.sorted();
  const keys = Object.keys(object);
  for (let i = 1; i < keys.length; i++) {
    if (compareStrings(keys[i - 1] as string, keys[i] as string) > 0) {
      const known = plainKeys.get(object);
      if (known !== undefined && known.length === keys.length) return known;
      charge(keys.length);
      keys.sort(compareStrings);
      plainKeys.set(object, keys);
      return keys;
    }
  }
  return keys;
}

/** The number of keys. */
export function objectSize(object: PlainObject | RegoObject): number {
  return object instanceof RegoObject ? object.size : Object.keys(object).length;
}

/** The value at a key of an object of either form. */
export function getKey(object: PlainObject | RegoObject, key: Value): Value | undefined {
  if (object instanceof RegoObject) return object.get(key);
  return typeof key === "string" && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The value at `key` of an array, object or set; undefined for what is absent or cannot be indexed. */
export function lookup(value: Value, key: Value): Value | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (typeof key === "string" && Object.getPrototypeOf(value) === Object.prototype) {
    return Object.hasOwn(value, key) ? (value as PlainObject)[key] : undefined;
  }
  if (Array.isArray(value)) {
    return typeof key === "number" && key >= 0 && Number.isInteger(key) ? (value as readonly Value[])[key] : undefined;
  }
  if (value instanceof RegoSet) return value.has(key) ? key : undefined;
  if (value instanceof RegoObject) return value.get(key);
  if (value instanceof Decimal) return undefined;
  return typeof key === "string" && Object.hasOwn(value, key) ? (value as PlainObject)[key] : undefined;
}

/** {@link lookup} for a known string key. */
export function lookupName(value: Value, key: string): Value | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Object.getPrototypeOf(value) === Object.prototype) {
    return Object.hasOwn(value, key) ? (value as PlainObject)[key] : undefined;
  }
  if (Array.isArray(value)) return undefined;
  if (value instanceof RegoObject) return value.get(key);
  if (value instanceof RegoSet) return value.has(key) ? key : undefined;
  if (value instanceof Decimal) return undefined;
  return Object.hasOwn(value, key) ? (value as PlainObject)[key] : undefined;
}

/** Orders strings by code point. */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) {
    let x = a.charCodeAt(i);
    let y = b.charCodeAt(i);
    if (x !== y) {
      // surrogates stand for code points above every other unit
      if (x >= 0xd800 && y >= 0xd800) {
        if (x <= 0xdfff) x += 0x10000;
        if (y <= 0xdfff) y += 0x10000;
      }
      return x - y;
    }
  }
  return a.length - b.length;
}

function rank(value: Value): number {
  switch (typeof value) {
    case "boolean":
      return value ? 2 : 1;
    case "number":
    case "bigint":
      return 3;
    case "string":
      return 4;
    default:
      if (value === null) return 0;
      if (Array.isArray(value)) return 5;
      if (value instanceof Decimal) return 3;
      return value instanceof RegoSet ? 7 : 6;
  }
}

let nesting = 0;

/** Rego's total order: null < false < true < number < string < array < object < set. */
export function compare(a: Value, b: Value): number {
  if (a === b) return 0;
  if (typeof a === "string" && typeof b === "string") return compareStrings(a, b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  const order = rank(a) - rank(b);
  if (order !== 0) return order;
  tick();
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return 0;
  if (nesting > MAX_NESTING) charge(Number.MAX_SAFE_INTEGER);
  nesting++;
  try {
    if (isArray(a) && isArray(b)) return compareLists(a, b);
    if (a instanceof RegoSet && b instanceof RegoSet) return compareLists(a.sorted(), b.sorted());
    if (isObject(a) && isObject(b)) {
      const left = sortedKeys(a);
      const right = sortedKeys(b);
      const n = Math.min(left.length, right.length);
      for (let i = 0; i < n; i++) {
        const byKey = compare(left[i] as Value, right[i] as Value);
        if (byKey !== 0) return byKey;
        const byValue = compare(getKey(a, left[i] as Value) as Value, getKey(b, right[i] as Value) as Value);
        if (byValue !== 0) return byValue;
      }
      return left.length - right.length;
    }
    return 0;
  } finally {
    nesting--;
  }
}

function compareLists(a: readonly Value[], b: readonly Value[]): number {
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) {
    const order = compare(a[i] as Value, b[i] as Value);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Equality of values: numbers by value, the rest by structure. */
export function equal(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || a === null) {
    return typeof a === "number"
      ? typeof b === "bigint" && b === BigInt(Math.trunc(a)) && Number.isInteger(a)
      : typeof a === "bigint" && typeof b === "number" && equal(b, a);
  }
  if (typeof b !== "object" || b === null) return false;
  tick();
  if (isArray(a)) {
    if (!isArray(b) || a.length !== b.length) return false;
    if (nesting > MAX_NESTING) charge(Number.MAX_SAFE_INTEGER);
    nesting++;
    try {
      for (let i = 0; i < a.length; i++) if (!equal(a[i] as Value, b[i] as Value)) return false;
    } finally {
      nesting--;
    }
    return true;
  }
  if (a instanceof RegoSet) {
    if (!(b instanceof RegoSet) || a.size !== b.size) return false;
    for (const item of a.sorted()) if (!b.has(item)) return false;
    return true;
  }
  if (a instanceof Decimal) return b instanceof Decimal && a.exponent === b.exponent && a.mantissa === b.mantissa;
  if (!isObject(b)) return false;
  const keys = a instanceof RegoObject ? a.sorted() : Object.keys(a);
  if (keys.length !== objectSize(b)) return false;
  if (nesting > MAX_NESTING) charge(Number.MAX_SAFE_INTEGER);
  nesting++;
  try {
    for (const key of keys) {
      const other = getKey(b, key);
      if (other === undefined || !equal(getKey(a as PlainObject, key) as Value, other)) return false;
    }
  } finally {
    nesting--;
  }
  return true;
}
