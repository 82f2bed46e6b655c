import { governanceError } from "../errors.ts";
import { BARE, checkRedaction, type Piece, type Redacted, type RedactionOptions, redactedPieces } from "./redact.ts";
import { assembled, named, nameLeft, piecesOf, type Written } from "./written-values.ts";

const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],:]/g;

/** A text or a number of JSON, as it is written there, under the names around it. */
export interface JsonLeaf {
  readonly token: string;
  readonly index: number;
  /** Of the member that it is the value of, and of the one around that. */
  readonly name: string;
  readonly about: string;
  /** How many objects and lists it stands in. */
  readonly depth: number;
  /** Members and places in lists from the outermost on. */
  path(): readonly string[];
}

/** Walks JSON that is known to be some. `name` says what is left of the name of a member. */
export function walkJson(text: string, name: (token: string, index: number) => string, leaf: (leaf: JsonLeaf) => void): void {
  /** The member that each open object or list is the value of, and where in it we are. */
  const around: { readonly name: string; readonly object: boolean; key: string; place: number }[] = [];
  let current = "";
  let isName = false;
  for (const { 0: token, index } of text.matchAll(JSON_TOKEN)) {
    const inside = around[around.length - 1];
    if (token === "{" || token === "[") {
      around.push({ name: current, object: token === "{", key: "0", place: 0 });
      isName = token === "{";
    } else if (token === "}" || token === "]") {
      current = around.pop()?.name ?? "";
      isName = false;
    } else if (token === ",") {
      isName = inside?.object === true;
      if (inside?.object === false) {
        current = inside.name;
        inside.key = String(++inside.place);
      }
    } else if (token === ":") isName = false;
    else if (isName && token.startsWith('"')) {
      current = name(token, index);
      if (inside !== undefined) inside.key = JSON.parse(token) as string;
    } else
      leaf({
        token,
        index,
        name: current,
        about: inside?.name ?? "",
        depth: around.length,
        path: () => around.map(({ key }) => key),
      });
  }
}

/**
 * Redacts JSON: texts and numbers, with the names that they stand under, and names that hold values themselves. All else stays byte for byte. A number that is redacted
 * becomes a text. Throws `validation_failed` for what is no JSON.
 */
export function redactJson(text: string, options: RedactionOptions): Redacted {
  checkRedaction(text, options);
  if (jsonOf(text) === undefined) throw governanceError("validation_failed", "text: no JSON", { field: "text" });
  const changed: (readonly Piece[])[] = [];
  walkJson(
    text,
    (token, index) => {
      const pieces = piecesOf(text, jsonString(token, index), options);
      changed.push(pieces);
      return nameLeft(pieces);
    },
    ({ token, index, name, about }) => {
      const under = named(options, name, about);
      changed.push(
        token.startsWith('"')
          ? piecesOf(text, jsonString(token, index), under)
          : jsonNumber(token, index, index + token.length, under),
      );
    },
  );
  return assembled(text, changed, options);
}

/** What JSON says, behind a byte order mark or not; `undefined` for what is none. */
export function jsonOf(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text.replace(/^\ufeff/, "")) };
  } catch {
    return undefined;
  }
}

/** A text of JSON that stands at `index`. */
export function jsonString(token: string, index: number): Written {
  const write = (text: string) => JSON.stringify(text).slice(1, -1);
  if (!token.includes("\\")) return { value: token.slice(1, -1), at: (i) => index + 1 + i, write };
  const starts: number[] = [];
  let value = "";
  for (const { 0: unit, index: from } of token.slice(1, -1).matchAll(/\\u[0-9a-fA-F]{4}|\\.|[^\\]/gs)) {
    starts.push(index + 1 + from);
    value += unit.startsWith("\\") ? (JSON.parse(`"${unit}"`) as string) : unit;
  }
  return { value, at: (i) => starts[i] ?? index + token.length - 1, write };
}

/** A number is redacted as a whole: a part of it would be another number. */
export function jsonNumber(token: string, start: number, end: number, options: RedactionOptions): readonly Piece[] {
  const found = redactedPieces(token, options).find((piece) => piece.entity !== undefined);
  if (found?.entity === undefined) return [];
  const pieces = redactedPieces(token, Object.assign({}, options, { whole: found.entity }), () => BARE + token);
  const text = JSON.stringify(pieces.map((piece) => piece.text).join(""));
  return [{ start, end, text, entity: found.entity, operator: found.operator ?? "replace" }];
}
