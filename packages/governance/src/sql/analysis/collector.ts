import { isBuiltin, reachOf } from "../builtins.ts";
import { placeholderIn } from "../templates.ts";
import {
  columnName,
  identifier,
  isIdent,
  isPath,
  isQuery,
  literalText,
  type Node,
  nameOf,
  namePath,
  pathKeys,
  unnamed,
} from "../tree.ts";
import type { ColumnInput, ResultColumn, SchemaOf, SqlAnalysis, SqlCall, SqlLiteral, SqlOutput } from "../types.ts";
import { BUILT_MEMBER, buildsText, isConstant, PUT_IN } from "./run-time-parts.ts";
import { identity, wholeRow } from "./scope.ts";

/** What has been found in statements so far: what they read and write, call and leave open. */
export class Collector {
  protected readonly schemaOf: SchemaOf;
  protected readonly complete: boolean;
  protected readonly inputs = new Set<string>();
  protected readonly outputs = new Set<string>();
  protected readonly results: SqlOutput[] = [];
  protected readonly literals: SqlLiteral[] = [];
  /** Queries, relations, statements and names of the tree that a rule has come by. */
  protected readonly seen = new WeakSet<object>();
  /** Names that stand for a value that is put in. */
  protected readonly values = new WeakSet<object>();
  readonly #unexplained = new Set<string>();
  protected readonly unread = new Set<string>();
  protected readonly calls: SqlCall[] = [];
  protected readonly runs: (readonly string[])[] = [];
  protected readonly paths = new Set<string>();
  protected readonly doubts = new Set<string>();
  #operation: SqlAnalysis["operation"] = "DEFINE";
  protected limited = false;
  #steps = 0;
  protected database: string | undefined;
  protected schema: string | undefined;

  constructor(schemaOf: SchemaOf, complete: boolean) {
    this.schemaOf = schemaOf;
    this.complete = complete;
  }

  /** What is known of statements of which nothing was followed. */
  unreadable(reason: string): SqlAnalysis {
    this.unread.add(reason);
    this.does("READ");
    return this.analysis();
  }

  /** Counts work that is not bounded by the length of the text; throws where it becomes too much. */
  protected counted<T extends readonly ColumnInput[] | undefined>(inputs: T, relations = 0): T {
    this.#steps += Math.max(0, relations - 1) + STEPS_OF_AN_INPUT * Math.max(0, (inputs?.length ?? 0) - 1);
    if (this.#steps > MAX_STEPS) throw TOO_MUCH;
    return inputs;
  }

  analysis(): SqlAnalysis {
    return {
      operation: this.#operation,
      inputs: [...this.inputs],
      outputs: [...this.outputs],
      results: this.results,
      literals: this.literals,
      limited: this.limited,
      unexplained: [...this.#unexplained],
      unread: [...this.unread],
      calls: this.calls,
      runs: this.runs,
      paths: [...this.paths],
      doubts: [...this.doubts],
    };
  }

  /** The most telling operation of all statements wins. */
  protected does(operation: SqlAnalysis["operation"]): void {
    const weight = ["DEFINE", "READ", "WRITE", "DELETE", "EXPORT"];
    if (weight.indexOf(operation) > weight.indexOf(this.#operation)) this.#operation = operation;
  }

  /** A name of the tree, which is explained by being asked for. */
  protected named(node: unknown): string {
    this.explain(node);
    return nameOf(node);
  }

  /** Marks all names in a part of the tree as explained. */
  protected explain(node: unknown): void {
    if (typeof node !== "object" || node === null) return;
    if (!Array.isArray(node) && isIdent(node as Node)) this.seen.add(node);
    else for (const child of Object.values(node)) this.explain(child);
  }

  /** Counts a name that no rule has come by. */
  protected unexplain(parts: readonly unknown[]): void {
    const idents = parts.map((part) => (part as Node)["Identifier"] ?? part);
    if (idents.every((ident) => this.seen.has(ident as object))) return;
    const put = placeholderIn(nameOf(parts));
    if (put === undefined || /^@/.test(nameOf(parts))) this.#unexplained.add(nameOf(parts));
    else if (put === "text") this.unread.add(PUT_IN);
  }

  /** Marks what is put in there as a value, outside of queries; gives the node back. */
  protected isValue(node: unknown): unknown {
    if (typeof node !== "object" || node === null || isQuery(node as Node)) return node;
    if (!Array.isArray(node) && isIdent(node as Node)) {
      if (placeholderIn(identifier(node)) !== undefined) this.values.add(node);
      if (this.values.has(node)) this.seen.add(node);
    } else for (const child of Object.values(node)) this.isValue(child);
    return node;
  }

  protected literal(node: unknown, column: string | undefined): readonly ColumnInput[] {
    const text = literalText(node);
    const keys = text !== undefined && isPath(text) && !this.seen.has(node as object) ? pathKeys(text) : undefined;
    if (keys !== undefined) this.paths.add(keys);
    if (text !== undefined) this.literals.push({ value: text, ...(column === undefined ? {} : { column }) });
    return [];
  }

  protected compared(body: Node): void {
    const left = columnName(body["left"]);
    const right = columnName(body["right"]);
    const leftText = literalText(body["left"]);
    const rightText = literalText(body["right"]);
    if (left !== undefined && rightText !== undefined) this.literals.push({ value: rightText, column: left });
    if (right !== undefined && leftText !== undefined) this.literals.push({ value: leftText, column: right });
  }

  /** Notes that the name of a member is not written: one that is built may be any, one that a column or a parameter gives is not explained. */
  protected builtMember(node: unknown): void {
    if (buildsText(node)) this.unread.add(BUILT_MEMBER);
    else this.doubts.add(BUILT_MEMBER);
  }

  /** Notes a call by what it may read besides its arguments, and gives the rows of what it names. */
  protected called(called: unknown, args: readonly unknown[], rows: boolean): readonly ColumnInput[] {
    const name = this.named(called).toLowerCase();
    const reach = reachOf(name);
    if (reach === undefined && isBuiltin(name)) return [];
    // The first argument of OPENQUERY is the name of a server.
    const values = args.slice(name === "openquery" ? 1 : 0).map(unnamed);
    // ClickHouse takes names of tables without quotes.
    const texts = values.flatMap((value) => {
      // T-SQL: `EXEC p @table = 'orders'`.
      const given = ((value as Node | null)?.["BinaryOp"] as Node | undefined)?.["right"] ?? value;
      return literalText(given) ?? (reach === "named" ? namePath(value) : undefined) ?? [];
    });
    const telling = texts.filter((text) => /\p{L}|\*/u.test(text));
    if (reach === undefined) this.calls.push({ name, texts: telling, rows: rows || args.length === 0 });
    else if (reach === "anything") this.unread.add("a function reads what the statement does not name");
    else if (
      telling.length === 0 ||
      values.some((value) => !isConstant(value) && !(reach === "named" && namePath(value) !== undefined))
    )
      this.unread.add("a function reads what is named when the statement runs");
    else if (reach === "query") this.runs.push(telling);
    else {
      const tables = tablesNamed(name, telling);
      if (tables.includes("*")) this.unread.add("a function reads all tables that fit a pattern");
      for (const text of tables) this.inputs.add(text);
      this.calls.push({ name, texts: tables, rows: false });
      return tables.map(wholeRow);
    }
    return [];
  }

  protected qualified(name: string): string {
    // What USE chose may be the database of a table whose schema nobody names.
    if (name.includes(".") || name === "" || !this.complete) return name;
    return [this.database, this.schema, name].filter((part) => part !== undefined).join(".");
  }

  protected tableColumns(table: string): { readonly columns: readonly ResultColumn[]; readonly open: readonly string[] } {
    const schema = this.schemaOf(table);
    return {
      columns: schema?.map((field) => identity(table, field)) ?? [],
      open: schema === undefined || !this.complete ? [table] : [],
    };
  }
}

/** Thrown where names stand for so much that following each costs more than it tells. */
export const TOO_MUCH = new Error("too much to follow");

/** Relations that are looked through for names, and what these stand for beyond one column each: a statement of some ten thousand names of as many tables would be all pairs of them. */
const MAX_STEPS = 1_000_000;

const STEPS_OF_AN_INPUT = 16;

/** The tables that a function means by its texts, those of a pattern with a star behind what they begin with. */
export function tablesNamed(name: string, texts: readonly string[]): readonly string[] {
  const last = name.slice(name.lastIndexOf(".") + 1);
  // ClickHouse: the last one is a regular expression over the names.
  if (last === "merge" || last === "engine_merge")
    return texts.map((text, i) => (i < texts.length - 1 ? text : beginningOf(text)));
  return /^table_date_range/.test(last) ? texts.map((text) => `${text}*`) : texts;
}

/** A pattern of the names that begin as all do that fit a regular expression. */
function beginningOf(expression: string): string {
  const [, text = "", next = ""] = /^\^((?:\w|\\\.)*)(.?)/.exec(expression) ?? [];
  if (expression.includes("|")) return "*";
  const sure = /^[?*{]$/.test(next) ? text.slice(0, -1) : text;
  return `${sure.replaceAll("\\", "")}*`;
}
