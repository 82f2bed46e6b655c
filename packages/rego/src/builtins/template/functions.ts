import { BuiltinError } from "../../errors.ts";
import { allocateText, charge } from "../../value/meter.ts";
import { compareStrings } from "../../value/value.ts";
import { bytesToText, textToBytes } from "../bytes.ts";
import { queryEscape } from "../encoding.ts";
import { type Arg, floatText, formatArguments } from "../sprintf.ts";
import { Float, type GoValue, JsonNumber } from "./literals.ts";

/** Whether a value is none of false, 0, nil and empty. A number of the variables is a text, so even 0 is true. */
export function truth(value: GoValue): boolean {
  if (value === undefined) return false;
  if (typeof value === "boolean") return value;
  if (typeof value === "bigint") return value !== 0n;
  if (value instanceof Float) return value.value !== 0;
  return lengthOf(value) !== 0;
}

/** A value as `fmt.Sprint` writes it. */
export function goText(value: GoValue): string {
  charge(1);
  if (value === undefined) return "<nil>";
  if (typeof value === "string") return value;
  if (value instanceof JsonNumber) return value.text;
  if (value instanceof Float) return floatText(value.value);
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  const parts = isList(value) ? value.map(goText) : [...value].map(([key, item]) => `${key}:${goText(item)}`);
  allocateText(parts.reduce((sum, part) => sum + part.length + 1, 5));
  return `${isList(value) ? "" : "map"}[${parts.join(" ")}]`;
}

export function isList(value: GoValue): value is readonly GoValue[] {
  return Array.isArray(value);
}

/** The name of a value's Go type, for messages. */
export function typeOf(value: GoValue): string {
  if (value === undefined) return "nil";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int";
  if (typeof value === "string") return "string";
  if (value instanceof Float) return "float64";
  if (value instanceof JsonNumber) return "json.Number";
  return isList(value) ? "[]interface {}" : "map[string]interface {}";
}

function fail(name: string, message: string): never {
  throw new BuiltinError(`template: template: error calling ${name}: ${message}`);
}

function textOf(value: GoValue): string | undefined {
  return typeof value === "string" ? value : value instanceof JsonNumber ? value.text : undefined;
}

/** Bytes of a string, items, or members; undefined for what has no length. */
function lengthOf(value: GoValue): number | undefined {
  const text = textOf(value);
  if (text !== undefined) return textToBytes(text).length;
  if (isList(value)) return value.length;
  return value instanceof Map ? value.size : undefined;
}

type BasicKind = "boolean" | "integer" | "float" | "string" | "none";

function basicKind(value: GoValue): BasicKind {
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "bigint") return "integer";
  if (value instanceof Float) return "float";
  return textOf(value) === undefined ? "none" : "string";
}

function isEqual(first: GoValue, others: readonly GoValue[]): boolean {
  if (others.length === 0) fail("eq", "missing argument for comparison");
  const kind = basicKind(first);
  for (const other of others) {
    if (basicKind(other) !== kind) {
      if (first !== undefined && other !== undefined) {
        fail("eq", `incompatible types for comparison: ${typeOf(first)} and ${typeOf(other)}`);
      }
    } else if (kind === "none") {
      if (first !== undefined && other !== undefined) fail("eq", `non-comparable type ${typeOf(other)}`);
      if (first === other) return true;
    } else if (scalarOf(first) === scalarOf(other)) return true;
  }
  return false;
}

function scalarOf(value: GoValue): unknown {
  return value instanceof Float ? value.value : (textOf(value) ?? value);
}

/** Negative, zero or positive; throws for what Go does not order. */
function order(name: string, a: GoValue, b: GoValue): number {
  const kind = basicKind(a);
  if (kind === "none" || basicKind(b) === "none") fail(name, "invalid type for comparison");
  if (kind !== basicKind(b)) fail(name, `incompatible types for comparison: ${typeOf(a)} and ${typeOf(b)}`);
  if (kind === "boolean") fail(name, "invalid type for comparison");
  if (kind === "string") return compareStrings(scalarOf(a) as string, scalarOf(b) as string);
  const [x, y] = [scalarOf(a), scalarOf(b)] as [bigint, bigint];
  return x < y ? -1 : x > y ? 1 : 0;
}

function indexInto(name: string, index: GoValue, limit: number): number {
  if (typeof index !== "bigint")
    return fail(name, `cannot index slice/array with ${index === undefined ? "nil" : `type ${typeOf(index)}`}`);
  if (index < 0n || index > BigInt(limit)) fail(name, `index out of range: ${index}`);
  return Number(index);
}

function indexed(item: GoValue, indexes: readonly GoValue[]): GoValue {
  if (item === undefined) fail("index", "index of untyped nil");
  let at: GoValue = item;
  for (const index of indexes) {
    if (at === undefined) fail("index", "index of nil pointer");
    if (at instanceof Map) {
      if (typeof index !== "string") fail("index", `value has type ${typeOf(index)}; should be string`);
      at = at.get(index);
      continue;
    }
    const text = textOf(at);
    const items: readonly GoValue[] = isList(at)
      ? at
      : text === undefined
        ? fail("index", `can't index item of type ${typeOf(at)}`)
        : [...textToBytes(text)].map(BigInt);
    const place = indexInto("index", index, items.length);
    if (place === items.length) fail("index", `index out of range: ${place}`);
    at = items[place];
  }
  return at;
}

function sliced(item: GoValue, indexes: readonly GoValue[]): GoValue {
  if (item === undefined) fail("slice", "slice of untyped nil");
  if (indexes.length > 3) fail("slice", `too many slice indexes: ${indexes.length}`);
  const text = textOf(item);
  if (text !== undefined && indexes.length === 3) fail("slice", "cannot 3-index slice a string");
  const items =
    text !== undefined ? textToBytes(text) : isList(item) ? item : fail("slice", `can't slice item of type ${typeOf(item)}`);
  const [from = 0, to = items.length, capacity = items.length] = indexes.map((index) => indexInto("slice", index, items.length));
  if (from > to) fail("slice", `invalid slice index: ${from} > ${to}`);
  if (to > capacity) fail("slice", `invalid slice index: ${to} > ${capacity}`);
  if (!(items instanceof Uint8Array)) return items.slice(from, to);
  const part = bytesToText(items.slice(from, to));
  return item instanceof JsonNumber ? new JsonNumber(part) : part;
}

function formatArgument(value: GoValue): Arg {
  if (typeof value === "bigint") return { kind: "int", value, type: "int" };
  if (value instanceof Float) return { kind: "float", value: value.value, text: "" };
  if (typeof value === "boolean") return { kind: "bool", value };
  return { kind: "string", value: goText(value) };
}

/** `fmt.Sprint`: spaces between operands of which neither is a string. */
function sprint(values: readonly GoValue[]): string {
  let out = "";
  for (const [i, value] of values.entries()) {
    if (i > 0 && textOf(value) === undefined && textOf(values[i - 1]) === undefined) out += " ";
    out += goText(value);
    allocateText(out.length >> 2);
  }
  return out;
}

/** The text that the escaping functions work on. */
function joined(values: readonly GoValue[]): string {
  const [first] = values;
  if (values.length === 1 && typeof first === "string") return first;
  return sprint(values.map((value) => (value === undefined ? "<no value>" : value)));
}

const HTML: Readonly<Record<string, string>> = {
  '"': "&#34;",
  "'": "&#39;",
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\0": "\uFFFD",
};

function javascriptEscape(text: string): string {
  return text.replace(/[\\'"<>&=]|\p{Cc}|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (c) => {
    if (c === "\\" || c === "'" || c === '"') return `\\${c}`;
    return `\\u${(c.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0")}`;
  });
}

function escaping(quote: (text: string) => string): TemplateFunction {
  return {
    least: 0,
    run: (args) => {
      const text = joined(args);
      allocateText(text.length * 6);
      return quote(text);
    },
  };
}

export interface TemplateFunction {
  readonly least: number;
  /** Arguments beyond `least` are refused where this is. */
  readonly most?: number;
  readonly run: (args: readonly GoValue[]) => GoValue;
}

const compared = (name: string, holds: (order: number) => boolean): TemplateFunction => ({
  least: 2,
  most: 2,
  run: ([a, b]) => holds(order(name, a, b)),
});

/** The functions of text/template; `and` and `or` are called only with what must be evaluated. */
export const functions: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  ["not", { least: 1, most: 1, run: ([value]) => !truth(value) }],
  ["eq", { least: 1, run: ([first, ...others]) => isEqual(first, others) }],
  ["ne", { least: 2, most: 2, run: ([a, b]) => !isEqual(a, [b]) }],
  ["lt", compared("lt", (n) => n < 0)],
  ["le", compared("le", (n) => n <= 0)],
  ["gt", compared("gt", (n) => n > 0)],
  ["ge", compared("ge", (n) => n >= 0)],
  ["len", { least: 1, most: 1, run: ([value]) => BigInt(lengthOf(value) ?? fail("len", `len of type ${typeOf(value)}`)) }],
  ["index", { least: 1, run: ([item, ...indexes]) => indexed(item, indexes) }],
  ["slice", { least: 1, run: ([item, ...indexes]) => sliced(item, indexes) }],
  [
    "call",
    { least: 1, run: ([value]) => fail("call", value === undefined ? "call of nil" : `non-function of type ${typeOf(value)}`) },
  ],
  ["print", { least: 0, run: sprint }],
  ["println", { least: 0, run: (args) => `${args.map(goText).join(" ")}\n` }],
  [
    "printf",
    {
      least: 1,
      run: ([format, ...args]) => {
        if (typeof format !== "string") return fail("printf", `wrong type for value; expected string; got ${typeOf(format)}`);
        return formatArguments(format, args.map(formatArgument));
      },
    },
  ],
  ["html", escaping((text) => text.replace(/["'&<>\0]/g, (c) => HTML[c] as string))],
  ["js", escaping(javascriptEscape)],
  ["urlquery", escaping(queryEscape)],
]);

/** Every name that a template may call. */
export const functionNames: ReadonlySet<string> = new Set([...functions.keys(), "and", "or"]);
