import type { IndexValue } from "../ports/document-store.ts";

/** The obvious order of two index keys: value by value, then the shorter one first. */
export function compareIndexKeys(a: readonly IndexValue[], b: readonly IndexValue[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const order = compareIndexValues(a[at] as IndexValue, b[at] as IndexValue);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** The obvious order: by kind, then by value; strings by code point, which is the order of their UTF-8 bytes. */
export function compareIndexValues(a: IndexValue, b: IndexValue): number {
  const kind = (value: IndexValue): number =>
    value === null ? 0 : typeof value === "number" ? 1 : value === false ? 2 : value === true ? 3 : 4;
  if (kind(a) !== kind(b)) return kind(a) - kind(b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== "string" || typeof b !== "string") return 0;
  const left = Array.from(a, (char) => char.codePointAt(0) ?? 0);
  const right = Array.from(b, (char) => char.codePointAt(0) ?? 0);
  return compareIndexKeys(left, right);
}
