import { RE2JS } from "re2js";
import { BuiltinError } from "../errors.ts";
import { allocate, allocateText, charge, tick } from "../value/meter.ts";
import type { Value } from "../value/value.ts";
import { type Builtin, define } from "./builtin.ts";
import { whole } from "./collections.ts";

const MAX_CACHED = 256;
const MAX_PATTERN = 10_000;
const cache = new Map<string, { readonly regex: RE2JS; readonly size: number }>();

/** Compiles RE2 syntax, least recently used patterns cached; costs ticks. Throws {@link BuiltinError}. */
function compiled(pattern: string): { readonly regex: RE2JS; readonly size: number } {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  charge(1_000 + pattern.length * 20);
  for (const [, count] of pattern.matchAll(/\{(?:\d*,)?(\d{1,4})\}/g)) charge(Number(count) * 10);
  if (pattern.length > MAX_PATTERN) throw new BuiltinError("regular expression is too long");
  let regex: RE2JS;
  try {
    regex = RE2JS.compile(pattern);
  } catch (error) {
    throw new BuiltinError(error instanceof Error ? error.message : "invalid regular expression");
  }
  const entry = { regex, size: regex.programSize() };
  charge(entry.size);
  if (cache.size >= MAX_CACHED) {
    for (const oldest of cache.keys()) {
      cache.delete(oldest);
      break;
    }
  }
  cache.set(pattern, entry);
  return entry;
}

/** True if a pattern matches somewhere in the text. Throws {@link BuiltinError}. */
export function regexMatches(pattern: string, text: string): boolean {
  return matcherFor(pattern, text).matcher.find();
}

function matcherFor(pattern: string, text: string) {
  const { regex, size } = compiled(pattern);
  charge(((text.length + 1) * Math.min(size, 1_000)) >> 6);
  return { regex, matcher: regex.matcher(text), step: Math.min(size, 1_000) };
}

interface Match {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** Go's `FindAll`: an empty match right after the previous match does not count. */
function allMatches(pattern: string, text: string, limit: number): Match[] {
  const { matcher, step } = matcherFor(pattern, text);
  const out: Match[] = [];
  let previous = -1;
  for (let at = 0; at <= text.length && (limit < 0 || out.length < limit); ) {
    tick();
    if (!matcher.find(at)) break;
    const start = matcher.start();
    const end = matcher.end();
    charge((step * (end - at + 1)) >> 6);
    let accept = true;
    if (end === at) {
      accept = start !== previous;
      at += at < text.length ? widthAt(text, at) : 1;
    } else at = end;
    previous = end;
    if (!accept) continue;
    const groups: (string | undefined)[] = [];
    for (let g = 0; g <= matcher.groupCount(); g++) groups.push(matcher.group(g) ?? undefined);
    allocate(groups.length);
    allocateText(end - start);
    out.push({ start, end, groups });
  }
  return out;
}

/** Go's `Expand`: `$name`, `${name}`, `$$`; unknown groups are empty. */
function expand(template: string, groups: readonly (string | undefined)[], names: Readonly<Record<string, number>>): string {
  return template.replace(/\$(?:(\$)|(\w+)|\{(\w+)\})/g, (_all, dollar: string | undefined, bare?: string, braced?: string) => {
    if (dollar !== undefined) return "$";
    const name = bare ?? braced ?? "";
    const number = /^\d+$/.test(name) ? Number(name) : names[name];
    return (number === undefined ? undefined : groups[number]) ?? "";
  });
}

function replaceAll(text: string, pattern: string, template: string): string {
  const { regex, matcher, step } = matcherFor(pattern, text);
  const names = regex.namedGroups() as Readonly<Record<string, number>>;
  let out = "";
  let last = 0;
  for (let at = 0; at <= text.length; ) {
    tick();
    if (!matcher.find(at)) break;
    const start = matcher.start();
    const end = matcher.end();
    charge((step * (end - at + 1)) >> 6);
    const piece = text.slice(last, start);
    let put = "";
    if (end > last || start === 0) {
      const groups: (string | undefined)[] = [];
      for (let g = 0; g <= matcher.groupCount(); g++) groups.push(matcher.group(g) ?? undefined);
      put = expand(template, groups, names);
    }
    allocateText(piece.length + put.length);
    out += piece + put;
    last = end;
    const width = at < text.length ? widthAt(text, at) : 0;
    if (at + width > end) at += width;
    else if (at + 1 > end) at++;
    else at = end;
  }
  allocateText(text.length - last);
  return out + text.slice(last);
}

function split(text: string, pattern: string): string[] {
  if (pattern !== "" && text === "") {
    compiled(pattern);
    return [""];
  }
  const out: string[] = [];
  let from = 0;
  let end = 0;
  for (const match of allMatches(pattern, text, -1)) {
    end = match.start;
    if (match.end !== 0) out.push(text.slice(from, end));
    from = match.end;
  }
  if (end !== text.length) out.push(text.slice(from));
  return out;
}

const quote = (text: string): string => text.replace(/[\\.+*?()|[\]{}^$]/g, "\\$&");

/** A template `urn:foo:{.*}` as a regular expression. */
function templatePattern(template: string, open: string, close: string): string {
  let level = 0;
  let start = 0;
  let end = 0;
  let out = "^";
  for (let i = 0; i < template.length; i++) {
    if (template[i] === open) {
      if (++level === 1) start = i;
    } else if (template[i] === close) {
      if (--level === 0) {
        const inner = template.slice(start + 1, i);
        compiled(`^${inner}$`);
        out += `${quote(template.slice(end, start))}(${inner})`;
        end = i + 1;
      } else if (level < 0) throw new BuiltinError(`unbalanced braces in ${JSON.stringify(template)}`);
    }
  }
  if (level !== 0) throw new BuiltinError(`unbalanced braces in ${JSON.stringify(template)}`);
  return `${out}${quote(template.slice(end))}$`;
}

/** Regular expressions: RE2 syntax, linear time. */
export const regexBuiltins: readonly Builtin[] = [
  define("regex.is_valid", "any -> boolean", ([p]) => {
    if (typeof p !== "string") return false;
    try {
      compiled(p);
      return true;
    } catch (error) {
      if (error instanceof BuiltinError) return false;
      throw error;
    }
  }),
  define("regex.match", "string, string -> boolean", ([p, s]) => {
    const { matcher } = matcherFor(p as string, s as string);
    return matcher.find();
  }),
  define("regex.split", "string, string -> [string]", ([p, s]) => split(s as string, p as string)),
  define("regex.find_n", "string, string, number -> [string]", ([p, s, n]) =>
    allMatches(p as string, s as string, whole(n as Value, 3)).map((match) => match.groups[0] ?? ""),
  ),
  define("regex.find_all_string_submatch_n", "string, string, number -> [[string]]", ([p, s, n]) =>
    allMatches(p as string, s as string, whole(n as Value, 3)).map((match) => match.groups.map((group) => group ?? "")),
  ),
  define("regex.replace", "string, string, string -> string", ([s, p, by]) => replaceAll(s as string, p as string, by as string)),
  define("regex.template_match", "string, string, string, string -> boolean", ([template, s, open, close]) => {
    for (const [delimiter, which] of [
      [open, "start"],
      [close, "end"],
    ] as const) {
      if ((delimiter as string).length !== 1) {
        throw new BuiltinError(`${which} delimiter has to be exactly one character long but is ${(open as string).length} long`);
      }
    }
    const { matcher } = matcherFor(templatePattern(template as string, open as string, close as string), s as string);
    return matcher.find();
  }),
  define("regex.globs_match", "string, string -> boolean", ([a, b]) => globsIntersect(a as string, b as string)),
];

// --- intersection of two simple globs ----------------------------------------------------------------------------------

interface GlobToken {
  /** Undefined matches any character. */
  readonly chars: ReadonlySet<string> | undefined;
  readonly flag: "" | "+" | "*";
}

function globTokens(text: string): GlobToken[] {
  const points = [...text];
  const out: GlobToken[] = [];
  let at = 0;
  const invalid = (why: string): never => {
    throw new BuiltinError(`input:${text}, pos:${at}, ${why}: the input provided is invalid`);
  };
  while (at < points.length) {
    tick();
    let c = points[at++] as string;
    let chars: ReadonlySet<string> | undefined;
    if (c === "\\") {
      c = points[at++] ?? invalid("found [ without matching ]");
      chars = new Set([c]);
    } else if (c === "[") {
      const set = new Set<string>();
      let previous: string | undefined;
      for (;;) {
        let d = points[at++] ?? invalid("found [ without matching ]");
        if (d === "]") break;
        if (d === "-") {
          if (previous === undefined) return invalid("range is invalid");
          let high = points[at++] ?? invalid("found [ without matching ]");
          if (high === "\\") high = points[at++] ?? invalid("found [ without matching ]");
          else if (high === "]" || high === "-") return invalid("range is invalid");
          const [from, to] = [previous.codePointAt(0) as number, high.codePointAt(0) as number];
          if (to < from) return invalid("range is invalid");
          allocate(to - from);
          for (let p = from; p <= to; p++) set.add(String.fromCodePoint(p));
          previous = undefined;
          continue;
        }
        if (d === "\\") d = points[at++] ?? invalid("found [ without matching ]");
        set.add(d);
        previous = d;
      }
      chars = set;
    } else if (c === "]") return invalid("set-close ']' with no preceding '['");
    else if (c === "+" || c === "*") return invalid(`flag '${c}' must be preceded by a non-flag`);
    else if (c !== ".") chars = new Set([c]);
    const flag = points[at] === "+" || points[at] === "*" ? (points[at++] as "+" | "*") : "";
    out.push({ chars, flag });
  }
  return out;
}

function overlap(a: GlobToken, b: GlobToken): boolean {
  if (a.chars === undefined || b.chars === undefined) return true;
  for (const c of a.chars) if (b.chars.has(c)) return true;
  return false;
}

/** Adjacent repetitions of the same token are one. */
function simplified(tokens: readonly GlobToken[]): readonly GlobToken[] {
  const out: GlobToken[] = [];
  for (const token of tokens) {
    const last = out.at(-1);
    if (last !== undefined && last.flag !== "" && token.flag !== "" && sameChars(last, token)) {
      if (token.flag === "+") out[out.length - 1] = token;
    } else out.push(token);
  }
  return out;
}

function sameChars({ chars: a }: GlobToken, { chars: b }: GlobToken): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.size === b.size && [...a].every((c) => b.has(c));
}

/**
 * Whether two globs match a common text, as OPA's search for it (github.com/yashtewari/glob-intersection) has it, which takes no
 * empty repetition of a last token. Where it tries several ways it costs ticks.
 */
function globsIntersect(left: string, right: string): boolean {
  const a = simplified(globTokens(left));
  const b = simplified(globTokens(right));
  const plain = (token: GlobToken | undefined): boolean => token?.flag === "";
  const last = Math.min(a.length, b.length);
  for (let i = 1; i <= last && plain(a.at(-i)) && plain(b.at(-i)); i++) {
    if (!overlap(a.at(-i) as GlobToken, b.at(-i) as GlobToken)) return false;
  }
  return inStep(a, 0, b, 0);
}

/** Token by token, until one of them repeats. */
function inStep(a: readonly GlobToken[], i: number, b: readonly GlobToken[], j: number): boolean {
  for (; i < a.length && j < b.length; i++, j++) {
    tick();
    const [s, t] = [a[i] as GlobToken, b[j] as GlobToken];
    if (s.flag === "+") return repeated(a, i, b, j);
    if (s.flag === "*") return starred(a, i, b, j);
    if (t.flag === "+") return repeated(b, j, a, i);
    if (t.flag === "*") return starred(b, j, a, i);
    if (!overlap(s, t)) return false;
  }
  return i === a.length && j === b.length;
}

function repeated(a: readonly GlobToken[], i: number, b: readonly GlobToken[], j: number): boolean {
  const other = b[j] as GlobToken;
  if (!overlap(a[i] as GlobToken, other)) return false;
  return starred(a, i, b, j + 1) || (other.flag !== "" && inStep(a, i + 1, b, j));
}

function starred(a: readonly GlobToken[], i: number, b: readonly GlobToken[], from: number): boolean {
  const star = a[i] as GlobToken;
  const next = a[i + 1];
  for (let j = from; j < b.length; j++) {
    tick();
    const token = b[j] as GlobToken;
    if (next !== undefined && overlap(token, next) && inStep(a, i + 1, b, j)) return true;
    if (!overlap(token, star)) return false;
  }
  return next === undefined;
}
