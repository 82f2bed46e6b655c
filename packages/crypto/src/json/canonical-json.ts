import { cryptoError } from "../errors.ts";
import { LONE_SURROGATE } from "./lone-surrogate.ts";

/** Deeper input is refused: it is either a mistake or an attack on the stack. */
const MAX_DEPTH = 64;

/** Matches a string whose JSON form is itself in quotes. */
const UNESCAPED = /^[ !#-[\]-~]*$/;

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
  return write(value, []);
}

/** `way` leads to the value: keys and indexes, put together only where something is refused. */
function write(value: unknown, way: (string | number)[]): string {
  if (way.length > MAX_DEPTH) throw refuse(way, "nested too deeply");
  switch (typeof value) {
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (!Number.isFinite(value)) throw refuse(way, "not a finite number");
      return JSON.stringify(value);
    case "string":
      return text(value, way);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? array(value, way) : object(value, way);
    default:
      throw refuse(way, `${typeof value} is not JSON`);
  }
}

function text(value: string, way: readonly (string | number)[]): string {
  if (UNESCAPED.test(value)) return `"${value}"`;
  if (LONE_SURROGATE.test(value)) throw refuse(way, "lone surrogate");
  return JSON.stringify(value);
}

function array(value: readonly unknown[], way: (string | number)[]): string {
  let parts = "";
  // By index, so that a hole is seen: map and forEach would skip it.
  for (let i = 0; i < value.length; i++) {
    way.push(i);
    parts += `${i === 0 ? "" : ","}${write(value[i], way)}`;
    way.pop();
  }
  return `[${parts}]`;
}

function object(value: object, way: (string | number)[]): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw refuse(way, "not a plain object");
  let parts = "";
  for (const key of Object.keys(value).sort()) {
    const name = text(key, way);
    way.push(key);
    parts += `${parts === "" ? "" : ","}${name}:${write((value as Record<string, unknown>)[key], way)}`;
    way.pop();
  }
  return `{${parts}}`;
}

function refuse(way: readonly (string | number)[], reason: string) {
  const path = `$${way.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("")}`;
  return cryptoError("not_canonical", `${path}: ${reason}`, { path, reason });
}
