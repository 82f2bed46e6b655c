import { BuiltinError } from "../errors.ts";
import { allocate, allocateText, charge } from "../value/meter.ts";
import { type Num, toBigInt, truncate } from "../value/number.ts";
import { getKey, isArray, isObject, type RegoSet, sortedKeys, type Value } from "../value/value.ts";
import { type Builtin, define, operandError } from "./builtin.ts";
import { codePoints, elementError, whole } from "./collections.ts";
import { sprintf } from "./sprintf.ts";

/** The strings of an array or set operand. */
function stringList(value: Value, position: number): readonly string[] {
  const items = isArray(value) ? value : (value as RegoSet).sorted();
  charge(items.length);
  for (const item of items) if (typeof item !== "string") throw elementError(position, value, item, "string");
  return items as readonly string[];
}

function made(text: string): string {
  allocateText(text.length);
  return text;
}

function oneOrMany(value: Value, position: number): readonly string[] {
  return typeof value === "string" ? [value] : stringList(value, position);
}

function text2(name: string, run: (a: string, b: string) => Value): Builtin {
  return define(name, "string, string -> any", ([a, b]) => {
    charge(((a as string).length + (b as string).length) >> 5);
    return run(a as string, b as string);
  });
}

/** Go's simple case mapping: one code point to one code point. */
function mapCase(text: string, upper: boolean): string {
  let out = "";
  for (const c of text) {
    const code = c.codePointAt(0) as number;
    if (code < 0x80) out += upper ? c.toUpperCase() : c.toLowerCase();
    else if (!upper && c === "\u0130") out += "i";
    else {
      const mapped = upper ? c.toUpperCase() : c.toLowerCase();
      out += [...mapped].length === 1 ? mapped : c;
    }
  }
  return out;
}

/** Go's `unicode.IsSpace`. */
const SPACE = /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;
const SPACE_END = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/u;

function trimLeft(text: string, cut: ReadonlySet<string>): string {
  const points = [...text];
  let i = 0;
  while (i < points.length && cut.has(points[i] as string)) i++;
  return points.slice(i).join("");
}

function trimRight(text: string, cut: ReadonlySet<string>): string {
  const points = [...text];
  let n = points.length;
  while (n > 0 && cut.has(points[n - 1] as string)) n--;
  return points.slice(0, n).join("");
}

function replaceAll(text: string, old: string, by: string): string {
  if (old === "") {
    const points = [...text];
    allocateText((points.length + 1) * by.length + text.length);
    return by + points.map((c) => c + by).join("");
  }
  let hits = 0;
  for (let at = text.indexOf(old); at >= 0; at = text.indexOf(old, at + old.length)) hits++;
  charge(text.length >> 5);
  if (hits === 0) return text;
  allocateText(text.length + hits * (by.length - old.length));
  return text.split(old).join(by);
}

/** Go's `strings.NewReplacer`: at every place the first pattern in order wins; the empty one matches between code points. */
function replaceMany(text: string, pairs: readonly (readonly [string, string])[]): string {
  let out = "";
  let at = 0;
  const emptyPair = pairs.find(([old]) => old === "");
  let afterMatch = false;
  while (at <= text.length) {
    charge(pairs.length);
    const hit = pairs.find(([old]) => old !== "" && text.startsWith(old, at));
    if (hit !== undefined) {
      allocateText(hit[1].length);
      out += hit[1];
      at += hit[0].length;
      afterMatch = true;
      continue;
    }
    if (emptyPair !== undefined && !afterMatch) {
      allocateText(emptyPair[1].length);
      out += emptyPair[1];
    }
    afterMatch = false;
    if (at === text.length) break;
    const c = String.fromCodePoint(text.codePointAt(at) as number);
    out += c;
    at += c.length;
  }
  return made(out);
}

function indexes(text: string, search: string, all: boolean): number[] {
  if (search === "") throw new BuiltinError("empty search character");
  const out: number[] = [];
  let points = 0;
  let from = 0;
  for (let at = text.indexOf(search); at >= 0; at = text.indexOf(search, at + 1)) {
    points += codePoints(text.slice(from, at));
    from = at;
    charge(1 + ((at - from) >> 5));
    out.push(points);
    if (!all) break;
  }
  return out;
}

/** Strings. */
export const stringBuiltins: readonly Builtin[] = [
  text2("contains", (a, b) => a.includes(b)),
  text2("startswith", (a, b) => a.startsWith(b)),
  text2("endswith", (a, b) => a.endsWith(b)),
  text2("indexof", (a, b) => indexes(a, b, false)[0] ?? -1),
  text2("indexof_n", (a, b) => {
    const out = indexes(a, b, true);
    allocate(out.length);
    return out;
  }),
  text2("strings.count", (a, b) => {
    if (b === "") return codePoints(a) + 1;
    let n = 0;
    for (let at = a.indexOf(b); at >= 0; at = a.indexOf(b, at + b.length)) n++;
    return n;
  }),
  define("concat", "string, <string>|[string] -> string", ([separator, list]) => {
    const parts = stringList(list as Value, 2);
    const glue = separator as string;
    allocateText(parts.reduce((n, part) => n + part.length, 0) + glue.length * Math.max(0, parts.length - 1));
    return parts.join(glue);
  }),
  define("format_int", "number, number -> string", ([n, base]) => {
    if (base !== 2 && base !== 8 && base !== 10 && base !== 16)
      throw new BuiltinError("operand 2 must be one of {2, 8, 10, 16}", "eval_type_error");
    return made((toBigInt(truncate(n as Num)) as bigint).toString(base));
  }),
  define("substring", "string, number, number -> string", ([s, from, length]) => {
    const text = s as string;
    const start = whole(from as Value, 2);
    const count = whole(length as Value, 3);
    if (start < 0) throw new BuiltinError("negative offset");
    charge(text.length >> 4);
    const points = isAscii(text) ? text : [...text];
    const end = count < 0 ? points.length : Math.min(points.length, start + count);
    const part = points.slice(start, Math.max(start, end));
    return made(typeof part === "string" ? part : part.join(""));
  }),
  define("lower", "string -> string", ([s]) => made(mapCase(s as string, false))),
  define("upper", "string -> string", ([s]) => made(mapCase(s as string, true))),
  text2("split", (text, separator) => {
    const parts = separator === "" ? [...text] : text.split(separator);
    allocate(parts.length);
    allocateText(text.length);
    return parts;
  }),
  define("replace", "string, string, string -> string", ([s, old, by]) => replaceAll(s as string, old as string, by as string)),
  define("strings.replace_n", "{string: string}, string -> string", ([patterns, s]) => {
    const object = patterns as Value;
    if (!isObject(object)) throw operandError(1, object, "object");
    const pairs = sortedKeys(object).map((key) => {
      const value = getKey(object, key);
      if (typeof key !== "string") throw new BuiltinError("operand 1 non-string key found in pattern object", "eval_type_error");
      if (typeof value !== "string")
        throw new BuiltinError("operand 1 non-string value found in pattern object", "eval_type_error");
      return [key, value] as const;
    });
    return replaceMany(s as string, pairs);
  }),
  define("strings.reverse", "string -> string", ([s]) => made([...(s as string)].reverse().join(""))),
  define("strings.any_prefix_match", "string|<string>|[string], string|<string>|[string] -> boolean", ([s, p]) => {
    const texts = oneOrMany(s as Value, 1);
    const prefixes = oneOrMany(p as Value, 2);
    charge((texts.length * prefixes.length) >> 2);
    return texts.some((text) => prefixes.some((prefix) => text.startsWith(prefix)));
  }),
  define("strings.any_suffix_match", "string|<string>|[string], string|<string>|[string] -> boolean", ([s, p]) => {
    const texts = oneOrMany(s as Value, 1);
    const suffixes = oneOrMany(p as Value, 2);
    charge((texts.length * suffixes.length) >> 2);
    return texts.some((text) => suffixes.some((suffix) => text.endsWith(suffix)));
  }),
  text2("trim", (text, cut) => {
    const set = new Set(cut);
    return made(trimRight(trimLeft(text, set), set));
  }),
  text2("trim_left", (text, cut) => made(trimLeft(text, new Set(cut)))),
  text2("trim_right", (text, cut) => made(trimRight(text, new Set(cut)))),
  text2("trim_prefix", (text, prefix) => made(text.startsWith(prefix) ? text.slice(prefix.length) : text)),
  text2("trim_suffix", (text, suffix) => made(text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text)),
  define("trim_space", "string -> string", ([s]) => made((s as string).replace(SPACE, "").replace(SPACE_END, ""))),
  define("sprintf", "string, [any] -> string", ([format, args]) => sprintf(format as string, args as readonly Value[])),
];

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}
