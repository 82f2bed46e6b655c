import { allocateText, tick } from "./meter.ts";
import { Decimal, numberText } from "./number.ts";
import { compareStrings, getKey, isArray, RegoSet, sortedKeys, type Value } from "./value.ts";

const MAX_NESTING = 500;

/** The text of a value as a Rego term: `{"a": [1, set()]}`. */
export function termText(value: Value): string {
  const out: string[] = [];
  writeTerm(value, out, 0);
  return out.join("");
}

function emit(out: string[], text: string): void {
  allocateText(text.length);
  out.push(text);
}

function guard(depth: number): void {
  tick();
  if (depth > MAX_NESTING) allocateText(Number.MAX_SAFE_INTEGER);
}

function writeTerm(value: Value, out: string[], depth: number): void {
  guard(depth);
  if (typeof value === "string") emit(out, quoted(value));
  else if (typeof value !== "object" || value === null || value instanceof Decimal) emit(out, scalarText(value));
  else if (isArray(value)) {
    emit(out, "[");
    for (let i = 0; i < value.length; i++) {
      if (i > 0) emit(out, ", ");
      writeTerm(value[i] as Value, out, depth + 1);
    }
    emit(out, "]");
  } else if (value instanceof RegoSet) {
    if (value.size === 0) {
      emit(out, "set()");
      return;
    }
    emit(out, "{");
    value.sorted().forEach((item, i) => {
      if (i > 0) emit(out, ", ");
      writeTerm(item, out, depth + 1);
    });
    emit(out, "}");
  } else {
    emit(out, "{");
    sortedKeys(value).forEach((key, i) => {
      if (i > 0) emit(out, ", ");
      writeTerm(key, out, depth + 1);
      emit(out, ": ");
      writeTerm(getKey(value, key) as Value, out, depth + 1);
    });
    emit(out, "}");
  }
}

function scalarText(value: null | boolean | number | bigint | Decimal): string {
  return value === null || typeof value === "boolean" ? String(value) : numberText(value);
}

/** Text for output: what is not Unicode (see builtins/bytes.ts) becomes U+FFFD. */
export function printable(text: string): string {
  return /[\ud800-\udfff]/.test(text)
    ? text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
    : text;
}

/** A Go-quoted string (`strconv.Quote`). */
export function quoted(text: string): string {
  let out = '"';
  for (const c of text) {
    const code = c.codePointAt(0) ?? 0;
    if (c === '"' || c === "\\") out += `\\${c}`;
    else if (c === "\n") out += "\\n";
    else if (c === "\t") out += "\\t";
    else if (c === "\r") out += "\\r";
    else if (code === 7) out += "\\a";
    else if (code === 8) out += "\\b";
    else if (code === 11) out += "\\v";
    else if (code === 12) out += "\\f";
    else if (code < 0x20 || code === 0x7f) out += `\\x${code.toString(16).padStart(2, "0")}`;
    else if (code !== 0x20 && /[\p{C}\p{Z}]/u.test(c)) {
      out += code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
    } else out += c;
  }
  return `${out}"`;
}

/** JSON text as Go's encoder prints it: sorted keys, `<`, `>`, `&`, U+2028 and U+2029 escaped; sets are arrays. */
export function jsonText(value: Value, layout?: Layout): string {
  const out: string[] = [];
  writeJson(value, out, 0, layout);
  return out.join("");
}

export interface Layout {
  readonly prefix: string;
  readonly indent: string;
}

function writeJson(value: Value, out: string[], depth: number, layout: Layout | undefined): void {
  guard(depth);
  if (typeof value === "string") {
    emit(out, jsonString(value));
    return;
  }
  if (typeof value !== "object" || value === null || value instanceof Decimal) {
    emit(out, scalarText(value));
    return;
  }
  const line = (level: number): void => {
    if (layout !== undefined) emit(out, `\n${layout.prefix}${layout.indent.repeat(level)}`);
  };
  if (isArray(value) || value instanceof RegoSet) {
    const items = isArray(value) ? value : value.sorted();
    if (items.length === 0) {
      emit(out, "[]");
      return;
    }
    emit(out, "[");
    items.forEach((item, i) => {
      if (i > 0) emit(out, ",");
      line(depth + 1);
      writeJson(item, out, depth + 1, layout);
    });
    line(depth);
    emit(out, "]");
    return;
  }
  // of keys with one name, 0 and "0", the last has it
  const entries = [...new Map(sortedKeys(value).map((key) => [keyText(key), getKey(value, key) as Value] as const))];
  if (entries.length === 0) {
    emit(out, "{}");
    return;
  }
  entries.sort((a, b) => compareStrings(a[0], b[0]));
  emit(out, "{");
  entries.forEach(([key, item], i) => {
    if (i > 0) emit(out, ",");
    line(depth + 1);
    emit(out, jsonString(key));
    emit(out, layout === undefined ? ":" : ": ");
    writeJson(item, out, depth + 1, layout);
  });
  line(depth);
  emit(out, "}");
}

/** The JSON name of an object key: strings as they are, anything else as its JSON text. */
export function keyText(key: Value): string {
  return typeof key === "string" ? key : jsonText(key);
}

/** A JSON string literal with Go's HTML escapes. */
function jsonString(text: string): string {
  return JSON.stringify(printable(text)).replace(/[<>&\u2028\u2029]|\\b|\\f|\\\\/g, (c) =>
    c === "\\b" || c === "\\f" || c === "\\\\" ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
