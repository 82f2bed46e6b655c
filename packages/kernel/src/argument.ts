/** What an argument can be asked to be. */
export type ArgumentKind = "array" | "boolean" | "bytes" | "function" | "iterable" | "number" | "object" | "string";

/** Texts of which there are only some: what is not one of them is refused as well. `undefined` among them: it may be left out. */
type OptionKind<V> = [Exclude<V, undefined>] extends [string]
  ? string extends V
    ? ArgumentKind | `${ArgumentKind}?` | "any"
    : readonly V[]
  : ArgumentKind | `${ArgumentKind}?` | "any";

/**
 * Every member of an options object with what it has to be: `?` where it may be left out, "any" where the function itself tells, a list where there are
 * only some texts.
 */
export type OptionKinds<T extends object> = { readonly [K in keyof T]-?: OptionKind<T[K]> };

/**
 * Tells who calls without types which argument is wrong, and what it should be, before anything is done with it.
 *
 * @throws TypeError `<name>: expected ..., not ...`; never with the value itself, which may be secret.
 *
 * @example
 * ```ts
 * import { checkArgument } from "@seneschal/kernel";
 *
 * const greet = (name: string): string => {
 *   checkArgument("name", name, "string");
 *   return `hello ${name}`;
 * };
 * greet("ada");
 * ```
 */
export function checkArgument(name: string, value: unknown, kind: ArgumentKind): void {
  if (!is(value, kind)) throw new TypeError(`${name}: expected ${NAMES[kind]}, not ${kindOf(value)}`);
}

/**
 * `checkArgument` for an options object and each of its members; a member that nobody knows is a slip of the pen, refused by name, so
 * that `graceMs` for `grace` is not passed over in silence.
 *
 * @throws TypeError `<name>.<member>: no such option; there are ...`, or as `checkArgument`
 *
 * @example
 * ```ts
 * import { checkOptions } from "@seneschal/kernel";
 *
 * const greet = (options: { name: string; times?: number }): string => {
 *   checkOptions("options", options, { name: "string", times: "number?" });
 *   return `hello ${options.name} `.repeat(options.times ?? 1);
 * };
 * greet({ name: "ada" });
 * ```
 */
export function checkOptions<T extends object>(name: string, value: T, kinds: OptionKinds<T>): void {
  checkArgument(name, value, "object");
  for (const member of Object.keys(value))
    if (!Object.hasOwn(kinds, member))
      throw new TypeError(`${name}.${member}: no such option; there are ${Object.keys(kinds).sort().join(", ") || "none"}`);
  for (const [member, kind] of Object.entries<string | readonly unknown[]>(kinds)) {
    const found = (value as Readonly<Record<string, unknown>>)[member];
    if (typeof kind !== "string") {
      if (kind.includes(found)) continue;
      const texts = kind.filter((one) => one !== undefined).map((one) => JSON.stringify(one));
      throw new TypeError(
        `${name}.${member}: expected ${texts.join(" or ")}, not ${kindOf(found) === "string" ? "another text" : kindOf(found)}`,
      );
    }
    if (kind === "any" || (found === undefined && kind.endsWith("?"))) continue;
    checkArgument(`${name}.${member}`, found, kind.replace("?", "") as ArgumentKind);
  }
}

const NAMES: Readonly<Record<ArgumentKind, string>> = {
  array: "an array",
  boolean: "a boolean",
  bytes: "a Uint8Array",
  function: "a function",
  iterable: "something to iterate over",
  number: "a number",
  object: "an object",
  string: "a string",
};

/** Public functions ask this at every call, so what is right is told by `typeof` wherever that is enough. */
function is(value: unknown, kind: ArgumentKind): boolean {
  if (kind === "array") return Array.isArray(value);
  if (kind === "bytes") return value instanceof Uint8Array || kindOf(value) === "bytes";
  if (kind === "iterable") return typeof (value as Iterable<unknown> | null | undefined)?.[Symbol.iterator] === "function";
  if (kind !== "object") return typeof value === kind;
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Object.prototype.toString.call(value) === "[object Uint8Array]" ? "bytes" : typeof value;
}
