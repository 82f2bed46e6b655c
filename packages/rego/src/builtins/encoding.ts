import { BuiltinError } from "../errors.ts";
import { jsonText, keyText } from "../value/format.ts";
import { readJson } from "../value/json.ts";
import { allocate, allocateText, allowDigits, charge } from "../value/meter.ts";
import { getKey, isArray, isObject, RegoObject, RegoSet, sortedKeys, type Value } from "../value/value.ts";
import { type Builtin, define } from "./builtin.ts";
import { base64, bytesToText, fromBase64, fromBase64Url, hex, textToBytes } from "./bytes.ts";

function bad(message: string): never {
  throw new BuiltinError(message);
}

function encoder(name: string, encode: (bytes: Uint8Array) => string): Builtin {
  return define(name, "string -> string", ([s]) => {
    allocateText((s as string).length * 3);
    return encode(textToBytes(s as string));
  });
}

function decoder(name: string, what: string, decode: (text: string) => Uint8Array | undefined): Builtin {
  return define(name, "string -> string", ([s]) => {
    allocateText((s as string).length);
    return bytesToText(decode(s as string) ?? bad(`illegal ${what} data`));
  });
}

/** Parses JSON text; throws {@link BuiltinError}. */
export function unmarshal(text: string): Value {
  charge(text.length >> 3);
  allocate(text.length >> 3);
  for (const [digits] of text.matchAll(/\d{1000,}/g)) allowDigits(digits.length);
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new BuiltinError(error.message);
    throw error;
  }
}

/** Whether a builtin reads it without an error of its own. */
export function parses(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof BuiltinError) return false;
    throw error;
  }
}

export function queryEscape(text: string): string {
  let out = "";
  for (const b of textToBytes(text)) {
    const c = String.fromCharCode(b);
    if (/[A-Za-z0-9\-_.~]/.test(c)) out += c;
    else out += b === 0x20 ? "+" : `%${b.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  allocateText(out.length);
  return out;
}

function queryUnescape(text: string): string {
  const bytes = textToBytes(text);
  const out: number[] = [];
  for (let i = 0; i < bytes.length; i++) {
    const b = bytes[i] as number;
    if (b === 0x25) {
      const digits = String.fromCharCode(bytes[i + 1] ?? 0, bytes[i + 2] ?? 0);
      if (!/^[0-9a-fA-F]{2}$/.test(digits)) bad(`invalid URL escape ${JSON.stringify(text.slice(i, i + 3))}`);
      out.push(Number.parseInt(digits, 16));
      i += 2;
    } else out.push(b === 0x2b ? 0x20 : b);
  }
  return bytesToText(Uint8Array.from(out));
}

function marshalOptions(options: Value): { readonly pretty: boolean; readonly prefix: string; readonly indent: string } {
  let indent = "\t";
  let prefix = "";
  let implied = false;
  let explicit: boolean | undefined;
  if (!isObject(options)) throw new BuiltinError("operand 2 must be object", "eval_type_error");
  for (const key of sortedKeys(options)) {
    const value = getKey(options, key) as Value;
    if (key === "prefix" || key === "indent") {
      if (typeof value !== "string") throw new BuiltinError(`operand 2 key ${key} failed cast to string`, "eval_type_error");
      if (key === "prefix") prefix = value;
      else indent = value;
      implied = true;
    } else if (key === "pretty") {
      if (typeof value !== "boolean") throw new BuiltinError("operand 2 key pretty failed cast to bool", "eval_type_error");
      explicit = value;
    } else throw new BuiltinError(`operand 2 object contained unknown key ${jsonText(key)}`, "eval_type_error");
  }
  return { pretty: explicit ?? implied, prefix, indent };
}

/** JSON, base64, hex, URL queries. */
export const encodingBuiltins: readonly Builtin[] = [
  define("json.marshal", "any -> string", ([x]) => jsonText(x as Value)),
  define("json.marshal_with_options", "any, {string: any} -> string", ([x, o]) => {
    const { pretty, prefix, indent } = marshalOptions(o as Value);
    return pretty ? prefix + jsonText(x as Value, { prefix, indent }) : jsonText(x as Value);
  }),
  define("json.unmarshal", "string -> any", ([s]) => unmarshal(s as string)),
  define("json.is_valid", "any -> boolean", ([s]) => typeof s === "string" && parses(() => unmarshal(s))),

  encoder("base64.encode", (bytes) => base64(bytes)),
  decoder("base64.decode", "base64", (text) => fromBase64(text)),
  define("base64.is_valid", "any -> boolean", ([s]) => typeof s === "string" && fromBase64(s) !== undefined),
  encoder("base64url.encode", (bytes) => base64(bytes, true)),
  encoder("base64url.encode_no_pad", (bytes) => base64(bytes, true, false)),
  decoder("base64url.decode", "base64url", fromBase64Url),
  encoder("hex.encode", hex),
  define("hex.decode", "string -> string", ([s]) => {
    const text = s as string;
    const wrong = /[^0-9a-fA-F]/u.exec(text)?.[0];
    if (wrong !== undefined) {
      const point = (wrong.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0");
      bad(`encoding/hex: invalid byte: U+${point} '${wrong}'`);
    }
    if (text.length % 2 !== 0) bad("encoding/hex: odd length hex string");
    allocateText(text.length);
    return bytesToText(Uint8Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)));
  }),

  define("urlquery.encode", "string -> string", ([s]) => queryEscape(s as string)),
  define("urlquery.decode", "string -> string", ([s]) => queryUnescape(s as string)),
  define("urlquery.encode_object", "{string: string|[string]|<string>} -> string", ([o]) => {
    const refuse = (): never => {
      throw new BuiltinError("operand 1 values must be string, array[string], or set[string]", "eval_type_error");
    };
    const object = o as Value;
    if (!isObject(object)) return refuse();
    const entries = sortedKeys(object).map((key) => [keyText(key), getKey(object, key) as Value] as const);
    entries.sort((a, b) => (a[0] < b[0] ? -1 : 1));
    const pairs = entries.flatMap(([key, value]) => {
      const values =
        typeof value === "string" ? [value] : isArray(value) ? value : value instanceof RegoSet ? value.sorted() : refuse();
      return values.map((v) => `${queryEscape(key)}=${typeof v === "string" ? queryEscape(v) : refuse()}`);
    });
    return pairs.join("&");
  }),
  define("urlquery.decode_object", "string -> {string: [string]}", ([s]) => {
    const found = new Map<string, string[]>();
    for (const part of (s as string).split("&")) {
      if (part === "") continue;
      if (part.includes(";")) bad("invalid semicolon separator in query");
      const at = part.indexOf("=");
      const key = queryUnescape(at < 0 ? part : part.slice(0, at));
      const value = at < 0 ? "" : queryUnescape(part.slice(at + 1));
      const list = found.get(key);
      if (list === undefined) found.set(key, [value]);
      else list.push(value);
      allocate(1);
    }
    return RegoObject.of(found);
  }),
];
