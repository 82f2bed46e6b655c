import { situation } from "./error-table.ts";

/** A request target taken apart; the path keeps its escapes. */
export interface Target {
  readonly path: string;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
}

/**
 * Takes a request target apart (RFC 9112 section 3.2: origin form or absolute form; a fragment is cut). A repeated query key
 * is an array, `+` is a blank. Throws `invalid_request` for what is not printable ASCII, a bad escape, a NUL.
 */
export function parseTarget(target: string): Target {
  if (!/^[\x21-\x7e]+$/.test(target)) throw situation("invalid_request", "the request target is malformed");
  const origin = target.replace(/^https?:\/\/[^/?#]*/i, "").replace(/#.*$/, "");
  const mark = origin.indexOf("?");
  return mark < 0 ? { path: origin, query: {} } : { path: origin.slice(0, mark), query: parseQuery(origin.slice(mark + 1)) };
}

function parseQuery(text: string): Target["query"] {
  const query = new Map<string, string | readonly string[]>();
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const key = decodeComponent(pair.slice(0, equals < 0 ? undefined : equals).replaceAll("+", " "));
    const value = equals < 0 ? "" : decodeComponent(pair.slice(equals + 1).replaceAll("+", " "));
    const before = query.get(key);
    query.set(key, before === undefined ? value : [...(typeof before === "string" ? [before] : before), value]);
  }
  return Object.fromEntries(query);
}

/** Percent-decodes one path segment or query part; throws `invalid_request`. */
export function decodeComponent(text: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    throw situation("invalid_request", "a percent escape in the request target is malformed");
  }
  if (decoded.includes("\0")) throw situation("invalid_request", "the request target holds a NUL");
  return decoded;
}
