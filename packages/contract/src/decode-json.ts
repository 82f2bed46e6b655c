import { situation } from "./error-table.ts";
import { type Issue, invalid, shortName } from "./issues.ts";
import { utf8Decode } from "./utf8.ts";

/** Deepest nesting of arrays and objects that is accepted. */
const MAX_DEPTH = 64;

/**
 * Parses a JSON text as strictly as everything behind it assumes: UTF-8, at most 64 levels, finite numbers, no unpaired
 * surrogate or NUL in a string, no `__proto__` key. Throws `invalid_json` for what is not JSON, `validation_failed` naming the
 * place for the rest.
 */
export function decodeJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8Decode(bytes);
  } catch {
    throw situation("invalid_json", "the body is not UTF-8");
  }
  // Before parsing: a body of brackets would otherwise take a hundred times its size in memory.
  if (depth(text) > MAX_DEPTH) throw situation("invalid_json", `the body is nested deeper than ${MAX_DEPTH} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw situation("invalid_json", "the body is not valid JSON");
  }
  // From well-formed UTF-8, only an escape makes a string that is not; JSON has no bare NUL.
  const issue = oddity(value, "body", text.includes("\\u"));
  if (issue !== undefined) throw invalid([issue]);
  return value;
}

function depth(text: string): number {
  let level = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) i = stringEnd(text, i + 1);
    else if (c === 0x5b || c === 0x7b) deepest = Math.max(deepest, ++level);
    else if (c === 0x5d || c === 0x7d) level--;
  }
  return deepest;
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
