import { checkArgument } from "../argument.ts";
import { EvaluationError } from "../errors.ts";
import { keyText, printable } from "./format.ts";
import { budgets, tick } from "./meter.ts";
import { Decimal, numberText, parseNumber, toDouble } from "./number.ts";
import { getKey, isArray, type PlainObject, RegoSet, sortedKeys, type Value } from "./value.ts";

const MAX_NESTING = 10_000;
const LONG_NUMBER = /[\d.]{16}|\d[eE][+-]?\d{2}/;

/**
 * Reads JSON without losing digits: integers beyond 2^53 stay exact. Throws `SyntaxError`, and a limit error above 10,000
 * levels. The last of duplicate keys
 * wins; `__proto__` is a key like any other.
 *
 * @example
 * ```ts
 * import { readJson } from "@seneschal/rego";
 * console.log(readJson('{"id": 9007199254740993}')); // { id: 9007199254740993n }
 * ```
 */
export function readJson(text: string): Value {
  checkArgument("text", text, "string");
  if (text.length < 100_000 && !LONG_NUMBER.test(text)) return JSON.parse(text) as Value;
  return new Reader(text).document();
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none in its texts
const PLAIN_TEXT = /"[^"\\\x00-\x1f]*"/y;
const SHORT = 12;
const WORDS = [
  ["true", true],
  ["false", false],
  ["null", null],
] as const;

/** Iterative over nesting (an own stack), so that depth costs no call stack. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Value {
    const stack: { list: Value[] | undefined; map: Record<string, Value> | undefined; key: string }[] = [];
    for (;;) {
      this.#space();
      const c = this.#text[this.#at];
      let value: Value;
      if (c === "[" || c === "{") {
        this.#at++;
        if (stack.length >= MAX_NESTING) throw new EvaluationError("eval_limit_error", "JSON is nested too deeply");
        this.#space();
        const empty = this.#text[this.#at] === (c === "[" ? "]" : "}");
        if (!empty) {
          const frame =
            c === "["
              ? { list: [], map: undefined, key: "" }
              : { list: undefined, map: {} as Record<string, Value>, key: this.#key() };
          stack.push(frame);
          continue;
        }
        this.#at++;
        value = c === "[" ? [] : {};
      } else value = this.#scalar();
      for (;;) {
        const frame = stack.at(-1);
        this.#space();
        if (frame === undefined) {
          if (this.#at < this.#text.length) this.#fail();
          return value;
        }
        const next = this.#text[this.#at++];
        if (frame.list !== undefined) frame.list.push(value);
        else if (frame.map !== undefined) setOwn(frame.map, frame.key, value);
        if (next === ",") {
          this.#space();
          if (frame.map !== undefined) frame.key = this.#key();
          break;
        }
        if (next !== (frame.list === undefined ? "}" : "]")) this.#fail();
        value = (frame.list ?? frame.map) as Value;
        stack.pop();
      }
    }
  }

  #fail(): never {
    throw new SyntaxError(`invalid character at offset ${this.#at}`);
  }

  #space(): void {
    for (;;) {
      const c = this.#text.charCodeAt(this.#at);
      if (c !== 32 && c !== 10 && c !== 13 && c !== 9) return;
      this.#at++;
    }
  }

  #key(): string {
    if (this.#text[this.#at] !== '"') this.#fail();
    const key = this.#string();
    this.#space();
    if (this.#text[this.#at] !== ":") this.#fail();
    this.#at++;
    return key;
  }

  #string(): string {
    const start = this.#at;
    PLAIN_TEXT.lastIndex = start;
    const plain = PLAIN_TEXT.test(this.#text);
    let end = PLAIN_TEXT.lastIndex - 1;
    if (!plain) {
      for (end = start + 1; this.#text[end] !== '"'; end++) {
        if (end >= this.#text.length) this.#fail();
        if (this.#text[end] === "\\") end++;
      }
    }
    this.#at = end + 1;
    // a longer part would keep the whole text in memory
    if (plain && end - start <= SHORT) return this.#text.slice(start + 1, end);
    return JSON.parse(this.#text.slice(start, end + 1)) as string;
  }

  #scalar(): Value {
    const c = this.#text[this.#at];
    if (c === '"') return this.#string();
    NUMBER.lastIndex = this.#at;
    if (NUMBER.test(this.#text)) {
      const text = this.#text.slice(this.#at, NUMBER.lastIndex);
      this.#at = NUMBER.lastIndex;
      const value = parseNumber(text);
      return value === undefined ? this.#fail() : value;
    }
    for (const [word, value] of WORDS) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    return this.#fail();
  }
}

export function setOwn(map: Record<string, Value>, key: string, value: Value): void {
  if (key === "__proto__") Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  else map[key] = value;
}

/**
 * A value as plain JSON: sets become arrays in Rego order, keys that are no strings their JSON text, numbers doubles
 * (`exact` keeps integers beyond 2^53 and fractions that no double prints as the engine holds them). Throws a limit error above the output budget, and for a number that no double is as large as.
 */
export function toJson(value: Value, exact = false): unknown {
  if (typeof value === "boolean" || typeof value === "number" || value === null) return value;
  return new Conversion(exact).convert(value, 0);
}

/**
 * The JSON of what an evaluation gave, with every digit of results that are `exact`: the counterpart of {@link readJson}. Laid out as by
 * `JSON.stringify` with so many spaces; undefined members are left out.
 *
 * @example
 * ```ts
 * import { compile, writeJson } from "@seneschal/rego";
 * const policy = compile([{ name: "p.rego", source: "package p\n\nnext := input.id + 1\n" }]);
 * const result = policy.evaluate("data.p.next", { id: 9007199254740992n }, { exact: true });
 * console.log(writeJson(result)); // {"kind":"defined","value":9007199254740993}
 * ```
 */
export function writeJson(value: unknown, indent = 0): string {
  checkArgument("indent", indent, "number");
  return jsonOf(value, "\n", " ".repeat(indent)) ?? "null";
}

function jsonOf(value: unknown, line: string, indent: string): string | undefined {
  if (typeof value === "bigint" || value instanceof Decimal) return numberText(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = line + indent;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((item) => jsonOf(item, inner, indent) ?? "null")
    : Object.entries(value).flatMap(([key, item]) => {
        const text = jsonOf(item, inner, indent);
        return text === undefined ? [] : [`${JSON.stringify(key)}:${indent === "" ? "" : " "}${text}`];
      });
  const [open, close] = isList ? "[]" : "{}";
  if (parts.length === 0 || indent === "") return `${open}${parts.join(",")}${close}`;
  return `${open}${inner}${parts.join(`,${inner}`)}${line}${close}`;
}

class Conversion {
  readonly #exact: boolean;
  #nodes = budgets().outputNodes;
  #characters = budgets().outputCharacters;

  constructor(exact: boolean) {
    this.#exact = exact;
  }

  convert(v: Value, depth: number): unknown {
    this.#nodes--;
    tick();
    if (depth > 1_000) this.#nodes = -1;
    this.#bound();
    switch (typeof v) {
      case "string":
        return this.#text(v);
      case "bigint":
        return this.#exact ? v : this.#double(Number(v));
      case "object":
        break;
      default:
        return v;
    }
    if (v === null) return null;
    if (v instanceof Decimal) return this.#exact ? v : this.#double(toDouble(v));
    if (isArray(v)) return v.map((item) => this.convert(item, depth + 1));
    if (v instanceof RegoSet) return v.sorted().map((item) => this.convert(item, depth + 1));
    const out: Record<string, Value> = {};
    for (const key of sortedKeys(v)) {
      setOwn(out, this.#text(keyText(key)), this.convert(getKey(v, key) as Value, depth + 1) as Value);
    }
    return out satisfies PlainObject;
  }

  /** JSON has no infinity: as `null` a number would pass for nothing at all. */
  #double(value: number): number {
    if (!Number.isFinite(value))
      throw new EvaluationError("eval_limit_error", "a number of the result is larger than a double can be");
    return value;
  }

  #text(text: string): string {
    this.#characters -= text.length;
    this.#bound();
    return printable(text);
  }

  #bound(): void {
    if (this.#nodes < 0 || this.#characters < 0) {
      throw new EvaluationError("eval_limit_error", "result exceeds its output budget");
    }
  }
}
