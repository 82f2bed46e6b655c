/** What an XDR type is made of (RFC 4506). Values are written as arrays of words of four bytes, big-endian. */
export type Shape =
  | { readonly kind: "unsigned" }
  | { readonly kind: "hyper" }
  | { readonly kind: "boolean" }
  | { readonly kind: "enumeration"; readonly names: readonly string[]; readonly first: number }
  | { readonly kind: "fixed"; readonly length: number }
  | { readonly kind: "opaque"; readonly max: number }
  | { readonly kind: "array"; readonly item: Shape; readonly max: number }
  | { readonly kind: "list"; readonly item: Shape; readonly max: number }
  | { readonly kind: "optional"; readonly item: Shape }
  | { readonly kind: "struct"; readonly fields: readonly (readonly [name: string, shape: Shape])[] }
  | { readonly kind: "choice"; readonly arms: readonly (readonly [name: string, tag: number, shape: Shape])[] }
  | { readonly kind: "result"; readonly ok: Shape; readonly failed: Shape }
  | { readonly kind: "nothing" };

declare const valueType: unique symbol;

/** A {@link Shape} whose values are `T`. */
export type Xdr<T> = Shape & { readonly [valueType]?: T };

/** The values of a type. */
export type ValueOf<X> = X extends Xdr<infer T> ? T : never;

/** 32 bits without a sign. */
export const unsigned: Xdr<number> = { kind: "unsigned" };
/** 64 bits without a sign. */
export const hyper: Xdr<bigint> = { kind: "hyper" };
/** True or false. */
export const boolean: Xdr<boolean> = { kind: "boolean" };
/** No bytes at all. */
export const nothing: Xdr<undefined> = { kind: "nothing" };

/** One of the names, numbered from `first` on. */
export function enumeration<const N extends string>(names: readonly N[], first = 0): Xdr<N> {
  return { kind: "enumeration", names, first };
}

/** So many bytes. */
export function fixed(length: number): Xdr<Uint8Array> {
  return { kind: "fixed", length };
}

/** Bytes, at most `max`. */
export function opaque(max: number): Xdr<Uint8Array> {
  return { kind: "opaque", max };
}

/** Values one behind another, with their number before them. */
export function array<T>(item: Xdr<T>, max: number): Xdr<readonly T[]> {
  return { kind: "array", item, max };
}

/** The linked list of RFC 1813: a word before each value says that there is one. */
export function list<T>(item: Xdr<T>, max: number): Xdr<readonly T[]> {
  return { kind: "list", item, max };
}

/** A value, or `undefined`. */
export function optional<T>(item: Xdr<T>): Xdr<T | undefined> {
  return { kind: "optional", item };
}

/** Named values in the order of their names. */
export function struct<const F extends Readonly<Record<string, Shape>>>(
  fields: F,
): Xdr<{ readonly [K in keyof F]: ValueOf<F[K]> }> {
  return { kind: "struct", fields: Object.entries(fields) };
}

/** A union: one of the arms, named, by its number. */
export function choice<const A extends Readonly<Record<string, readonly [tag: number, shape: Shape]>>>(
  arms: A,
): Xdr<{ readonly [K in keyof A]: { readonly kind: K; readonly value: ValueOf<A[K][1]> } }[keyof A]> {
  return { kind: "choice", arms: Object.entries(arms).map(([name, [tag, shape]]) => [name, tag, shape]) };
}

/** The union of RFC 1813: status 0 with a value, any other with what is told of a failure. */
export type Result<Ok, Failed> =
  | { readonly status: 0; readonly value: Ok }
  | { readonly status: number; readonly failure: Failed };

/** A {@link Result}. */
export function result<Ok, Failed>(ok: Xdr<Ok>, failed: Xdr<Failed>): Xdr<Result<Ok, Failed>> {
  return { kind: "result", ok, failed };
}
