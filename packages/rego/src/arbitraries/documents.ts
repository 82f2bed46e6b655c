import fc from "fast-check";

const name = fc.constantFrom("a", "b", "c", "__proto__", "constructor", "0");

/** Documents of a few nested objects over a small vocabulary, in which names that objects inherit are members as any other. */
export const documents: fc.Arbitrary<unknown> = fc.letrec<{ document: unknown }>((tie) => ({
  document: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(1, "x", null),
    fc
      .array(
        name.chain((n) => tie("document").map((d) => [n, d] as const)),
        { maxLength: 4 },
      )
      .map(ownMembers),
  ),
})).document;

/** Paths into {@link documents}, of one to four names. */
export const dataPaths: fc.Arbitrary<readonly string[]> = fc.array(name, { minLength: 1, maxLength: 4 });

/** What `withValue` comes to, the slow way: every object on the way is built again; `undefined` where a scalar is in the way. */
export function slowWithValue(data: unknown, [key = "", ...rest]: readonly string[], value: unknown): unknown {
  if (typeof data !== "object" || data === null) return undefined;
  const had = Object.hasOwn(data, key);
  const next = rest.length === 0 ? value : slowWithValue(had ? (data as Record<string, unknown>)[key] : {}, rest, value);
  if (next === undefined) return undefined;
  const members = Object.entries(data).map(([name, item]) => [name, name === key ? next : item] as const);
  return ownMembers(had ? members : [...members, [key, next]]);
}

/** An object with these members, whatever they are called. */
function ownMembers(entries: readonly (readonly [string, unknown])[]): object {
  const out = {};
  for (const [key, value] of entries)
    Object.defineProperty(out, key, { value, enumerable: true, configurable: true, writable: true });
  return out;
}
