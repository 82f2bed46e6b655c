import { checkArgument } from "@seneschal/kernel";
import { situation } from "./error-table.ts";
import { type Issue, invalid, shortName } from "./issues.ts";
import { jsonText } from "./json-text.ts";

/** Deepest nesting of arrays and objects that is accepted. */
export const MAX_DEPTH = 64;

/** What a text may hold, and what it is called in errors. */
export interface JsonBounds {
  /** Separators and brackets, which bounds its values; default: any. */
  readonly values?: number | undefined;
  /** Levels; default {@link MAX_DEPTH}. */
  readonly depth?: number;
  /** Default `body`. */
  readonly path?: string;
}

/**
 * Parses a JSON text as strictly as everything behind it assumes: UTF-8, at most 64 levels, finite numbers, no unpaired
 * surrogate or NUL in a string, no `__proto__` key, no key twice in one object (RFC 7493: readers differ in which they take), no byte
 * order mark, and no more values than its bounds allow. Throws `invalid_json` for what is not JSON, `payload_too_large` for too many values,
 * `validation_failed` naming the place for the rest.
 */
export function decodeJson(bytes: Uint8Array, bounds: JsonBounds = {}): unknown {
  checkArgument("bytes", bytes, "bytes");
  const { values = Number.POSITIVE_INFINITY, depth: levels = MAX_DEPTH, path = "body" } = bounds;
  let text: string;
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    throw situation("invalid_json", "the body begins with a byte order mark");
  try {
    text = jsonText(bytes);
  } catch {
    throw situation("invalid_json", "the body is not UTF-8");
  }
  // Before parsing: a body of brackets would otherwise take a hundred times its size in memory.
  const { depth, members, marks } = measure(text);
  if (depth > levels) throw situation("invalid_json", `the body is nested deeper than ${MAX_DEPTH} levels`);
  if (marks > values)
    throw situation("payload_too_large", `${path} holds more than ${values} values`, {
      field: path,
      limit: values,
      unit: "values",
    });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw situation("invalid_json", "the body is not valid JSON");
  }
  // From well-formed UTF-8, only an escape makes a string that is not; JSON has no bare NUL.
  const issue = oddity(value, path, text.includes("\\u"));
  if (issue !== undefined) throw invalid([issue]);
  // Of two equal keys one is lost in the value: then the text has more members.
  if (membersOf(value) !== members)
    throw invalid([{ path: repeatedKey(text, path) ?? path, message: "the field is there twice" }]);
  return value;
}

/** How deep the text is nested, how many members its objects have, and how many separators and brackets there are. */
function measure(text: string): { readonly depth: number; readonly members: number; readonly marks: number } {
  let level = 0;
  let depth = 0;
  let members = 0;
  let others = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) i = stringEnd(text, i + 1);
    else if (c === 0x5b || c === 0x7b) {
      depth = Math.max(depth, ++level);
      others++;
    } else if (c === 0x5d || c === 0x7d) level--;
    else if (c === 0x3a) members++;
    else if (c === 0x2c) others++;
  }
  return { depth, members, marks: members + others };
}

function membersOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const children: readonly unknown[] = Object.values(value);
  let members = Array.isArray(value) ? 0 : children.length;
  for (const child of children) members += membersOf(child);
  return members;
}

/** Path of the first key that its object has already, in a text that is JSON. */
function repeatedKey(text: string, path: string): string | undefined {
  /** For each open object its keys so far, for each open array how many elements are over; and what the one being read is called. */
  const open: { readonly keys?: Set<string>; at: string | number }[] = [];
  const colon = /\s*:/y;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    const inner = open.at(-1);
    if (c === 0x22) {
      const end = stringEnd(text, i + 1);
      colon.lastIndex = end + 1;
      if (inner?.keys !== undefined && colon.test(text)) {
        inner.at = JSON.parse(text.slice(i, end + 1)) as string;
        if (inner.keys.has(inner.at))
          return open.reduce((so, { at }) => `${so}${typeof at === "number" ? `[${at}]` : `.${shortName(at)}`}`, path);
        inner.keys.add(inner.at);
      }
      i = end;
    } else if (c === 0x7b) open.push({ keys: new Set(), at: "" });
    else if (c === 0x5b) open.push({ at: 0 });
    else if (c === 0x7d || c === 0x5d) open.pop();
    else if (c === 0x2c && typeof inner?.at === "number") inner.at++;
  }
  return undefined;
}

/** Where the string that begins at `from` is closed: at a quote behind an even number of backslashes. */
function stringEnd(text: string, from: number): number {
  let end = text.indexOf('"', from);
  for (; end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (end - slashes > from && text.charCodeAt(end - slashes - 1) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

/** The first value that JSON can spell but a document cannot hold. Recursion is bounded by the depth check. */
function oddity(value: unknown, path: string, escapes: boolean): Issue | undefined {
  if (typeof value === "string")
    return escapes && /\0|\p{Surrogate}/u.test(value) ? { path, message: "not well-formed text" } : undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : { path, message: "number out of range" };
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${key}]` : `${path}.${shortName(key)}`;
    if (key === "__proto__") return { path: at, message: "unknown field" };
    const found =
      (escapes && /\0|\p{Surrogate}/u.test(key) ? { path, message: "a field name is not well-formed text" } : undefined) ??
      oddity(child, at, escapes);
    if (found !== undefined) return found;
  }
  return undefined;
}
