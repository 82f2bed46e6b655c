/** A node of the syntax tree of sqlparser-rs. */
export type Node = Record<string, unknown>;

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value)
    ? value
    : value === undefined || value === null
      ? []
      : typeof value === "object"
        ? Object.values(value)
        : [];
}

export function identifier(node: unknown): string {
  if (typeof node === "string") return node;
  const value = (node as Node | undefined | null)?.["value"];
  if (typeof value === "string") return value;
  const inner = (node as Node | undefined | null)?.["Identifier"];
  if (inner !== undefined) return identifier(inner);
  // `IDENTIFIER('name')`: a name that is given as a text.
  const fn = (node as Node | undefined | null)?.["Function"] as Node | undefined;
  return fn === undefined ? "" : (literalText(unnamed(list(fn["args"])[0])) ?? "");
}

/** A dotted name without quotes. */
export function nameOf(node: unknown): string {
  if (Array.isArray(node)) return node.map(identifier).join(".");
  return (
    identifier(node) || (typeof node === "object" && node !== null ? nameOf(Object.values(node).find(Array.isArray) ?? "") : "")
  );
}

export function lastName(node: unknown): string {
  return nameOf(node).split(".").at(-1) ?? "";
}

export function firstName(node: unknown): unknown {
  if (Array.isArray(node)) return node;
  for (const value of Object.values((node ?? {}) as Node)) {
    const found = firstName(value as Node);
    if (Array.isArray(found)) return found;
  }
  return "";
}

export function columnAlias(node: unknown): string {
  return identifier((node as Node)["name"] ?? node);
}

export function columnName(expr: unknown): string | undefined {
  const node = (expr ?? {}) as Node;
  if (node["Identifier"] !== undefined) return identifier(node["Identifier"]);
  if (node["CompoundIdentifier"] !== undefined) return list(node["CompoundIdentifier"]).map(identifier).at(-1);
  return undefined;
}

export function viewColumns(node: Node): readonly string[] {
  return list(node["columns"]).map((column) => identifier((column as Node)["name"] ?? column));
}

export function argumentsOf(args: unknown): readonly unknown[] {
  const node = (args ?? {}) as Node;
  const found = ((node["List"] ?? {}) as Node)["args"];
  return list(found).map((arg) => {
    const named = (arg as Node)["Named"] ?? (arg as Node)["ExprNamed"];
    return named === undefined ? arg : (named as Node)["arg"];
  });
}

export function identifiersIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(identifiersIn);
  if (typeof node !== "object" || node === null) return [];
  if (typeof (node as Node)["value"] === "string") return [String((node as Node)["value"])];
  return Object.values(node).flatMap(identifiersIn);
}

export function literalText(node: unknown): string | undefined {
  const value = ((node ?? {}) as Node)["Value"] as Node | undefined;
  const inner = value?.["value"];
  if (typeof inner !== "object" || inner === null) return undefined;
  for (const [kind, text] of Object.entries(inner)) {
    if (kind === "Number") return String((text as unknown[])[0]);
    if (kind === "HexStringLiteral" && typeof text === "string") return textOfHex(text);
    if (typeof text === "string" && kind !== "Placeholder") return text;
    const dollar = (text as Node | null)?.["value"];
    if (typeof dollar === "string") return dollar;
  }
  return undefined;
}

/** The characters that hexadecimal digits stand for, byte by byte; the digits where they are no printed text. */
function textOfHex(digits: string): string {
  const text = (digits.match(/[0-9a-f]{2}/gi) ?? []).map((byte) => String.fromCharCode(Number.parseInt(byte, 16))).join("");
  return /^[\x20-\x7e]+$/.test(text) ? text : digits;
}

export function numberText(expr: unknown): string | undefined {
  const number = ((((expr ?? {}) as Node)["Value"] as Node | undefined)?.["value"] as Node | undefined)?.["Number"];
  return Array.isArray(number) ? String(number[0]) : undefined;
}

/** The names in a path with dots between them: of a text (`$.customer.email`, `{a,b}`, `/a/b`), of steps of the tree, or of a list of either. */
export function pathKeys(path: unknown): string | undefined {
  if (typeof path === "string") {
    const written = path.replace(/\\u\{?([0-9a-f]{4})\}?/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
    const keys = written.split(/[^\p{L}\p{N}\p{M}\p{Default_Ignorable_Code_Point}_-]+/u).filter((part) => /\p{L}/u.test(part));
    return keys.length === 0 ? undefined : keys.join(".");
  }
  if (Array.isArray(path)) {
    const keys = path.flatMap((step) => pathKeys(step) ?? []);
    return keys.length === 0 ? undefined : keys.join(".");
  }
  if (typeof path !== "object" || path === null) return undefined;
  const [, value] = Object.entries(path)[0] ?? [];
  return pathKeys(literalText(path) ?? (path as Node)["key"] ?? (path as Node)["value"] ?? (path as Node)["index"] ?? value);
}

/** True for a text that is a path of SQL/JSON or XPath, not a value. */
export function isPath(text: string): boolean {
  return /^\s*(?:(?:strict|lax)\s+)?\$\s*(?:[.[]|$)|^\s*\(*\.{0,2}\/{1,2}[\p{L}_@*][^\s]*$/u.test(text);
}

/** The text that an operand begins with: some dialects of the parser bind `->>` weaker than what follows it. */
export function firstText(node: unknown): string | undefined {
  const [, operand] = Object.entries((node ?? {}) as Node)[0] ?? [];
  return literalText(node) ?? literalText((operand as Node | null)?.["left"] ?? operand);
}

/** The expression of an argument. */
export function unnamed(arg: unknown): unknown {
  const inner = (arg as Node | null)?.["Unnamed"] ?? arg;
  return (inner as Node | null)?.["Expr"] ?? inner;
}

/** True for a name in the tree: `{ value, quote_style, span }`. */
export function isIdent(node: Node): boolean {
  return typeof node["value"] === "string";
}

/** True for a dotted name of the tree: `[{ Identifier: ... }, ...]`. */
export function isObjectName(node: readonly unknown[]): boolean {
  return node.length > 0 && node.every((part) => typeof part === "object" && part !== null && "Identifier" in part);
}

/** True for a key whose value holds no name that could be a relation or a column: tokens, types, the names that are given here. */
export function isSyntax(key: string): boolean {
  return key.endsWith("_token") || SYNTAX.has(key);
}

const SYNTAX = new Set([
  "span",
  "data_type",
  "alias",
  "format",
  "field",
  "leading_field",
  "last_field",
  "collation",
  "Value",
  "table_options",
  "with_options",
  "hive_formats",
  "file_format",
]);

/**
 * Objects and lists of a tree in one another: a UNION of a thousand parts. Who reads the tree goes down into it, on a stack that
 * its caller has used already; twice as much has exhausted it.
 */
const MAX_NESTING = 2048;

/** Whether a tree nests too deep to be read. Needs no stack of its own. */
export function nestsTooDeep(tree: unknown): boolean {
  let level: readonly object[] = [tree].filter(isObject);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= MAX_NESTING) return true;
    level = level.flatMap((node) => Object.values(node).filter(isObject));
  }
  return false;
}

/** Words that no dialect takes for a name without quotes. */
const RESERVED: ReadonlySet<string> = new Set(["select", "from", "where", "union", "having"]);

/** Whether a tree takes the words of a statement for names: then its dialect was not meant. Needs no stack of its own. */
export function misreadsWords(tree: unknown): boolean {
  const left: unknown[] = [tree];
  while (left.length > 0) {
    const node = left.pop();
    if (!isObject(node)) continue;
    const { value, quote_style: quote, table_name: table } = node as Node;
    // `TABLE ONLY orders`, and `(TABLE "orders")` as a text of a type.
    if (typeof table === "string" && table.toLowerCase() === "only") return true;
    if ("uses_odbc_syntax" in node && isObject((node as Node)["data_type"]) && "Table" in ((node as Node)["data_type"] as Node))
      return true;
    if (typeof value === "string" && "quote_style" in node) {
      if ((quote ?? null) === null && (RESERVED.has(value.toLowerCase()) || value.includes("("))) return true;
      if (quote === "[" && /\bselect\b[\s\S]*\bfrom\b/i.test(value)) return true;
    } else for (const [key, child] of Object.entries(node)) if (!key.endsWith("_token")) left.push(child);
  }
  return false;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** All strings of a part of the tree. */
export function textsOf(node: unknown): readonly string[] {
  if (typeof node === "string") return [node];
  return typeof node === "object" && node !== null ? Object.values(node).flatMap(textsOf) : [];
}

/** Texts in a part of the tree. */
export function textsIn(node: unknown): readonly string[] {
  if (typeof node !== "object" || node === null) return [];
  const text = literalText(node);
  return text === undefined ? Object.values(node).flatMap(textsIn) : [text];
}

/** True where a part of the tree has a name in it. */
export function namesIn(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  return "Identifier" in node || "CompoundIdentifier" in node || Object.values(node).some(namesIn);
}

/** A dotted name of an expression. */
export function namePath(node: unknown): string | undefined {
  const body = (typeof node === "object" && node !== null ? node : {}) as Node;
  if (body["Identifier"] !== undefined) return identifier(body["Identifier"]);
  return body["CompoundIdentifier"] === undefined ? undefined : nameOf(body["CompoundIdentifier"]);
}

export function same(a: string, b: string): boolean {
  return a === b || a.toLowerCase() === b.toLowerCase();
}

/** Statements that change rows, and may give them back. */
export const CHANGES = ["Insert", "Update", "Delete", "Merge"] as const;

const BODIES = ["Select", "SetOperation", "Query", "Values", "Table", ...CHANGES];

/** True for a node of the tree that is a query: a `body` with clauses around it. */
export function isQuery(node: Node): boolean {
  const body = node["body"];
  return typeof body === "object" && body !== null && BODIES.some((kind) => kind in body);
}
