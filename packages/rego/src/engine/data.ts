import { checkArgument } from "../argument.ts";

/** A step into a document: a member's name or an item's index. */
export type DataPath = readonly (string | number)[];

/**
 * The document with `value` at `path`; everything beside the path is shared with the old document, which stays as it is. Members
 * that are missing on the way are made; an index may be that of an item or one past the last. No policy is compiled again: give
 * the new document to the next evaluation. Costs the width of the objects along the path.
 *
 * Throws `TypeError` for a path through a scalar or beyond an array's end.
 *
 * @example
 * ```ts
 * import { withValue } from "@seneschal/rego";
 * const data = { roles: { ada: ["admin"] }, users: {} };
 * const next = withValue(data, ["roles", "bob"], ["reader"]);
 * console.log(next.roles, next.users === data.users); // { ada: [ 'admin' ], bob: [ 'reader' ] } true
 * ```
 */
export function withValue<T>(data: T, path: DataPath, value: unknown): T {
  checkArgument("path", path, "array");
  return put(data, path, 0, value) as T;
}

/** The document without what is at `path`, sharing the rest; the same document if nothing is there. An item leaves no gap. */
export function withoutValue<T>(data: T, path: DataPath): T {
  checkArgument("path", path, "array");
  const [last] = path.slice(-1);
  if (last === undefined) throw new TypeError("the path is empty");
  const above = path.slice(0, -1);
  const holder = at(data, above);
  if (Array.isArray(holder)) {
    const index = Number(last);
    return Object.hasOwn(holder, String(last)) && last !== "length" ? withValue(data, above, holder.toSpliced(index, 1)) : data;
  }
  if (!isRecord(holder) || !Object.hasOwn(holder, last)) return data;
  return withValue(data, above, Object.fromEntries(Object.entries(holder).filter(([name]) => name !== String(last))));
}

function at(data: unknown, path: DataPath): unknown {
  let here = data;
  for (const key of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Readonly<Record<string | number, unknown>>)[key];
  }
  return here;
}

function put(data: unknown, path: DataPath, depth: number, value: unknown): unknown {
  const key = path[depth];
  if (key === undefined) return value;
  if (Array.isArray(data)) {
    const index = Number(key);
    if (!Number.isInteger(index) || index < 0 || index > data.length || String(key) !== String(index)) {
      throw new TypeError(`${path.join(".")}: ${key} is no index of an array of ${data.length}`);
    }
    const next = put(data[index], path, depth + 1, value);
    return index === data.length ? [...data, next] : data.with(index, next);
  }
  if (data !== undefined && !isRecord(data))
    throw new TypeError(`${path.join(".")}: no object at ${path.slice(0, depth).join(".")}`);
  const own = data !== undefined && Object.hasOwn(data, key) ? data[key] : undefined;
  const next = put(own, path, depth + 1, value);
  const out = { ...data };
  // a member may be called __proto__
  Object.defineProperty(out, key, { value: next, enumerable: true, configurable: true, writable: true });
  return out;
}

function isRecord(value: unknown): value is Readonly<Record<string | number, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
