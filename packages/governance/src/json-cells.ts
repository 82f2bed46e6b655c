import { checkArgument } from "@seneschal/kernel";
import { jsonTokens } from "./json-tokens.ts";
import { plainNumber } from "./redaction/known-values.ts";

/** A value of JSON, and the column that it is of: members are dotted, through lists too. */
export interface JsonCell {
  /** Which column it is: two members of one name are two, which `JSON.parse` does not tell. */
  readonly id: string;
  readonly name: string;
  /** Names of members from the outermost on. */
  readonly path: readonly string[];
  /** A text, a number as its digits, a truth. The texts of a list are one, joined by a blank. */
  readonly value: string;
  /** The texts, numbers and truths that it is made of, by their place among all of the text. */
  readonly leaves: readonly number[];
}

type Column = Pick<JsonCell, "id" | "name" | "path">;

/** An object or a list that is open, and the column that it is. */
interface Open extends Column {
  /** Of a list. */
  readonly texts?: string[];
  readonly leaves: number[];
  /** Of an object: the member that comes next, or `undefined` where its name does. */
  member?: Column;
  readonly members: Map<string, number>;
}

const ROOT: Column = { id: "", name: "", path: [] };

/** The cells of a text that is known to be JSON, and `undefined` where a record ends: each element of a list, or all of it. */
export function* jsonCells(json: string): Generator<JsonCell | undefined> {
  checkArgument("json", json, "string");
  const isList = json
    .replace(/^\ufeff/, "")
    .trimStart()
    .startsWith("[");
  let leaf = 0;
  const open: Open[] = [];
  for (const { kind, token } of jsonTokens(json)) {
    const inside = open.at(-1);
    const here = inside === undefined ? ROOT : inside.texts === undefined ? inside.member : inside;
    if (kind === "open") {
      const { id, name, path } = here ?? ROOT;
      open.push({ id, name, path, leaves: [], members: new Map(), ...(token === "[" ? { texts: [] } : {}) });
    } else if (kind === "close") {
      open.pop();
      if (inside?.texts !== undefined && inside.texts.length > 0) {
        const { id, name, path, leaves } = inside;
        yield { id, name, path, value: inside.texts.join(" "), leaves };
      }
    } else if (kind === "next") {
      if (inside?.texts === undefined) delete inside?.member;
    } else if (kind === "name") {
      if (inside !== undefined) inside.member = memberOf(inside, JSON.parse(token) as string);
    } else {
      const leaves = token === "null" ? [] : [leaf++];
      if (here === undefined || token === "null") continue;
      const text = kind === "text" ? (JSON.parse(token) as string) : (plainNumber(token) ?? token);
      if (inside?.texts !== undefined && !(isList && open.length === 1)) {
        inside.texts.push(text);
        inside.leaves.push(...leaves);
      } else yield { id: here.id, name: here.name, path: here.path, value: text, leaves };
    }
    if (isList && open.length === 1 && kind !== "open" && kind !== "next") yield undefined;
  }
  if (!isList) yield undefined;
}

/** Names so long go no deeper: what stands below such a column is of it. */
const LONGEST_NAME = 1024;

function memberOf(inside: Open, key: string): Column {
  if (inside.name.length > LONGEST_NAME) return inside;
  const before = inside.members.get(key) ?? 0;
  inside.members.set(key, before + 1);
  const path = [...inside.path, key];
  const name = path.length === 1 ? key : `${inside.name}.${key}`;
  return { id: `${inside.id}${before === 0 ? "" : `\0${before}`}\0.${key}`, name, path };
}
