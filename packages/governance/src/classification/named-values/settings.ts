import { Surroundings } from "../lexicon.ts";
import type { NamedColumn, Stretch } from "./named-column.ts";

/** A key of YAML (also of an element of a list), of a file of properties, of an environment, and what stands behind it. */
const PAIR =
  /^([ \t]*)((?:-[ \t]{1,8}){0,4})(?:(?:export|set|setx|ENV|declare -x)[ \t]{1,8})?(["']?)([\p{L}_@][\p{L}\p{M}\p{N}_.@/-]{0,63})\3(?:[ \t]{0,8}(=)[ \t]{0,8}|[ \t]{0,8}(:)(?=[ \t]|$)[ \t]{0,200})(.*)$/u;
/** An element of a list. */
const ELEMENT = /^([ \t]*)-[ \t]{1,8}(?=\S)(.*)$/;
/** What stands between pairs and is none: nothing, a comment, a section, the borders of documents. */
const BETWEEN = /^\s*(?:$|[#;!]|\/\/|\[[^\]]{1,80}\]\s*$|---|\.\.\.\s*$|%YAML\b)/;
/** A text over lines (YAML 1.2.2, 8.1). */
const BLOCK = /^(?:!!?\w{0,20} )?[|>][+-]?\d?\s*(?:#.*)?$/;
/** How code goes on behind what looks like a key: these are no settings. */
const CODE = /[,;{(]\s*$|=>|^\s*=/;
/** What a value has to be, in declarations of whatever language: a word for a type, with what it takes. */
const TYPE =
  /^(?:(?:str|string|text|u?int\d{0,2}|integer|long|short|number|numeric|bool|boolean|float\d{0,2}|double|decimal|date|date-?time|timestamp|time|n?(?:var)?char\d?|uuid|any|object|array|list|map|dict|null|none|required|optional|true|false)\b[\w()[\]<>!?|, .]{0,40}|\p{Lu}[\p{L}\d]{0,40}[!?])$/iu;
const LONGEST = 300;
const MOST_NAMES = 500;

/** A key that is open: what is deeper belongs to it. */
interface Open {
  readonly indent: number;
  readonly name: string;
}

/** The pairs of one stretch of lines. */
class Block {
  pairs = 0;
  isCode = false;
  readonly #names = new Map<string, { readonly name: string; readonly about: string; readonly values: Stretch[] }>();
  #open: Open[] = [];

  /** The key around a line that is so deep. */
  around(indent: number): string {
    while ((this.#open.at(-1)?.indent ?? -1) >= indent) this.#open.pop();
    return this.#open.at(-1)?.name ?? "";
  }

  open(indent: number, name: string): void {
    this.#open.push({ indent, name });
  }

  add(name: string, about: string, stretch: Stretch | undefined): void {
    const key = `${about}\0${name}`;
    const known = this.#names.get(key) ?? { name, about, values: [] };
    if (this.#names.size < MOST_NAMES) this.#names.set(key, known);
    if (stretch !== undefined) known.values.push(stretch);
  }

  *columns(): Generator<NamedColumn> {
    // One line that looks like a pair is one of a sentence; two below one another are written for a machine.
    if (this.pairs < 2 || this.isCode) return;
    const all = [...this.#names.values()];
    const names = all.map(({ name }) => name);
    for (const { name, about, values } of all)
      if (values.length > 0) yield { name, beside: new Surroundings(about, names), values };
  }
}

/** The values of settings by their keys: YAML as mappings and lists are written over lines, `.env`, INI, properties. Takes time linear in the text. */
export function* settingsColumns(text: string): Generator<NamedColumn> {
  if (!/[:=]/.test(text) || !text.includes("\n")) return;
  let block = new Block();
  /** Where a text over lines belongs: it is deeper than its key. */
  let over: { readonly indent: number; readonly name: string; readonly about: string } | undefined;
  for (let at = 0; at <= text.length; ) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, end).replace(/\r$/, "");
    const start = at;
    at = end + 1;
    if (over !== undefined && (line.trim() === "" || indentOf(line) > over.indent)) {
      const value = line.trim();
      if (value !== "")
        block.add(over.name, over.about, [start + line.indexOf(value), start + line.indexOf(value) + value.length]);
      continue;
    }
    over = undefined;
    if (BETWEEN.test(line)) continue;
    const pair = line.length > 2000 ? null : PAIR.exec(line);
    const element = pair === null ? ELEMENT.exec(line) : null;
    if (pair === null && (element === null || block.pairs === 0)) {
      yield* block.columns();
      block = new Block();
      continue;
    }
    if (pair !== null) {
      const [, before = "", dashes = "", , name = "", , , rest = ""] = pair;
      const indent = before.length + dashes.length;
      const about = block.around(indent);
      block.open(indent, name);
      block.pairs++;
      block.isCode ||= CODE.test(rest);
      if (BLOCK.test(rest)) over = { indent, name, about };
      block.add(name, about, valueIn(rest, start + line.length - rest.length));
    } else if (element !== null) {
      const [, before = "", rest = ""] = element;
      // `emails:` and its elements below, as deep or deeper.
      const name = block.around(before.length + 1);
      if (name !== "") block.add(name, "", valueIn(rest, start + line.length - rest.length));
    }
  }
  yield* block.columns();
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** The value behind a key: without quotes, tag, anchor and comment. `undefined` where there is none. */
function valueIn(rest: string, at: number): Stretch | undefined {
  const tagged = /^(?:[!&][\w!:./-]{0,60}[ \t]{1,8}){0,2}/.exec(rest)?.[0].length ?? 0;
  const bare = rest.slice(tagged);
  const quote = bare[0];
  if (quote === '"' || quote === "'") {
    const close = bare.indexOf(quote, 1);
    return close <= 1 || close > LONGEST ? undefined : [at + tagged + 1, at + tagged + close];
  }
  const value = bare.replace(/(?<![ \t])[ \t]+#.*$/, "").trimEnd();
  if (value === "" || value.length > LONGEST || /^[|>*{[&]/.test(value) || TYPE.test(value)) return undefined;
  return [at + tagged, at + tagged + value.length];
}
