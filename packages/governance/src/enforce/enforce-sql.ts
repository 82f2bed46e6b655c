import { checkArgument } from "@seneschal/kernel";
import { governanceError } from "../errors.ts";
import { foldedName } from "../sql/folded-name.ts";
import { MAX_PARSE_COST, parseCost } from "../sql/parse-cost.ts";
import type { SqlParser } from "../sql/sql-parser.ts";
import { type Node, nestsTooDeep } from "../sql/tree.ts";
import { type EnforcedDialect, quoted } from "./sql-text.ts";
import { tableQuery } from "./table-query.ts";
import type { TableRules } from "./table-rules.ts";

export interface EnforcedSql {
  readonly sql: string;
  /** Those that the query reads, as the rules name them. */
  readonly tables: readonly string[];
}

/**
 * A query that shows what the rules let through of its tables and nothing else: each table becomes a query of its own, with its columns by name, masked, and the rows that pass. One query of one
 * statement; whatever of its tree is not known here is refused, and so is a table without rules, a function that is not known to look at its arguments alone, and a text that the parser
 * does not write as it read it. Throws `validation_failed` with the reason.
 */
export function enforceSql(parser: SqlParser, sql: string, dialect: EnforcedDialect, rules: readonly TableRules[]): EnforcedSql {
  checkArgument("parser", parser, "object");
  checkArgument("sql", sql, "string");
  checkArgument("dialect", dialect, "string");
  checkArgument("rules", rules, "array");
  const { text, tree } = readQuery(parser, sql, dialect);
  const walk = new Walk(text, dialect, rules);
  walk.statement(tree);
  return { sql: checked(parser, dialect, walk.rewritten()), tables: [...walk.tables] };
}

/** What a query reads. */
export interface QueryReads {
  /** As it names them. */
  readonly tables: readonly string[];
  /** Every name that may be a column's in it, in lower case, of whichever table; absent where it takes or compares all columns of one. */
  readonly columns?: readonly string[];
}

/** The tables that a query reads, and the columns that it names in whatever place. Throws as {@link enforceSql} does. */
export function queryReads(parser: SqlParser, sql: string, dialect: EnforcedDialect): QueryReads {
  checkArgument("parser", parser, "object");
  checkArgument("sql", sql, "string");
  checkArgument("dialect", dialect, "string");
  const { text, tree } = readQuery(parser, sql, dialect);
  const walk = new Walk(text, dialect, undefined);
  walk.statement(tree);
  const columns = columnsNamed(tree);
  return { tables: [...walk.tables], ...(columns === undefined ? {} : { columns: [...columns] }) };
}

/** The names in a query that may be columns', in lower case; `undefined` where a star, a natural join or the name of a relation stands for all of one. */
function columnsNamed(tree: Node): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  const relations = new Set<string>();
  const shown = new Set<string>();
  let whole = false;
  const left: unknown[] = [tree];
  while (left.length > 0) {
    const node = left.pop();
    if (node === "Wildcard") whole = true;
    if (Array.isArray(node)) left.push(...node);
    if (typeof node !== "object" || node === null || Array.isArray(node)) continue;
    const { Table: table, Function: called, alias, ...rest } = node as Node;
    // What a query calls its relations, a join or a derived table has in `alias` too.
    const given = ((alias as Node | null)?.["name"] as Node | undefined)?.["value"] ?? (alias as Node | null)?.["value"];
    if (typeof given === "string") relations.add(given.toLowerCase());
    if (table !== undefined) {
      const { name, alias: own } = table as { readonly name: { readonly Identifier?: Node }[]; readonly alias?: Node };
      relations.add(String(name.at(-1)?.Identifier?.["value"]).toLowerCase());
      left.push({ alias: own });
    }
    if (called !== undefined) {
      const { name, ...parts } = called as { readonly name: { readonly Identifier?: Node }[]; readonly args?: unknown };
      // `count(*)` shows how many rows there are.
      const counts = String(name.at(-1)?.Identifier?.["value"]).toLowerCase() === "count";
      left.push(counts ? withoutStar(parts) : parts);
    }
    if ("Wildcard" in rest || "QualifiedWildcard" in rest) whole = true;
    // It compares all columns that both sides have, and names none.
    if (Object.values((rest["join_operator"] as Node | null) ?? {}).includes("Natural")) whole = true;
    if (typeof rest["value"] === "string") names.add(rest["value"].toLowerCase());
    for (const [key, child] of Object.entries(rest)) {
      // `SELECT o FROM orders o`: its last part may be a relation's.
      const parts = key === "Identifier" ? [child] : key === "CompoundIdentifier" ? (child as unknown[]) : [];
      const last = (parts.at(-1) as Node | undefined)?.["value"];
      if (typeof last === "string") shown.add(last.toLowerCase());
      left.push(child);
    }
  }
  return whole || [...shown].some((name) => relations.has(name)) ? undefined : names;
}

/** The parts of a call of which an argument is nothing but a star, without that. */
function withoutStar(parts: Node): Node {
  const args = ((parts["args"] as Node | undefined)?.["List"] as Node | undefined)?.["args"];
  const stars = Array.isArray(args) && args.every((arg) => (arg as Node | null)?.["Unnamed"] === "Wildcard");
  if (!stars) return parts;
  const { args: _, ...rest } = parts;
  return rest;
}

const LONGEST = 65_536;

/** Characters that tables may become in one query: it is written, read again and sent. */
export const MAX_ENFORCED_SQL = 512 << 10;

/** Tables of one query, as many as the sources of one decision. */
const MOST_TABLES = 100;

function readQuery(parser: SqlParser, sql: string, dialect: EnforcedDialect): { readonly text: string; readonly tree: Node } {
  // What databases and parsers read differently: comments, escapes, texts between dollars, Unicode names.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  const odd = /--|\/\*|#|\\|\$|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]|\b(?:U&|[EBXNR])['"]|'''|"""/i.exec(sql);
  if (odd !== null) throw refused(`${JSON.stringify(odd[0])} is not taken`);
  if (sql.length > LONGEST || parseCost(sql, dialect) > MAX_PARSE_COST) throw refused("too long or too deep");
  const [tree, more] = parse(parser, sql, dialect);
  if (tree === undefined || more !== undefined) throw refused("expected one statement");
  if (nestsTooDeep(tree)) throw refused("too long or too deep");
  const text = format(parser, sql, dialect);
  const [again] = parse(parser, text, dialect);
  // What runs is what the parser wrote, and that is what it had read.
  if (bare(again) !== bare(tree)) throw refused("the parser does not write it as it reads it");
  return { text, tree: again as Node };
}

function checked(parser: SqlParser, dialect: EnforcedDialect, sql: string): string {
  parse(parser, sql, dialect);
  return sql;
}

function parse(parser: SqlParser, sql: string, dialect: EnforcedDialect): readonly unknown[] {
  try {
    return parser.parse(sql, dialect);
  } catch {
    throw refused("it cannot be parsed");
  }
}

function format(parser: SqlParser, sql: string, dialect: EnforcedDialect): string {
  try {
    const text = parser.format?.(sql, dialect);
    if (text !== undefined) return text;
  } catch {
    // Told below.
  }
  throw refused("it cannot be written");
}

/** A tree without places. */
function bare(tree: unknown): string {
  return JSON.stringify(tree, (key, value: unknown) => (key === "span" || key.endsWith("_token") ? undefined : value));
}

/** Members of the tree that are walked through. What is not here has to be empty. */
const KNOWN = new Set(
  `Query body Select projection UnnamedExpr ExprWithAlias QualifiedWildcard Wildcard ObjectName expr alias name explicit from relation joins join_operator Join Inner Left
  LeftOuter Right RightOuter FullOuter CrossJoin On Using Derived NestedJoin table_with_joins lateral subquery selection group_by Expressions having distinct flavor order_by kind options asc nulls_first limit_clause
  LimitOffset limit offset value rows SetOperation left right op set_quantifier with cte_tables query Identifier CompoundIdentifier quote_style BinaryOp UnaryOp Nested
  Value Number SingleQuotedString Boolean Cast data_type Case operand conditions condition result else_result Extract field syntax Substring substring_from substring_for special shorthand Trim trim_where trim_what
  IsNull IsNotNull IsTrue IsFalse IsNotTrue IsNotFalse IsDistinctFrom IsNotDistinctFrom Between low high negated InList list InSubquery Exists Subquery Like ILike pattern any Function parameters args List Unnamed Expr
  duplicate_treatment clauses filter over WindowSpec partition_by TypedString Interval leading_field Position in Ceil Floor DateTimeField Tuple uses_odbc_syntax`.split(
    /\s+/,
  ),
);
const OPERATORS = new Set(
  "Plus Minus Multiply Divide Modulo StringConcat Eq NotEq Lt LtEq Gt GtEq And Or Not Union Intersect Except".split(" "),
);
const TYPES =
  /^(?:Text|Varchar|CharacterVarying|CharVarying|Char|Character|String|Int|Integer|BigInt|SmallInt|Int64|Float64|Numeric|Decimal|BigNumeric|Double|DoublePrecision|Real|Float|Boolean|Bool|Date|Time|Timestamp|Datetime)$/;
/** They look at their arguments and at nothing else. */
const FUNCTIONS = new Set(
  `count sum avg min max stddev stddev_pop stddev_samp variance var_pop var_samp string_agg array_agg bool_and bool_or every
  lower upper length char_length trim ltrim rtrim btrim left right substr substring replace concat coalesce nullif abs round ceil ceiling floor sqrt power mod greatest least sign
  row_number rank dense_rank lag lead first_value last_value ntile date_trunc date_part extract now current_date current_timestamp`.split(
    /\s+/,
  ),
);

// biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range is meant
const ASCII = /^[\x00-\x7f]*$/;

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

class Walk {
  readonly tables = new Set<string>();
  readonly #lines: readonly (readonly string[])[];
  readonly #edits: Edit[] = [];
  #written = 0;
  readonly #text: string;
  readonly #dialect: EnforcedDialect;
  readonly #rules: readonly TableRules[] | undefined;

  constructor(text: string, dialect: EnforcedDialect, rules: readonly TableRules[] | undefined) {
    this.#text = text;
    this.#dialect = dialect;
    this.#rules = rules;
    this.#lines = text.split("\n").map((line) => [...line]);
  }

  rewritten(): string {
    let out = "";
    let at = 0;
    for (const { start, end, text } of [...this.#edits].sort((a, b) => a.start - b.start)) {
      if (start < at) throw refused("two tables stand in one place");
      out += this.#text.slice(at, start) + text;
      at = end;
    }
    return out + this.#text.slice(at);
  }

  statement(tree: Node): void {
    const [key, ...more] = Object.keys(tree);
    if (key !== "Query" || more.length > 0) throw refused("only queries are taken");
    this.#query(tree[key] as Node, []);
  }

  #query(query: Node, scope: readonly Node[]): void {
    const names = [...scope];
    const given = query["with"] as Node | null | undefined;
    if (given !== undefined && given !== null) {
      for (const [key, value] of Object.entries(given))
        if (key !== "cte_tables" && !key.endsWith("_token") && !isEmpty(value)) throw refused(`WITH: ${key} is not known`);
      for (const each of given["cte_tables"] as Node[]) {
        const { alias, query: inner, ...rest } = each as { alias: Node; query: Node };
        for (const [key, value] of Object.entries(rest))
          if (!key.endsWith("_token") && !isEmpty(value)) throw refused(`WITH: ${key} is not known`);
        this.#query(inner, names);
        this.#aliased(alias);
        const name = alias["name"] as Node;
        // No name stands for a table here and for something else there.
        const folded = foldedName(String(name["value"]));
        if (this.#rules?.some((table) => foldedName(table.name.split(".").at(-1) ?? "") === folded))
          throw refused("WITH: it has the name of a table");
        names.push(name);
      }
    }
    for (const [key, value] of Object.entries(query)) if (key !== "with") this.#member(key, value, names);
  }

  #member(key: string, value: unknown, scope: readonly Node[]): void {
    if (key === "span" || key.endsWith("_token") || isEmpty(value)) return;
    if (key === "Table") this.#table(value as Node, scope);
    else if (!KNOWN.has(key)) throw refused(`${key} is not known`);
    else if (key === "data_type") this.#type(value);
    else if (key === "alias" && typeof (value as Node)["name"] === "object") this.#aliased(value as Node);
    else {
      if (key === "op" && !OPERATORS.has(String(value))) throw refused("an operator is not known");
      if (key === "Function") this.#function(value as Node);
      if ((key === "relation" || key === "NestedJoin") && !isObject(value)) throw refused("a relation is not known");
      this.#node(value, scope);
    }
  }

  #node(node: unknown, scope: readonly Node[]): void {
    if (Array.isArray(node)) for (const each of node) this.#node(each, scope);
    else if (isObject(node)) {
      if ("body" in node) this.#query(node, scope);
      else for (const [key, value] of Object.entries(node)) this.#member(key, value, scope);
    }
  }

  #type(type: unknown): void {
    const name = typeof type === "string" ? type : isObject(type) ? (Object.keys(type)[0] ?? "") : "";
    if (!TYPES.test(name)) throw refused("a type is not known");
  }

  #function({ name }: Node): void {
    const parts = name as { readonly Identifier?: Node }[];
    const [only] = parts;
    const ident = only?.Identifier;
    if (
      parts.length !== 1 ||
      ident === undefined ||
      !isEmpty(ident["quote_style"]) ||
      !FUNCTIONS.has(String(ident["value"]).toLowerCase())
    )
      throw refused("a function is not known");
  }

  #aliased(alias: Node): void {
    for (const [key, value] of Object.entries(alias))
      if (key !== "name" && key !== "explicit" && !isEmpty(value)) throw refused(`an alias with ${key} is not known`);
  }

  #table(table: Node, scope: readonly Node[]): void {
    const { name, alias, ...rest } = table as { name: { Identifier?: Node }[]; alias?: Node };
    for (const [key, value] of Object.entries(rest)) if (!isEmpty(value)) throw refused(`a table with ${key} is not known`);
    if (!isEmpty(alias)) this.#aliased(alias as Node);
    const idents = name.map(({ Identifier: ident }) => {
      if (ident === undefined) throw refused("the name of a table is not known");
      return ident as Node & { readonly value: string };
    });
    if (idents.length === 1 && this.#isGiven(idents[0] as Node, scope)) return;
    const written = idents.map((ident) => this.#folded(ident)).join(".");
    if (this.#rules === undefined) {
      this.tables.add(written);
      if (this.tables.size > MOST_TABLES) throw refused(`it reads more than ${MOST_TABLES} tables`);
      return;
    }
    const rules = this.#rules.find((each) => each.name === written);
    if (rules === undefined) throw refused("it reads a table that nothing is said about");
    this.tables.add(rules.name);
    const start = this.#offset(idents[0] as Node, "start");
    const end = this.#offset(idents.at(-1) as Node, "end");
    const source = this.#text.slice(start, end);
    if (
      source.replace(/["`\s]/g, "") !==
      idents
        .map(({ value }) => value)
        .join(".")
        .replace(/\s/g, "")
    )
      throw refused("a table is not where it should be");
    const last = idents.at(-1) as Node;
    const as = isEmpty(alias)
      ? ` AS ${isEmpty(last["quote_style"]) ? last["value"] : quoted(this.#dialect, String(last["value"]))}`
      : "";
    // PostgreSQL looks at conditions of the outside, and at their errors, only behind such a query.
    const fence = this.#dialect === "postgres" ? " OFFSET 0" : "";
    const text = `(${tableQuery(this.#dialect, rules, source)}${fence})${as}`;
    this.#written += text.length;
    if (this.#written > MAX_ENFORCED_SQL) throw refused("it becomes too long");
    this.#edits.push({ start, end, text });
  }

  /** True for a name that WITH gave. Throws for one that differs from such a name only in ways that databases, and their settings, take differently: it may be a table's. */
  #isGiven(name: Node, scope: readonly Node[]): boolean {
    const value = String(name["value"]);
    const alike = scope.filter((each) => foldedName(String(each["value"])) === foldedName(value));
    const same = alike.some((each) => {
      const given = String(each["value"]);
      if (given === value && isEmpty(each["quote_style"]) === isEmpty(name["quote_style"])) return true;
      // What becomes of other letters hangs on the database's encoding.
      if (!ASCII.test(given + value)) return false;
      return this.#dialect === "bigquery"
        ? given.toLowerCase() === value.toLowerCase()
        : this.#folded(each) === this.#folded(name);
    });
    if (alike.length > 0 && !same) throw refused("WITH: a table has the same name but for its case or quotation marks");
    return same;
  }

  /** A name as the database keeps it. */
  #folded(ident: Node): string {
    const value = String(ident["value"]);
    if (!isEmpty(ident["quote_style"]) || this.#dialect === "bigquery") return value;
    return this.#dialect === "snowflake" ? value.toUpperCase() : value.toLowerCase();
  }

  #offset(ident: Node, side: "start" | "end"): number {
    const { line, column } = (ident["span"] as Record<"start" | "end", { readonly line: number; readonly column: number }>)[side];
    let at = 0;
    for (let i = 0; i < line - 1; i++) at += (this.#lines[i] ?? []).join("").length + 1;
    return at + (this.#lines[line - 1] ?? []).slice(0, column - 1).join("").length;
  }
}

function isObject(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === false ||
    value === "" ||
    value === "None" ||
    (Array.isArray(value) && value.length === 0)
  );
}

function refused(reason: string): Error {
  return governanceError("validation_failed", `sql: ${reason}`, { field: "sql", reason });
}
