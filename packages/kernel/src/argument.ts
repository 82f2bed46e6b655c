/** What an argument can be asked to be. */
export type ArgumentKind = "array" | "bytes" | "function" | "number" | "object" | "string";

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
  if (kindOf(value) !== kind) throw new TypeError(`${name}: expected ${NAMES[kind]}, not ${kindOf(value)}`);
}

const NAMES: Readonly<Record<ArgumentKind, string>> = {
  array: "an array",
  bytes: "a Uint8Array",
  function: "a function",
  number: "a number",
  object: "an object",
  string: "a string",
};

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Object.prototype.toString.call(value) === "[object Uint8Array]" ? "bytes" : typeof value;
}
