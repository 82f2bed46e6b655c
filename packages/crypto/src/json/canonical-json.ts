import { cryptoError } from "../errors.ts";
import { LONE_SURROGATE } from "./lone-surrogate.ts";

/** Deeper input is refused: it is either a mistake or an attack on the stack. */
const MAX_DEPTH = 64;

/**
 * The canonical JSON text of a value (JCS, RFC 8785): keys sorted by UTF-16 code units, ECMAScript numbers, no white space.
 * Two values with equal text are equal, in every language that follows the RFC.
 *
 * Throws `not_canonical` with the path for what JSON cannot say or says silently differently: `undefined`, functions,
 * symbols, bigints, NaN, infinities, lone surrogates, sparse arrays, objects that are not plain (dates, maps, classes),
 * and nesting beyond 64.
 *
 * @example
 * ```ts
 * import { canonicalJson } from "@seneschal/crypto";
 * console.log(canonicalJson({ b: [1e21, -0], a: "é" })); // {"a":"é","b":[1e+21,0]}
 * ```
 */
export function canonicalJson(value: unknown): string {
  return write(value, "$", 0);
}

function write(value: unknown, path: string, depth: number): string {
  if (depth > MAX_DEPTH) throw refuse(path, "nested too deeply");
  switch (typeof value) {
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (!Number.isFinite(value)) throw refuse(path, "not a finite number");
      return JSON.stringify(value);
    case "string":
      return text(value, path);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? array(value, path, depth) : object(value, path, depth);
    default:
      throw refuse(path, `${typeof value} is not JSON`);
  }
}

function text(value: string, path: string): string {
  if (LONE_SURROGATE.test(value)) throw refuse(path, "lone surrogate");
  return JSON.stringify(value);
}

function array(value: readonly unknown[], path: string, depth: number): string {
  const parts: string[] = [];
  // By index, so that a hole is seen: map and forEach would skip it.
  for (let i = 0; i < value.length; i++) parts.push(write(value[i], `${path}[${i}]`, depth + 1));
  return `[${parts.join(",")}]`;
}

function object(value: object, path: string, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw refuse(path, "not a plain object");
  const parts: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key];
    parts.push(`${text(key, path)}:${write(member, `${path}.${key}`, depth + 1)}`);
  }
  return `{${parts.join(",")}}`;
}

function refuse(path: string, reason: string) {
  return cryptoError("not_canonical", `${path}: ${reason}`, { path, reason });
}
