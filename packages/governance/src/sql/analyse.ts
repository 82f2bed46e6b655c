import { checkArgument } from "@seneschal/kernel";
import { isBuiltin, reachOf } from "./builtins.ts";
import { foldedName } from "./folded-name.ts";
import { AGGREGATES, MASKING, MEMBER_ACCESS, REVEALING_AGGREGATES, showsLittle } from "./functions.ts";
import { patternOf, placeholderIn } from "./templates.ts";
import {
  argumentsOf,
  columnAlias,
  columnName,
  firstName,
  firstText,
  identifier,
  identifiersIn,
  isIdent,
  isObjectName,
  isPath,
  isSyntax,
  lastName,
  list,
  literalText,
  type Node,
  nameOf,
  numberText,
  pathKeys,
  unnamed,
  viewColumns,
} from "./tree.ts";
import type { ColumnInput, ResultColumn, SchemaOf, SqlAnalysis, SqlCall, SqlLiteral, SqlOutput } from "./types.ts";

/** What a name can be looked up in: known columns, and tables that may have any column. */
interface Relation {
  readonly names: readonly string[];
  readonly columns: readonly ResultColumn[];
  readonly open: readonly string[];
  /** What a column of any other name is made from: members of an unnested value, columns of a pivot. */
  readonly other?: readonly ColumnInput[];
  /** Known by its name only, to neither a star nor a bare column: `deleted`, `excluded`. */
  readonly hidden?: true;
}

interface Result {
  readonly columns: readonly ResultColumn[];
  readonly open: readonly string[];
  readonly dataset: readonly ColumnInput[];
}

/** Common table expressions by their folded names: what differs only in case or quotation marks are several, or one, as the database has it. */
type Ctes = ReadonlyMap<string, readonly Cte[]>;
interface Cte {
  /** Its name in the tree. */
  readonly name: unknown;
  readonly result: Result;
}

/** Names visible at one place; `outer` for correlated subqueries. */
interface Scope {
  readonly relations: readonly Relation[];
  readonly ctes: Ctes;
  readonly outer?: Scope;
  /** Where columns met outside the select list go. */
  readonly indirect: ColumnInput[];
}

const NOTHING: Result = { columns: [], open: [], dataset: [] };

/**
 * Resolves tables and columns over the syntax trees of a list of statements: CTEs, subqueries, aliases, stars with a known schema, set operations, windows,
 * aggregates, masking functions, joins, `USE`, `RETURNING`, whole rows, and the writing statements. A name that could come from several tables of
 * unknown schema is attributed to all of them: too much lineage is safe, too little is not. A table of which `schemaOf` tells a part has other columns too, in an order that nobody knows. What no rule comes
 * by is found by a look through the whole tree: queries and relations there count as shown, names are `unexplained`.
 */
export function analyseSql(
  statements: readonly unknown[],
  schemaOf: SchemaOf = () => undefined,
  schemas: "complete" | "partial" = "complete",
): SqlAnalysis {
  checkArgument("statements", statements, "array");
  const analyser = new Analyser(schemaOf, schemas === "complete");
  try {
    for (const statement of statements) analyser.statement(statement as Node);
  } catch (error) {
    if (error !== TOO_MUCH) throw error;
    return new Analyser(schemaOf, false).unreadable("it names more columns of more tables than are told apart");
  }
  return analyser.analysis();
}

/** Thrown where names stand for so much that following each costs more than it tells. */
const TOO_MUCH = new Error("too much to follow");

/** Relations that are looked through for names, and what these stand for beyond one column each: a statement of some ten thousand names of as many tables would be all pairs of them. */
const MAX_STEPS = 1_000_000;
const STEPS_OF_AN_INPUT = 16;

class Analyser {
  readonly #schemaOf: SchemaOf;
  readonly #complete: boolean;
  readonly #inputs = new Set<string>();
  readonly #outputs = new Set<string>();
  readonly #results: SqlOutput[] = [];
  readonly #literals: SqlLiteral[] = [];
  /** Queries, relations, statements and names of the tree that a rule has come by. */
  readonly #seen = new WeakSet<object>();
  /** Names that stand for a value that is put in. */
  readonly #values = new WeakSet<object>();
  readonly #unexplained = new Set<string>();
  readonly #unread = new Set<string>();
  readonly #calls: SqlCall[] = [];
  readonly #runs: (readonly string[])[] = [];
  readonly #paths = new Set<string>();
  readonly #doubts = new Set<string>();
  /** Statements that are prepared in the text: who executes them runs what was read. */
  readonly #prepared = new Set<string>();
  #operation: SqlAnalysis["operation"] = "DEFINE";
  #limited = false;
  #steps = 0;
  #database: string | undefined;
  #schema: string | undefined;

  constructor(schemaOf: SchemaOf, complete: boolean) {
    this.#schemaOf = schemaOf;
    this.#complete = complete;
  }

  /** What is known of statements of which nothing was followed. */
  unreadable(reason: string): SqlAnalysis {
    this.#unread.add(reason);
    this.#does("READ");
    return this.analysis();
  }

  /** Counts work that is not bounded by the length of the text; throws where it becomes too much. */
  #counted<T extends readonly ColumnInput[] | undefined>(inputs: T, relations = 0): T {
    this.#steps += Math.max(0, relations - 1) + STEPS_OF_AN_INPUT * Math.max(0, (inputs?.length ?? 0) - 1);
    if (this.#steps > MAX_STEPS) throw TOO_MUCH;
    return inputs;
  }

  analysis(): SqlAnalysis {
    return {
      operation: this.#operation,
      inputs: [...this.#inputs],
      outputs: [...this.#outputs],
      results: this.#results,
      literals: this.#literals,
      limited: this.#limited,
      unexplained: [...this.#unexplained],
      unread: [...this.#unread],
      calls: this.#calls,
      runs: this.#runs,
      paths: [...this.#paths],
      doubts: [...this.#doubts],
    };
  }

  statement(statement: Node): void {
    if (typeof statement === "string") return;
    if (putInAsAlias(statement)) this.#unread.add(PUT_IN);
    const first = this.#results.length;
    this.#statement(statement);
    this.#sweep(statement, new Set(this.#results.slice(first).flatMap((result) => result.table ?? [])));
  }

  /**
   * Looks through a whole statement for what its rules did not come by. A query or relation counts as shown, and as written to all that the statement writes
   * to; a name is unexplained.
   */
  #sweep(node: unknown, targets: ReadonlySet<string>): void {
    if (typeof node !== "object" || node === null) return;
    if (Array.isArray(node)) {
      if (isObjectName(node)) this.#unexplain(node);
      else for (const child of node) this.#sweep(child, targets);
      return;
    }
    const body = node as Node;
    if (isIdent(body)) {
      this.#unexplain([body]);
      return;
    }
    if (Array.isArray(body["CompoundIdentifier"])) {
      this.#unexplain(body["CompoundIdentifier"]);
      return;
    }
    if (isQuery(body) && !this.#seen.has(body)) this.#shown(this.#query(body, EMPTY_SCOPE()), targets);
    for (const [key, child] of Object.entries(body)) {
      if (isSyntax(key) || typeof child !== "object" || child === null) continue;
      if (!this.#seen.has(child) && isRelationOrStatement(key, child as Node)) {
        if (key === "Table") this.#shown({ ...this.#table(child as Node, EMPTY_SCOPE()), dataset: [] }, targets);
        else this.#shown(this.#change(key, child as Node, EMPTY_SCOPE()), targets);
      }
      if (key === "Execute") this.#execute(child as Node);
      if (key === "Function" && !this.#seen.has(child))
        this.#called((child as Node)["name"], argumentsOf((child as Node)["args"]), false);
      if (key === "Function" || key === "Named") this.#explain((child as Node)["name"]);
      this.#sweep(child, targets);
    }
  }

  /** Counts a name that no rule has come by. */
  #unexplain(parts: readonly unknown[]): void {
    const idents = parts.map((part) => (part as Node)["Identifier"] ?? part);
    if (idents.every((ident) => this.#seen.has(ident as object))) return;
    const put = placeholderIn(nameOf(parts));
    if (put === undefined || /^@/.test(nameOf(parts))) this.#unexplained.add(nameOf(parts));
    else if (put === "text") this.#unread.add(PUT_IN);
  }

  /** Notes rows that a statement shows, or may show, and brings to what it writes. */
  #shown(result: Result, targets: ReadonlySet<string> = new Set()): void {
    if (result.columns.every(({ inputs }) => inputs.length === 0) && result.open.length + result.dataset.length === 0) return;
    this.#does("READ");
    const shown = { columns: result.columns, stars: result.open, dataset: unique(result.dataset) };
    this.#results.push(shown);
    const sources = new Set([...result.open, ...result.columns.flatMap((c) => c.inputs.map(({ table }) => table))]);
    for (const table of targets) this.#results.push({ table, columns: [], stars: [...sources], dataset: shown.dataset });
  }

  /** A name of the tree, which is explained by being asked for. */
  #named(node: unknown): string {
    this.#explain(node);
    return nameOf(node);
  }

  /** Marks all names in a part of the tree as explained. */
  #explain(node: unknown): void {
    if (typeof node !== "object" || node === null) return;
    if (!Array.isArray(node) && isIdent(node as Node)) this.#seen.add(node);
    else for (const child of Object.values(node)) this.#explain(child);
  }

  #statement(statement: Node): void {
    const [kind = "", body] = Object.entries(statement)[0] ?? [];
    const node = (body ?? {}) as Node;
    switch (kind) {
      case "Query":
        this.#queryStatement(node);
        return;
      case "Insert":
      case "Update":
      case "Delete":
      case "Merge":
        this.#shown(this.#change(kind, node, EMPTY_SCOPE()));
        return;
      case "CreateTable":
        this.#createTable(node);
        return;
      case "CreateFunction":
        for (const key of ["name", "language", "args"]) this.#explain(node[key]);
        // A body is a text, whatever quotes it stands in.
        for (const value of textsIn(node["function_body"])) {
          if (/^(?:sql|plpgsql|plsql|)$/i.test(identifier(node["language"])) && /\s/.test(value.trim())) this.#runs.push([value]);
          else {
            this.#literals.push({ value });
            this.#doubts.add("what a function of another language reads is not explained");
          }
        }
        return;
      case "CreateView":
        this.#explain(node["columns"]);
        this.#write(this.#named(node["name"]), this.#query(node["query"] as Node, EMPTY_SCOPE()), viewColumns(node));
        return;
      case "Copy":
        this.#copy(node);
        return;
      case "CopyIntoSnowflake":
        this.#copyInto(node);
        return;
      case "Use":
        this.#use(node);
        return;
      case "Set":
        this.#explain(((node["SingleAssignment"] ?? {}) as Node)["variable"]);
        // T-SQL's parser takes all behind a first word as it stands.
        if (/\(\s*(?:select|with|table|from)\b/i.test(textsOf(node["SetSessionParam"]).join(" ")))
          this.#unread.add("a query that a value is set by could not be read");
        return;
      case "AlterTable":
        this.#alter(node);
        return;
      case "Drop":
        this.#does("DEFINE");
        for (const name of list(node["names"])) this.#outputs.add(this.#qualified(this.#named(name)));
        return;
      case "Truncate":
        this.#does("DELETE");
        for (const target of list(node["table_names"]))
          this.#outputs.add(this.#qualified(this.#named((target as Node)["name"] ?? target)));
        return;
      case "Unload":
      case "ExportData":
      case "Directory":
        this.#unload(node);
        return;
      case "Explain":
        this.#statement((node["statement"] ?? {}) as Node);
        return;
      case "ExternalCopy":
        this.#externalCopy(node);
        return;
      case "Execute":
        this.#execute(node);
        return;
      case "Call":
        this.#does("READ");
        this.#shown({
          columns: [
            {
              name: "_0",
              inputs: unique([
                ...this.#called(node["name"], argumentsOf(node["args"]), false),
                ...this.#expr(node["args"], EMPTY_SCOPE()),
              ]),
            },
          ],
          open: [],
          dataset: [],
        });
        return;
      case "Prepare":
        this.#prepared.add(this.#named(node["name"]).toLowerCase());
        this.#statement((node["statement"] ?? {}) as Node);
        return;
      // What any other statement holds (a cursor, a cache) is found by the look through its whole tree.
    }
  }

  /** A text that is run: one that stands there was read as statements of its own; what is left is built when the statement runs. */
  #execute(node: Node): void {
    this.#does("READ");
    this.#expr(node["parameters"], EMPTY_SCOPE());
    const name = nameOf(node["name"]).toLowerCase();
    const runs = node["immediate"] === true || name === "" || name === "immediate" || name.endsWith("sp_executesql");
    if (runs || /\s/.test(name)) this.#unread.add("the statement runs a text that is built when it runs");
    else if (!this.#prepared.has(name)) this.#called(node["name"], list(node["parameters"]), false);
  }

  /** Notes a call by what it may read besides its arguments, and gives the rows of what it names. */
  #called(called: unknown, args: readonly unknown[], rows: boolean): readonly ColumnInput[] {
    const name = this.#named(called).toLowerCase();
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
    if (reach === undefined) this.#calls.push({ name, texts: telling, rows: rows || args.length === 0 });
    else if (reach === "anything") this.#unread.add("a function reads what the statement does not name");
    else if (
      telling.length === 0 ||
      values.some((value) => !isConstant(value) && !(reach === "named" && namePath(value) !== undefined))
    )
      this.#unread.add("a function reads what is named when the statement runs");
    else if (reach === "query") this.#runs.push(telling);
    else {
      const tables = tablesNamed(name, telling);
      if (tables.includes("*")) this.#unread.add("a function reads all tables that fit a pattern");
      for (const text of tables) this.#inputs.add(text);
      this.#calls.push({ name, texts: tables, rows: false });
      return tables.map(wholeRow);
    }
    return [];
  }

  /** The most telling operation of all statements wins. */
  #does(operation: SqlAnalysis["operation"]): void {
    const weight = ["DEFINE", "READ", "WRITE", "DELETE", "EXPORT"];
    if (weight.indexOf(operation) > weight.indexOf(this.#operation)) this.#operation = operation;
  }

  #queryStatement(node: Node): void {
    const body = (node["body"] ?? {}) as Node;
    if (CHANGES.some((kind) => body[kind] !== undefined)) {
      this.#shown(this.#query(node, EMPTY_SCOPE()));
      return;
    }
    this.#does(body["Select"] !== undefined && (body["Select"] as Node)["into"] !== undefined ? "WRITE" : "READ");
    const result = this.#query(node, EMPTY_SCOPE());
    const into = ((body["Select"] as Node | undefined)?.["into"] ?? undefined) as Node | undefined;
    if (into !== undefined && into !== null) this.#write(this.#named(into["name"]), result);
    else this.#results.push({ columns: result.columns, stars: result.open, dataset: unique(result.dataset) });
  }

  #write(target: string, result: Result, columns?: readonly string[]): void {
    this.#does("WRITE");
    const table = this.#qualified(target);
    this.#outputs.add(table);
    const known = columns !== undefined && columns.length > 0 ? columns : undefined;
    const named = result.columns.map((column, i) => ({ ...column, name: known?.[i] ?? column.name }));
    this.#results.push({ table, columns: named, stars: result.open, dataset: unique(result.dataset) });
  }

  /** A changing statement, wherever it stands. The result is what it gives back: RETURNING, OUTPUT. */
  #change(kind: string, node: Node, outer: Scope): Result {
    this.#seen.add(node);
    // WITH ... INSERT: the body of a query wraps the statement once more.
    const inner = node[kind] as Node | undefined;
    if (inner !== undefined && node["table"] === undefined && node["from"] === undefined) return this.#change(kind, inner, outer);
    const scope =
      kind === "Insert"
        ? this.#insert(node, outer)
        : kind === "Update"
          ? this.#update(node, outer)
          : kind === "Delete"
            ? this.#delete(node, outer)
            : this.#merge(node, outer);
    const output = (node["output"] ?? {}) as Node;
    const clause = (output["Output"] ?? output["Returning"]) as Node | undefined;
    this.#explain(clause?.["into_table"]);
    const items = [...list(node["returning"]), ...list(clause?.["select_items"])];
    if (items.length === 0) return NOTHING;
    const { columns, open } = this.#projection(items, scope);
    for (const table of open) this.#inputs.add(table);
    for (const { table } of columns.flatMap((column) => column.inputs)) this.#inputs.add(table);
    // Which rows come back, the filters decide.
    return { columns, open, dataset: unique(scope.indirect) };
  }

  /** The rows of a table as RETURNING and OUTPUT see them. */
  #returned(table: string): Relation {
    return { ...this.#tableColumns(table), names: ["inserted", "deleted", "new", "old", "excluded"], hidden: true };
  }

  #insert(node: Node, outer: Scope): Scope {
    const target = (node["table"] ?? {}) as Node;
    const scope: Scope = { relations: [], ctes: outer.ctes, indirect: [], outer };
    const source = node["source"] as Node | undefined;
    const result = source === undefined || source === null ? NOTHING : this.#query(source, outer);
    const clauses = list(node["multi_table_into_clauses"]).concat(
      list(node["multi_table_when_clauses"]).flatMap((clause) => list((clause as Node)["into_clauses"])),
      list(node["multi_table_else_clause"]),
    );
    if (clauses.length > 0) {
      for (const clause of clauses) this.#intoTable(clause as Node, result);
      for (const clause of list(node["multi_table_when_clauses"]))
        this.#filter((clause as Node)["condition"], this.#over(result, scope), "CONDITIONAL");
      return scope;
    }
    if ("TableFunction" in target) {
      // Rows that leave for where a function writes them.
      this.#does("EXPORT");
      this.#explain((target["TableFunction"] as Node)["name"]);
      this.#expr((target["TableFunction"] as Node)["args"], scope);
      this.#results.push({ columns: result.columns, stars: result.open, dataset: unique(result.dataset) });
      return scope;
    }
    const table = this.#named(target["TableName"] ?? target["name"] ?? target);
    for (const key of ["columns", "after_columns", "partitioned", "insert_alias", "table_alias"]) this.#explain(node[key]);
    const columns = list(node["columns"]).map((column) => lastName(column));
    const partitions = new Set(
      list(node["partitioned"])
        .flatMap((e) => identifiersIn(e))
        .map((n) => n.toLowerCase()),
    );
    const qualified = this.#qualified(table);
    const schema =
      columns.length > 0 ? columns : this.#schemaOf(qualified)?.filter((name) => !partitions.has(name.toLowerCase()));
    this.#noteValues(source, columns);
    this.#write(table, result, schema);
    const alias = identifier((node["table_alias"] as Node | null | undefined)?.["alias"] ?? node["table_alias"]).toLowerCase();
    const names = [table.toLowerCase(), lastName(target["TableName"] ?? target).toLowerCase(), ...(alias === "" ? [] : [alias])];
    (scope.relations as Relation[]).push({ names, ...this.#tableColumns(qualified) }, this.#returned(qualified));
    const on = (node["on"] ?? {}) as Node;
    const conflict = (on["OnConflict"] ?? {}) as Node;
    this.#explain(conflict["conflict_target"]);
    const update = ((conflict["action"] ?? {}) as Node)["DoUpdate"] as Node | undefined;
    const assignments = [...list(node["assignments"]), ...list(update?.["assignments"]), ...list(on["DuplicateKeyUpdate"])];
    const assigned = assignments.map((assignment) => this.#assignment(assignment as Node, scope));
    this.#filter(update?.["selection"], scope, "CONDITIONAL");
    // What stands in the table already is no source of it.
    const foreign = (input: ColumnInput) => input.table !== qualified;
    const changed = assigned.map(({ name, inputs }) => ({ name, inputs: inputs.filter(foreign) }));
    const dataset = unique(scope.indirect.filter(foreign));
    if (assigned.length + dataset.length > 0) this.#results.push({ table: qualified, columns: changed, stars: [], dataset });
    return scope;
  }

  /** One `INTO table (columns) VALUES (...)` of an INSERT ALL; without VALUES it takes the whole row. */
  #intoTable(clause: Node, source: Result): void {
    this.#explain(clause["columns"]);
    const names = list(clause["columns"]).map((column) => lastName(column));
    const values = list(((clause["values"] ?? {}) as Node)["values"]);
    const scope = this.#over(source, EMPTY_SCOPE());
    const columns = values.map((value, i) => ({
      name: names[i] ?? columnName((value as Node)["Expr"]) ?? `_${i}`,
      inputs: unique(this.#expr(value, scope)),
    }));
    const dataset = [...source.dataset, ...scope.indirect];
    this.#write(
      this.#named(clause["table_name"]),
      values.length === 0 ? source : { columns, open: [], dataset },
      names.length > 0 ? names : undefined,
    );
  }

  /** A scope in which the columns of a result are the only ones. */
  #over(result: Result, outer: Scope): Scope {
    return { relations: [{ names: [], ...result }], ctes: outer.ctes, indirect: outer.indirect, outer };
  }

  /** Literals of VALUES rows, with the column they go to. */
  #noteValues(source: Node | undefined | null, columns: readonly string[]): void {
    const values = ((source?.["body"] ?? {}) as Node)["Values"] as Node | undefined;
    for (const row of list(values?.["rows"])) {
      const cells = Array.isArray(row) ? row : list((row as Node)["content"]);
      for (const [i, cell] of cells.entries()) {
        const text = literalText(cell);
        const column = columns[i];
        if (text !== undefined) this.#literals.push({ value: text, ...(column === undefined ? {} : { column }) });
      }
    }
  }

  #createTable(node: Node): void {
    const table = this.#named(node["name"]);
    for (const column of list(node["columns"])) this.#explain((column as Node)["name"]);
    // ClickHouse: an engine that reads other tables, servers or files.
    for (const option of list(((node["table_options"] ?? {}) as Node)["Plain"])) {
      const given = (option as Node)["NamedParenthesizedList"] as Node | undefined;
      const texts = list(given?.["values"]).map(identifier);
      const engine = `engine_${identifier(given?.["name"]).toLowerCase()}`;
      const tables = tablesNamed(engine, texts);
      if (tables.includes("*")) this.#unread.add("an engine reads all tables that fit a pattern");
      if (texts.length > 0 && !engine.endsWith("mergetree")) this.#calls.push({ name: engine, texts: tables, rows: false });
    }
    const query = node["query"] as Node | undefined | null;
    if (query !== undefined && query !== null) {
      this.#write(table, this.#query(query, EMPTY_SCOPE()));
      return;
    }
    this.#does("DEFINE");
    for (const key of ["like", "clone"]) {
      const from = node[key];
      if (from === undefined || from === null) continue;
      const source = this.#qualified(this.#named(firstName(from)));
      this.#inputs.add(source);
      this.#results.push({
        table: this.#qualified(table),
        columns: this.#tableColumns(source).columns,
        stars: this.#tableColumns(source).open,
        dataset: [],
      });
    }
    this.#outputs.add(this.#qualified(table));
  }

  #update(node: Node, outer: Scope): Scope {
    this.#does("WRITE");
    const target = ((node["table"] ?? {}) as Node)["relation"] as Node | undefined;
    const from = node["from"] as Node | undefined | null;
    const others = list(from === undefined || from === null ? [] : (from["AfterSet"] ?? from["BeforeSet"] ?? from));
    const first = (target?.["Table"] ?? {}) as Node;
    const aliased = aliasedTable(others, nameOf(first["name"]));
    // T-SQL: `UPDATE t ... FROM dbo.t t` changes the table that FROM calls so.
    if (aliased !== undefined) {
      this.#seen.add(first);
      this.#explain(first["name"]);
    }
    const table = this.#qualified(nameOf((aliased ?? first)["name"]));
    this.#outputs.add(table);
    const before = this.#inputs.has(table);
    const scope = this.#from([...(aliased === undefined ? [node["table"]] : []), ...others], outer);
    if (!before) this.#inputs.delete(table);
    (scope.relations as Relation[]).push(this.#returned(table));
    const columns = list(node["assignments"]).map((assignment) => this.#assignment(assignment as Node, scope));
    this.#filter(node["selection"], scope, "FILTER");
    this.#results.push({ table, columns, stars: [], dataset: unique(scope.indirect) });
    return scope;
  }

  #assignment(assignment: Node, scope: Scope): ResultColumn {
    this.#explain(assignment["target"]);
    const name = lastName(((assignment["target"] ?? {}) as Node)["ColumnName"] ?? assignment["target"]);
    const text = literalText(assignment["value"]);
    if (text !== undefined) this.#literals.push({ value: text, column: name });
    return { name, inputs: unique(this.#expr(this.#isValue(assignment["value"]), scope)) };
  }

  #delete(node: Node, outer: Scope): Scope {
    this.#does("DELETE");
    const from = (node["from"] ?? {}) as Node;
    const tables = [...list(from["WithFromKeyword"] ?? from["WithoutKeyword"] ?? from), ...list(node["using"])];
    const before = new Set(this.#inputs);
    const scope = this.#from(tables, outer);
    const explicit = list(node["tables"]).map((name) => this.#named(name));
    const first = (((tables[0] ?? {}) as Node)["relation"] as Node | undefined)?.["Table"] as Node | undefined;
    const named = explicit.length > 0 ? explicit : first === undefined ? [] : [nameOf(first["name"])];
    for (const name of named) {
      // `DELETE t FROM dbo.t t`: the name may be one that FROM gives.
      const target = this.#qualified(nameOf(aliasedTable(tables, name)?.["name"] ?? name));
      this.#outputs.add(target);
      if (!before.has(target)) this.#inputs.delete(target);
      (scope.relations as Relation[]).push(this.#returned(target));
    }
    this.#filter(node["selection"], scope, "FILTER");
    return scope;
  }

  #merge(node: Node, outer: Scope): Scope {
    this.#does("WRITE");
    const targetNode = ((node["table"] ?? {}) as Node)["Table"] as Node | undefined;
    const table = this.#qualified(this.#named(targetNode?.["name"]));
    const before = this.#inputs.has(table);
    const scope = this.#from(
      [
        { relation: node["table"], joins: [] },
        { relation: node["source"], joins: [] },
      ],
      outer,
    );
    if (!before) this.#inputs.delete(table);
    this.#outputs.add(table);
    const source = scope.relations[1];
    (scope.relations as Relation[]).push(this.#returned(table));
    this.#filter(node["on"], scope, "JOIN");
    const columns = new Map<string, ColumnInput[]>();
    const stars = new Set<string>();
    // Spark's `UPDATE SET *` and `INSERT *`: every column of the source.
    const everything = (): void => {
      for (const { name, inputs } of source?.columns ?? []) columns.set(name, [...(columns.get(name) ?? []), ...inputs]);
      for (const open of source?.open ?? []) stars.add(open);
    };
    for (const clause of list(node["clauses"])) {
      const action = ((clause as Node)["action"] ?? {}) as Node;
      this.#filter((clause as Node)["predicate"], scope, "CONDITIONAL");
      const update = action["Update"] as Node | undefined;
      for (const assignment of list(update?.["assignments"])) {
        const column = this.#assignment(assignment as Node, scope);
        if (column.name === "*") {
          everything();
          continue;
        }
        columns.set(column.name, [...(columns.get(column.name) ?? []), ...column.inputs]);
      }
      const insert = action["Insert"] as Node | undefined;
      this.#explain(insert?.["columns"]);
      const names = list(insert?.["columns"]).map((column) => lastName(column));
      if (names[0] === "*") {
        everything();
        continue;
      }
      const values = ((insert?.["kind"] ?? {}) as Node)["Values"] as Node | undefined;
      for (const row of list(values?.["rows"])) {
        const cells = Array.isArray(row) ? row : list((row as Node)["content"]);
        for (const [i, cell] of cells.entries()) {
          const name = names[i] ?? this.#schemaOf(table)?.[i] ?? `_${i}`;
          columns.set(name, [...(columns.get(name) ?? []), ...this.#expr(this.#isValue(cell), scope)]);
        }
      }
    }
    this.#results.push({
      table,
      columns: [...columns].map(([name, inputs]) => ({ name, inputs: unique(inputs) })),
      stars: [...stars],
      dataset: unique(scope.indirect),
    });
    return scope;
  }

  #copy(node: Node): void {
    for (const key of ["options", "legacy_options"]) this.#explain(node[key]);
    const source = (node["source"] ?? {}) as Node;
    const table = source["Table"] as Node | undefined;
    if (node["to"] === true) {
      this.#does("EXPORT");
      if (table !== undefined) {
        const name = this.#qualified(this.#named(table["table_name"]));
        this.#explain(table["columns"]);
        this.#inputs.add(name);
        const named = list(table["columns"]).map((column) => identity(name, lastName(column)));
        const whole = this.#tableColumns(name);
        this.#results.push(
          named.length > 0
            ? { columns: named, stars: [], dataset: [] }
            : { columns: whole.columns, stars: whole.open, dataset: [] },
        );
      } else if (source["Query"] !== undefined) {
        const result = this.#query(source["Query"] as Node, EMPTY_SCOPE());
        this.#results.push({ columns: result.columns, stars: result.open, dataset: unique(result.dataset) });
      }
      return;
    }
    this.#does("WRITE");
    if (table === undefined) return;
    this.#explain(table["columns"]);
    const to = this.#qualified(this.#named(table["table_name"]));
    this.#outputs.add(to);
    const file = (((node["target"] ?? {}) as Node)["File"] as Node | undefined)?.["filename"];
    if (typeof file !== "string" || file === "") return;
    this.#inputs.add(file);
    this.#results.push({ table: to, columns: [], stars: [file], dataset: [] });
  }

  /** `COPY INTO @stage FROM ...` moves rows out, `COPY INTO table FROM @stage` brings them in. */
  #copyInto(node: Node): void {
    const target = this.#named(node["into"]);
    if (node["kind"] !== "Location") {
      // Without a query the rows of the stage go in as they are.
      const stage = this.#named(node["from_obj"]);
      const query = node["from_query"] as Node | null | undefined;
      const whole: Result = stage === "" ? NOTHING : { columns: [], open: [stage], dataset: [] };
      if (stage !== "") this.#inputs.add(stage);
      this.#write(target, query === undefined || query === null ? whole : this.#query(query, EMPTY_SCOPE()));
      return;
    }
    const query = node["from_query"] as Node | null | undefined;
    const table = node["from_obj"] as unknown;
    this.#copy({
      to: true,
      source: query === undefined || query === null ? { Table: { table_name: table, columns: [] } } : { Query: query },
    });
  }

  #unload(node: Node): void {
    this.#does("EXPORT");
    for (const key of ["to", "with", "options", "connection"]) this.#explain(node[key]);
    const query = (node["query"] ?? node["source"]) as Node | undefined | null;
    if (query === undefined || query === null) {
      if (typeof node["query_text"] === "string") this.#unread.add("a text that is run could not be read");
      return;
    }
    const result = this.#query(query, EMPTY_SCOPE());
    this.#results.push({ columns: result.columns, stars: result.open, dataset: unique(result.dataset) });
  }

  /** A statement that moves a whole table or directory, read by {@link rewriteHive}: `{ from, to, filter, operation }`. */
  #externalCopy(node: Node): void {
    const from = this.#located(String(node["from"]));
    const to = this.#located(String(node["to"]));
    this.#does(node["operation"] === "EXPORT" ? "EXPORT" : "WRITE");
    this.#inputs.add(from);
    this.#outputs.add(to);
    const whole = this.#tableColumns(from);
    const dataset = list(node["filter"]).map(
      (field): ColumnInput => ({ table: from, field: String(field), type: "INDIRECT", subtype: "FILTER", masking: false }),
    );
    this.#results.push({ table: to, columns: whole.columns, stars: whole.open, dataset });
  }

  #located(name: string): string {
    return name.includes("/") ? name : this.#qualified(name);
  }

  #use(node: Node): void {
    const [kind = "", name] = Object.entries(node)[0] ?? [];
    const parts = this.#named(name).split(".");
    if (typeof node === "string" || kind === "Default" || (kind === "Object" && parts[0]?.toLowerCase() === "default")) {
      this.#database = undefined;
      this.#schema = undefined;
      return;
    }
    if (parts.length > 1) {
      this.#database = parts.slice(0, -1).join(".");
      this.#schema = parts.at(-1);
    } else if (kind === "Schema") this.#schema = parts[0];
    else if (kind !== "Warehouse" && kind !== "Role" && kind !== "SecondaryRoles") this.#database = parts[0];
  }

  #alter(node: Node): void {
    this.#does("DEFINE");
    const table = this.#qualified(this.#named(node["name"]));
    for (const operation of list(node["operations"])) {
      this.#explain(((operation as Node)["AddColumn"] as Node | undefined)?.["column_def"]);
      const rename = (operation as Node)["RenameTable"] as Node | undefined;
      if (rename === undefined) continue;
      this.#inputs.add(table);
      const to = (rename["table_name"] ?? rename) as Node;
      this.#outputs.add(this.#qualified(this.#named(to["To"] ?? to["As"] ?? to)));
      return;
    }
    this.#outputs.add(table);
  }

  #qualified(name: string): string {
    // What USE chose may be the database of a table whose schema nobody names.
    if (name.includes(".") || name === "" || !this.#complete) return name;
    return [this.#database, this.#schema, name].filter((part) => part !== undefined).join(".");
  }

  #with(query: Node, scope: Scope): Ctes {
    const ctes = new Map(scope.ctes);
    const clause = query["with"] as Node | undefined | null;
    const put = (name: unknown, result: Result): void => {
      const key = foldedName(identifier(name));
      ctes.set(key, [...(ctes.get(key) ?? []).filter((known) => !surelyOne(known.name, name)), { name, result }]);
    };
    const given = list(clause?.["cte_tables"]) as readonly Node[];
    for (const cte of clause?.["recursive"] === true ? givenFirst(given) : given) {
      const alias = (cte["alias"] ?? {}) as Node;
      const name = alias["name"];
      const inner: Scope = { relations: [], ctes, indirect: [], ...(scope.outer === undefined ? {} : { outer: scope.outer }) };
      const body = ((cte["query"] ?? {}) as Node)["body"] as Node | undefined;
      const operation = body?.["SetOperation"] as Node | undefined;
      if (clause?.["recursive"] === true && operation !== undefined) {
        // The anchor gives the columns that the recursive member refers to.
        put(name, this.#body(operation["left"] as Node, inner));
      }
      put(
        name,
        renamed(this.#query(cte["query"] as Node, { ...inner, ctes: new Map(ctes) }), list(alias["columns"]).map(columnAlias)),
      );
    }
    return ctes;
  }

  #query(query: Node | undefined | null, scope: Scope): Result {
    if (query === undefined || query === null) return NOTHING;
    this.#seen.add(query);
    const ctes = this.#with(query, scope);
    const inner: Scope = { ...scope, ctes };
    const limit = query["limit_clause"] ?? query["fetch"] ?? query["limit"];
    if (limit !== undefined && limit !== null) this.#limited = true;
    this.#isValue(limit);
    return this.#body(query["body"] as Node, inner, query);
  }

  #body(body: Node | undefined, scope: Scope, query: Node = {}): Result {
    if (body === undefined || body === null) return NOTHING;
    if (body["Select"] !== undefined) return this.#select(body["Select"] as Node, scope, query);
    if (body["Query"] !== undefined) {
      const result = this.#query(body["Query"] as Node, scope);
      return { ...result, dataset: [...result.dataset, ...this.#orderBy(query, scope, result, [])] };
    }
    if (body["SetOperation"] !== undefined) {
      const operation = body["SetOperation"] as Node;
      const left = this.#body(operation["left"] as Node, scope);
      const right = this.#body(operation["right"] as Node, scope);
      // Which columns meet is not known where those of a side are not.
      const aligned = left.open.length + right.open.length === 0;
      const any = aligned ? [] : [...right.columns.flatMap(({ inputs }) => inputs), ...right.open.map(wholeRow)];
      const columns = left.columns.map((column, i) => ({
        name: column.name,
        inputs: unique([...column.inputs, ...(aligned ? (right.columns[i]?.inputs ?? []) : this.#counted(any))]),
      }));
      columns.push(...right.columns.slice(columns.length).map(({ name, inputs }) => ({ name, inputs: [...inputs] })));
      const result = { columns, open: [...new Set([...left.open, ...right.open])], dataset: [...left.dataset, ...right.dataset] };
      return { ...result, dataset: [...result.dataset, ...this.#orderBy(query, scope, result, [])] };
    }
    if (body["Table"] !== undefined) {
      const table = body["Table"] as Node;
      const written = [table["schema_name"], table["table_name"]].filter((p) => typeof p === "string").join(".");
      this.#seen.add(table);
      // The tree does not tell whether it was quoted.
      const single = typeof table["schema_name"] !== "string";
      const { given, sure } = single ? givenBy(scope.ctes, written) : NOT_GIVEN;
      if (given !== undefined && sure) return given;
      const name = this.#qualified(written);
      this.#inputs.add(name);
      const read = { ...this.#tableColumns(name), dataset: [] };
      return given === undefined ? read : either([given, read]);
    }
    if (body["Values"] !== undefined) {
      const inner: Scope = { ...scope, indirect: [] };
      const rows = list((body["Values"] as Node)["rows"]).map((row) =>
        Array.isArray(row) ? row : list((row as Node)["content"]),
      );
      const width = Math.max(0, ...rows.map((row) => row.length));
      const columns = Array.from({ length: width }, (_, i) => ({
        name: `_${i}`,
        inputs: unique(rows.flatMap((row) => this.#expr(this.#isValue(row[i]), inner))),
      }));
      return { columns, open: [], dataset: inner.indirect };
    }
    for (const kind of CHANGES) {
      if (typeof body[kind] === "object" && body[kind] !== null) return this.#change(kind, body[kind] as Node, scope);
    }
    return NOTHING;
  }

  #select(select: Node, outer: Scope, query: Node): Result {
    const scope = this.#from(list(select["from"]), outer);
    for (const view of list(select["lateral_views"])) this.#lateralView(view as Node, scope);
    // `FROM t` without SELECT shows all of it.
    const items = select["flavor"] === "FromFirstNoSelect" ? [{ Wildcard: {} }] : list(select["projection"]);
    const { columns, open } = this.#projection(items, scope);
    for (const expr of list(((select["distinct"] ?? {}) as Node)["On"]))
      this.#collect(this.#expr(expr, scope), scope, "GROUP_BY");
    this.#filter(select["connect_by"], scope, "FILTER");
    for (const window of list(select["named_window"])) {
      this.#explain(list(window)[0]);
      this.#collect(this.#expr(list(window).slice(1), scope), scope, "WINDOW");
    }
    this.#filter(select["selection"], scope, "FILTER");
    this.#filter(select["prewhere"], scope, "FILTER");
    const aliases: Relation = { names: [], columns, open: [] };
    const groups = (select["group_by"] ?? {}) as Node;
    for (const expr of list((groups["Expressions"] as unknown[] | undefined)?.[0])) {
      this.#collect(this.#positional(expr, columns) ?? this.#expr(expr, this.#preferring(scope, aliases)), scope, "GROUP_BY");
    }
    this.#filter(select["having"], this.#withAliases(scope, aliases), "FILTER");
    this.#filter(select["qualify"], this.#withAliases(scope, aliases), "FILTER");
    for (const key of ["sort_by", "cluster_by", "distribute_by"]) {
      for (const expr of list(select[key])) this.#collect(this.#expr((expr as Node)["expr"] ?? expr, scope), scope, "SORT");
    }
    const sorted = this.#orderBy(query, scope, { columns, open, dataset: [] }, columns);
    return { columns, open, dataset: [...scope.relations.flatMap((r) => datasetOf(r)), ...scope.indirect, ...sorted] };
  }

  /** The columns of a select list, and the tables that pass through it whole. */
  #projection(items: readonly unknown[], scope: Scope): { readonly columns: ResultColumn[]; readonly open: readonly string[] } {
    const columns: ResultColumn[] = [];
    const open = new Set<string>();
    let unnamed = 0;
    for (const item of items) {
      const node = (typeof item === "string" ? { [item]: {} } : item) as Node;
      const qualified = list(node["QualifiedWildcard"]);
      if (node["Wildcard"] !== undefined || qualified.length > 0) {
        const options = (node["Wildcard"] ?? qualified[1] ?? {}) as Node;
        const whole = (qualified[0] ?? {}) as Node;
        const left = options["opt_exclude"] ?? options["opt_except"];
        this.#explain(left);
        const dropped = new Set(identifiersIn(left ?? []).map((n) => n.toLowerCase()));
        const replaced = list(((options["opt_replace"] ?? {}) as Node)["items"]) as readonly Node[];
        for (const replacement of replaced) {
          const name = this.#named(replacement["column_name"]);
          dropped.add(name.toLowerCase());
          columns.push({ name, inputs: unique(this.#expr(replacement["expr"], scope)) });
        }
        this.#explain(options["opt_rename"]);
        if (whole["Expr"] !== undefined) {
          columns.push({ name: `_${unnamed++}`, inputs: unique(this.#expr(whole["Expr"], scope)) });
          continue;
        }
        const name = qualified.length === 0 ? undefined : this.#named(whole["ObjectName"] ?? whole).toLowerCase();
        const found = starred(scope, name);
        // `profile.*` of a column that holds a structure.
        if (found.length === 0 && name !== undefined)
          columns.push({ name: "*", inputs: this.#find(scope, name.split(".")) ?? [] });
        for (const relation of found) {
          columns.push(...relation.columns.filter((column) => !dropped.has(column.name.toLowerCase())));
          if (relation.other !== undefined && relation.other.length > 0) columns.push({ name: "*", inputs: relation.other });
          for (const table of relation.open) open.add(table);
        }
        continue;
      }
      const aliased = node["ExprWithAlias"] as Node | undefined;
      const expr = aliased === undefined ? (node["UnnamedExpr"] ?? node) : aliased["expr"];
      const name = aliased === undefined ? (columnName(expr) ?? `_${unnamed++}`) : identifier(aliased["alias"]);
      const inputs = this.#expr(expr, scope);
      // Snowflake: `$1` is the first column, whichever that is; what is put in as a whole item may be any of them.
      const put = isPutIn(expr);
      if (put === "text") this.#doubts.add(PUT_IN);
      const any = namesPlace(expr) || put !== undefined;
      columns.push({ name, inputs: unique(any ? [...inputs, ...this.#rows(scope, undefined)] : inputs) });
    }
    return { columns, open: [...open] };
  }

  #withAliases(scope: Scope, aliases: Relation): Scope {
    return { ...scope, relations: [...scope.relations, aliases] };
  }

  /** GROUP BY means input columns first, output names only where no input has them. */
  #preferring(scope: Scope, aliases: Relation): Scope {
    return {
      ...scope,
      relations: [],
      outer: {
        ...scope,
        relations: scope.relations.length === 0 ? [aliases] : scope.relations,
        outer: { ...scope, relations: [aliases] },
      },
    };
  }

  #positional(expr: unknown, columns: readonly ResultColumn[]): readonly ColumnInput[] | undefined {
    const number = numberText(expr);
    return number === undefined ? undefined : (columns[Number(number) - 1]?.inputs ?? []);
  }

  #orderBy(query: Node, scope: Scope, result: Result, columns: readonly ResultColumn[]): readonly ColumnInput[] {
    const kind = ((query["order_by"] ?? {}) as Node)["kind"] as Node | undefined;
    const found: ColumnInput[] = [];
    const shown: Relation = { names: [], columns: columns.length > 0 ? columns : result.columns, open: [] };
    for (const item of list(kind?.["Expressions"])) {
      const expr = (item as Node)["expr"];
      const position = this.#positional(expr, result.columns);
      const inner: Scope = { relations: [shown], ctes: scope.ctes, indirect: [], outer: scope };
      found.push(...indirect(position ?? this.#expr(expr, inner), "SORT"));
    }
    return found;
  }

  #lateralView(view: Node, scope: Scope): void {
    const inputs = this.#expr(view["lateral_view"], scope).map(transformed);
    this.#explain(view["lateral_col_alias"]);
    const names = list(view["lateral_col_alias"]).map(identifier);
    (scope.relations as Relation[]).push({
      names: [this.#named(view["lateral_view_name"]).toLowerCase()],
      columns: names.map((name) => ({ name, inputs })),
      open: [],
      other: inputs,
    });
  }

  #from(items: readonly unknown[], outer: Scope): Scope {
    const relations: Relation[] = [];
    const scope: Scope = { relations, ctes: outer.ctes, indirect: [], outer };
    for (const item of items) {
      const node = (item ?? {}) as Node;
      const first = this.#relation((node["relation"] ?? node) as Node, scope);
      if (first !== undefined) relations.push(first);
      for (const join of list(node["joins"])) {
        const j = join as Node;
        const right = this.#relation(j["relation"] as Node, scope);
        const leftRelations = [...relations];
        if (right !== undefined) relations.push(right);
        this.#joinOn(j["join_operator"], scope, leftRelations, right);
      }
    }
    return scope;
  }

  #joinOn(operator: unknown, scope: Scope, left: readonly Relation[], right: Relation | undefined): void {
    if (typeof operator !== "object" || operator === null) return;
    const [kind = "", constraint] = Object.entries(operator)[0] ?? [];
    const on = ((constraint as Node | null)?.["constraint"] ?? constraint ?? {}) as Node;
    const matched = (constraint as Node | null)?.["match_condition"];
    // An inner join also drops rows, so its columns filter as well.
    const inner = kind === "Join" || kind === "Inner";
    const inputs: ColumnInput[] = [];
    if (on["On"] !== undefined) inputs.push(...this.#expr(on["On"], scope));
    if (matched !== undefined) inputs.push(...this.#expr(matched, scope));
    this.#explain(on["Using"]);
    for (const using of list(on["Using"])) {
      const name = lastName(using);
      for (const relation of [...left, ...(right === undefined ? [] : [right])]) inputs.push(...lookup(relation, name));
    }
    if ((on as unknown) === "Natural" && right !== undefined) inputs.push(...this.#counted(inCommon(left, right)));
    this.#collect(inputs, scope, "JOIN");
    if (inner) this.#collect(inputs, scope, "FILTER");
  }

  #relation(node: Node | undefined, scope: Scope): Relation | undefined {
    if (node === undefined || node === null) return undefined;
    const table = node["Table"] as Node | undefined;
    if (table !== undefined) return this.#table(table, scope);
    const derived = node["Derived"] as Node | undefined;
    if (derived !== undefined) {
      const result = this.#query(derived["subquery"] as Node, { relations: [], ctes: scope.ctes, indirect: [], outer: scope });
      const alias = derived["alias"] as Node | undefined | null;
      const shaped = renamed(result, list(alias?.["columns"]).map(columnAlias));
      return relationOf(alias === undefined || alias === null ? [] : [identifier(alias["name"]).toLowerCase()], shaped);
    }
    const nested = node["NestedJoin"] as Node | undefined;
    if (nested !== undefined) {
      const inner = this.#from([nested["table_with_joins"]], scope);
      scope.indirect.push(...inner.indirect);
      const alias = nested["alias"] as Node | undefined | null;
      const whole = {
        columns: inner.relations.flatMap((r) => r.columns),
        open: inner.relations.flatMap((r) => r.open),
        dataset: [],
      };
      const { columns, open } = renamed(whole, list(alias?.["columns"]).map(columnAlias));
      const name = identifier(alias?.["name"]).toLowerCase();
      return { names: [...(name === "" ? [] : [name]), ...inner.relations.flatMap((r) => r.names)], columns, open };
    }
    // `TABLE('name')`, `TABLE(:name)`: not a function but a name that is given as a text.
    const fn = (node["TableFunction"] as Node | undefined)?.["expr"] as Node | undefined;
    if (fn?.["Value"] !== undefined) {
      const name = literalText(fn);
      const alias = identifier(((node["TableFunction"] as Node)["alias"] as Node | null | undefined)?.["name"]).toLowerCase();
      if (name === undefined) this.#unread.add(BUILT_NAME);
      return this.#tableNamed(name ?? "", alias === "" ? undefined : alias, [], scope, name);
    }
    const [, body] = Object.entries(node)[0] ?? [];
    return typeof body === "object" && body !== null ? this.#computed(body as Node, scope) : undefined;
  }

  /** A relation that is computed: from another one (PIVOT, MATCH_RECOGNIZE) or from expressions (UNNEST, a table function). What goes in comes out. */
  #computed(body: Node, scope: Scope): Relation {
    const inner = body["table"] === undefined ? undefined : this.#relation(body["table"] as Node, scope);
    const { table: _, alias: given, ...rest } = body;
    // The variables of a pattern stand for its rows.
    const rows =
      inner === undefined
        ? []
        : [{ ...inner, names: [...inner.names, ...identifiersIn(rest["pattern"]).map((n) => n.toLowerCase())] }];
    const within: Scope = { ...scope, relations: [...scope.relations, ...rows] };
    if (rest["name"] !== undefined) {
      const args = rest["args"];
      this.#called(rest["name"], argumentsOf(Array.isArray(args) ? { List: { args } } : args), true);
    }
    for (const key of ["columns", "symbols", "pattern", "measures"]) this.#explainNames(rest[key]);
    const defined = this.#definedColumns(rest["columns"]);
    const other = unique(this.#expr(rest, within).map(transformed));
    const alias = given as Node | undefined | null;
    const name = alias === undefined || alias === null ? [] : [identifier(alias["name"]).toLowerCase()];
    if (inner !== undefined) return { ...inner, names: [...name, ...inner.names], other: [...(inner.other ?? []), ...other] };
    const columns = list(alias?.["columns"]).map(columnAlias);
    return {
      names: name,
      columns: [
        ...defined.map((c) => ({ name: c.name, inputs: this.#member(other, c.path) })),
        ...columns.map((c) => ({ name: c, inputs: memberOf(this.#counted(other), c) })),
        ...[...name, "value"].map((c) => ({ name: c, inputs: other })),
      ],
      open: [],
      other,
    };
  }

  /** The columns that a table of a structure defines (`JSON_TABLE`, `OPENJSON`, `XMLTABLE`), with the keys of their paths. */
  #definedColumns(node: unknown): { readonly name: string; readonly path: string }[] {
    if (typeof node !== "object" || node === null) return [];
    const body = node as Node;
    const given = body["name"];
    if (Array.isArray(node) || typeof given !== "object" || given === null || !isIdent(given as Node))
      return Object.values(body).flatMap((child) => this.#definedColumns(child));
    const paths: string[] = [];
    const look = (child: unknown, key: string): void => {
      const text = typeof child === "string" ? child : literalText(child);
      if (text !== undefined && (isPath(text) || key === "path")) {
        paths.push(text);
        if (typeof child === "object" && child !== null) this.#seen.add(child);
      } else if (typeof child === "object" && child !== null)
        for (const [name, inner] of Object.entries(child)) look(inner, name);
    };
    look(body, "");
    const path = pathKeys(paths);
    const name = identifier(given);
    return [{ name, path: path === undefined ? name : `${path}.${name}` }];
  }

  /** Marks names that a clause gives to its parts, not those in its expressions. */
  #explainNames(node: unknown): void {
    if (typeof node !== "object" || node === null) return;
    if (isIdent(node as Node)) this.#seen.add(node);
    for (const [key, child] of Object.entries(node)) if (!EXPRESSIONS.has(key)) this.#explainNames(child);
  }

  #table(table: Node, scope: Scope): Relation {
    this.#seen.add(table);
    const alias = table["alias"] as Node | undefined | null;
    const aliasName = alias === undefined || alias === null ? undefined : identifier(alias["name"]).toLowerCase();
    const args = table["args"] as Node | undefined | null;
    for (const key of ["with_hints", "index_hints", "partitions", "json_path"]) this.#explain(table[key]);
    const renames = list(alias?.["columns"]).map(columnAlias);
    // ONLY is a word of the language, which this parser takes for a name: `ONLY t`, `ONLY (t)`.
    const only = isOnly(table["name"]);
    if (only) this.#explain(table["name"]);
    if (only && args === undefined && aliasName !== undefined)
      return this.#tableNamed(identifier(alias?.["name"]), undefined, [], scope, alias?.["name"]);
    if (only && args !== undefined && args !== null) {
      const name = this.#named(list(args["args"])[0]);
      const expr = unnamed(list(args["args"])[0]);
      const ident = (expr as Node | undefined)?.["Identifier"];
      return this.#tableNamed(columnName(expr) ?? name, aliasName, renames, scope, ident);
    }
    const called = this.#named(table["name"]);
    const indirectly = called.toLowerCase() === "identifier" && args !== undefined && args !== null;
    const name = indirectly ? (literalText(unnamed(list(args["args"])[0])) ?? "") : called;
    if (name === "" || TEMPLATE.test(name)) this.#unread.add(BUILT_NAME);
    if (placeholderIn(name) !== undefined) {
      const pattern = patternOf(name);
      if (pattern === undefined) this.#unread.add(BUILT_NAME);
      else return this.#tableNamed(pattern, aliasName, renames, scope);
    }
    if (!indirectly && args !== undefined && args !== null) {
      const rows = this.#called(table["name"], argumentsOf({ List: args }), true);
      const owner = (this.#ownerOf(scope, list(table["name"]), list(args["args"])) ?? []).map(transformed);
      const inputs = unique([...rows, ...owner, ...this.#expr(args["args"], scope).map(transformed)]);
      const names = [aliasName ?? name.toLowerCase()];
      const columns = [
        ...renames.map((column) => ({ name: column, inputs: memberOf(this.#counted(inputs), column) })),
        ...[...names, "value"].map((column) => ({ name: column, inputs })),
      ];
      return { names, columns, open: rows.map(({ table: named }) => named), other: inputs };
    }
    const parts = list(table["name"]);
    const single = indirectly ? name : parts.length === 1 ? ((parts[0] as Node)["Identifier"] ?? name) : undefined;
    return this.#tableNamed(name, aliasName, renames, scope, single);
  }

  /** A table, or what WITH gave that name; `single`: the node or the text of a name of one part, which alone may be such. */
  #tableNamed(name: string, aliasName: string | undefined, renames: readonly string[], scope: Scope, single?: unknown): Relation {
    const { given, sure } = single === undefined ? NOT_GIVEN : givenBy(scope.ctes, single);
    if (given !== undefined && sure) return relationOf([aliasName ?? name.toLowerCase()], renamed(given, renames));
    const qualified = this.#qualified(name);
    if (name !== "") this.#inputs.add(qualified);
    const full = qualified.toLowerCase();
    // With an alias only the full dotted name still means the table.
    const names =
      aliasName === undefined ? [...new Set([name.toLowerCase(), full])] : full.includes(".") ? [aliasName, full] : [aliasName];
    const whole = this.#tableColumns(qualified);
    const read: Result = { ...whole, dataset: [] };
    if (given !== undefined) return relationOf(names, renamed(either([given, read]), renames));
    const { columns, open } = renamed(read, renames);
    return { names, columns, open };
  }

  #tableColumns(table: string): { readonly columns: readonly ResultColumn[]; readonly open: readonly string[] } {
    const schema = this.#schemaOf(table);
    return {
      columns: schema?.map((field) => identity(table, field)) ?? [],
      open: schema === undefined || !this.#complete ? [table] : [],
    };
  }

  #filter(expr: unknown, scope: Scope, subtype: "FILTER" | "JOIN" | "CONDITIONAL"): void {
    if (expr === undefined || expr === null) return;
    this.#collect(this.#expr(expr, scope), scope, subtype);
    if (!conditionsIn(expr).some((condition) => isPutIn(condition) !== undefined)) return;
    this.#doubts.add("a condition is put in before the statement runs");
    this.#collect(this.#rows(scope, undefined), scope, subtype);
  }

  /** Marks what is put in there as a value, outside of queries; gives the node back. */
  #isValue(node: unknown): unknown {
    if (typeof node !== "object" || node === null || isQuery(node as Node)) return node;
    if (!Array.isArray(node) && isIdent(node as Node)) {
      if (placeholderIn(identifier(node)) !== undefined) this.#values.add(node);
      if (this.#values.has(node)) this.#seen.add(node);
    } else for (const child of Object.values(node)) this.#isValue(child);
    return node;
  }

  #collect(inputs: readonly ColumnInput[], scope: Scope, subtype: ColumnInput["subtype"]): void {
    scope.indirect.push(...indirect(inputs, subtype));
  }

  /** Input columns of an expression. */
  #expr(node: unknown, scope: Scope): readonly ColumnInput[] {
    if (typeof node !== "object" || node === null) return [];
    if (Array.isArray(node)) return node.flatMap((item) => this.#expr(item, scope));
    const entries = Object.entries(node);
    const [kind = "", value] = entries[0] ?? [];
    const body = (value ?? {}) as Node;
    if (entries.length === 1) {
      switch (kind) {
        case "Identifier":
          return this.#resolved(scope, [value]);
        case "CompoundIdentifier":
          return this.#resolved(scope, list(value));
        case "QualifiedWildcard":
        case "Wildcard":
          return this.#rows(scope, kind === "Wildcard" ? undefined : this.#named(list(value).length > 0 ? value : ""));
        case "CompoundFieldAccess":
          if (!list(body["access_chain"]).every(isStep)) this.#builtMember(body["access_chain"]);
          return this.#member(
            [...this.#expr(body["root"], scope), ...this.#expr(body["access_chain"], scope)],
            pathKeys(body["access_chain"]),
          );
        case "JsonAccess":
          return this.#member(this.#expr(body["value"], scope), pathKeys((body["path"] as Node | undefined)?.["path"]));
        case "Nested":
          return this.#expr(body, scope);
        case "Value":
          return this.#literal(node, undefined);
        case "Function":
          return this.#function(body, scope);
        case "Substring": {
          const little = showsLittle("substring", [body["expr"], body["substring_from"], body["substring_for"]]);
          return [body["expr"], body["substring_from"], body["substring_for"]]
            .flatMap((part) => this.#expr(part, scope))
            .map((input) => applied(input, false, little, false));
        }
        case "Case":
          return this.#case(body, scope);
        case "Exists":
          // Whether there are rows is all that is seen of them.
          return this.#subquery(body["subquery"] as Node, scope, false);
        case "Subquery":
        case "ArraySubquery":
          return this.#subquery((body["subquery"] ?? body) as Node, scope);
        case "InSubquery":
          return [...this.#expr(body["expr"], scope), ...this.#subquery(body["subquery"] as Node, scope)].map(transformed);
        case "BinaryOp": {
          this.#compared(body);
          if (!/^(?:And|Or|Xor)$/.test(String(body["op"]))) this.#isValue(body["right"]);
          const inputs = [...this.#expr(body["left"], scope), ...this.#expr(body["right"], scope)];
          if (!MEMBER_OPERATORS.has(String(body["op"]))) return memberOf(inputs, undefined);
          const key = constantText(body["right"]) ?? firstText(body["right"]);
          if (key === undefined || (buildsText(body["right"]) && constantText(body["right"]) === undefined))
            this.#builtMember(body["right"]);
          return this.#member(inputs, pathKeys(key));
        }
        case "Lambda": {
          // Some dialects of the parser take `doc -> 'a' ->> 'b'` for a function of `doc`.
          this.#explain(body["params"]);
          const key = pathKeys(textsIn(body["body"]));
          const param = (body["params"] as Node | undefined)?.["One"] as Node | undefined;
          if (param === undefined || key === undefined || namesIn(body["body"])) return this.#expr(body["body"], scope);
          return this.#member(this.#resolved(scope, [param["name"]]), key);
        }
        case "InList":
          for (const item of list(body["list"])) this.#literal(this.#isValue(item), columnName(body["expr"]));
          return [...this.#expr(body["expr"], scope), ...this.#expr(body["list"], scope)].map(transformed);
        case "Expr":
        case "Unnamed":
          return this.#expr(value, scope);
        case "Between":
        case "Like":
        case "ILike":
        case "SimilarTo":
        case "RLike":
          for (const key of ["low", "high", "pattern"]) this.#isValue(body[key]);
          break;
        case "Interval":
          this.#isValue(body);
          break;
        case "AliasedExpr":
          return this.#expr(body["expr"], scope);
      }
    }
    if (isQuery(node as Node)) return this.#subquery(node as Node, scope);
    const all = entries.filter(([key]) => !isSyntax(key)).flatMap(([, child]) => this.#expr(child, scope));
    return all.map(transformed);
  }

  /**
   * The inputs behind a column's name. A name that nothing in sight has stays unexplained; it may be one that the database gave to a column without
   * one (`max`, `column1`), so that it stands for all there is.
   */
  #resolved(scope: Scope, parts: readonly unknown[]): readonly ColumnInput[] {
    if (parts.some((part) => placeholderIn(identifier(part)) !== undefined)) return this.#putIn(scope, parts);
    const found = this.#find(scope, parts.map(identifier));
    if (found === undefined) return this.#rows(scope, undefined).map(transformed);
    for (const part of parts) this.#explain(part);
    return found;
  }

  /** What a name may be that is put in before the statement runs: a value, or any column that is in sight; a column of a relation that is. */
  #putIn(scope: Scope, parts: readonly unknown[]): readonly ColumnInput[] {
    const last = parts.at(-1);
    const value = this.#values.has(last as object) || /^[?:@]|^placeholder__b\d+$/i.test(identifier(last));
    for (const part of parts) this.#explain(part);
    if (value) return [];
    if (placeholderIn(identifier(last)) === undefined)
      return this.#find(scope, [identifier(last)]) ?? this.#rows(scope, undefined);
    const owner = parts.slice(0, -1).map(identifier).join(".");
    const rows: ColumnInput[] = [];
    for (let at: Scope | undefined = scope; at !== undefined; at = at.outer)
      rows.push(...this.#rows(at, owner === "" || placeholderIn(owner) !== undefined ? undefined : owner));
    if (rows.length === 0) this.#unread.add(PUT_IN);
    else this.#doubts.add(PUT_IN);
    return rows.map(transformed);
  }

  #find(scope: Scope, parts: readonly string[]): readonly ColumnInput[] | undefined {
    return this.#counted(resolve(scope, parts, this.#complete), scope.relations.length);
  }

  /** Whole rows: of one relation, or of all. */
  #rows(scope: Scope, name: string | undefined): readonly ColumnInput[] {
    return this.#counted(starred(scope, name?.toLowerCase()).flatMap(rowOf), scope.relations.length);
  }

  /** Notes that the name of a member is not written: one that is built may be any, one that a column or a parameter gives is not explained. */
  #builtMember(node: unknown): void {
    if (buildsText(node)) this.#unread.add(BUILT_MEMBER);
    else this.#doubts.add(BUILT_MEMBER);
  }

  /** Inputs of which only a member is used; a path into what is no column of a table is noted by itself. */
  #member(inputs: readonly ColumnInput[], member: string | undefined): readonly ColumnInput[] {
    if (inputs.length === 0 && member !== undefined) this.#paths.add(member);
    return memberOf(this.#counted(inputs), member);
  }

  #compared(body: Node): void {
    const left = columnName(body["left"]);
    const right = columnName(body["right"]);
    const leftText = literalText(body["left"]);
    const rightText = literalText(body["right"]);
    if (left !== undefined && rightText !== undefined) this.#literals.push({ value: rightText, column: left });
    if (right !== undefined && leftText !== undefined) this.#literals.push({ value: leftText, column: right });
  }

  #literal(node: unknown, column: string | undefined): readonly ColumnInput[] {
    const text = literalText(node);
    const keys = text !== undefined && isPath(text) && !this.#seen.has(node as object) ? pathKeys(text) : undefined;
    if (keys !== undefined) this.#paths.add(keys);
    if (text !== undefined) this.#literals.push({ value: text, ...(column === undefined ? {} : { column }) });
    return [];
  }

  #subquery(query: Node, scope: Scope, shown = true): readonly ColumnInput[] {
    const result = this.#query(query, { relations: [], ctes: scope.ctes, indirect: [], outer: scope });
    scope.indirect.push(...result.dataset);
    const columns = result.columns.flatMap((column) => column.inputs).map(transformed);
    return shown ? [...columns, ...result.open.map(wholeRow)] : columns;
  }

  /**
   * What a function may be a method of (`t.salary.value('.', 'int')`, `grade.ToString()`): the column, or the row, that its name begins with. `util.clean(name)` is none of a column `util`, unless there is one, and what is of one of
   * the database's own schemas is none's.
   */
  #ownerOf(scope: Scope, parts: readonly unknown[], args: readonly unknown[]): readonly ColumnInput[] | undefined {
    const names = parts.slice(0, -1).map(identifier);
    const [first = ""] = names;
    if (first === "" || isBuiltin(nameOf(parts).toLowerCase())) return undefined;
    const schema = OWN_SCHEMAS.test(first) || (args.some(namesIn) && !hasColumn(scope, first));
    return names.length === 1 && schema ? undefined : this.#find(scope, names);
  }

  #function(fn: Node, scope: Scope): readonly ColumnInput[] {
    this.#seen.add(fn);
    const parts = list(fn["name"]);
    const name = this.#named(parts).split(".").at(-1)?.toLowerCase() ?? "";
    const args = argumentsOf(fn["args"]);
    const inputs: ColumnInput[] = [];
    // `doc.value('/a/b', 'int')`: a method of a column.
    const method = args.length === 0 ? GIVES_TEXT.has(name) : METHODS.has(name) && isPath(literalText(unnamed(args[0])) ?? "");
    const owner = this.#ownerOf(scope, parts, args);
    if (owner === undefined || !method) inputs.push(...this.#called(parts, args, false));
    inputs.push(...(owner ?? []));
    // DuckDB: all columns whose names fit.
    if (name === "columns") inputs.push(...this.#rows(scope, undefined));
    if (name === "identifier") {
      const column = literalText(unnamed(args[0]));
      if (column !== undefined) return this.#find(scope, column.split(".")) ?? [];
      this.#unread.add("the name of a column is built when the statement runs");
    }
    const masking = MASKING.has(name) || showsLittle(name, args);
    const keyed = (owner !== undefined && method) || MEMBER_ACCESS.test(name);
    const texts = args.map(unnamed).filter((arg) => {
      const text = literalText(arg);
      return text !== undefined && (isPath(text) || (keyed && numberText(arg) === undefined));
    });
    for (const text of texts) this.#seen.add(text as object);
    const aggregate = AGGREGATES.has(name);
    for (const [i, arg] of args.entries()) {
      const star = unnamed(arg) === "Wildcard";
      const found = star ? (COUNTS.has(name) ? [] : this.#rows(scope, undefined)) : this.#expr(arg, scope);
      if (i === 0 && (name === "if" || name === "iff") && args.length > 1) inputs.push(...indirect(found, "CONDITIONAL"));
      else if (name === "if" || name === "iff") inputs.push(...found);
      else inputs.push(...found.map((input) => applied(input, aggregate, masking, REVEALING_AGGREGATES.has(name))));
    }
    const member = pathKeys(texts.map(literalText));
    const paths = name.startsWith("xpath") ? args.slice(0, 1) : TAKES_MEMBER.test(name) ? args.slice(1) : [];
    const built = paths.map(unnamed).filter((arg) => !isConstant(arg));
    const written = built.map(constantText);
    if (written.includes(undefined)) this.#builtMember(built);
    for (const text of written) if (text !== undefined) this.#paths.add(pathKeys(text) ?? "");
    if (member !== undefined) {
      const path = texts.some((text) => isPath(literalText(text) ?? "")) ? member : undefined;
      inputs.splice(0, inputs.length, ...(path === undefined ? memberOf(inputs, member) : this.#member(inputs, path)));
    }
    const over = fn["over"] as Node | undefined | null;
    this.#explain(over?.["NamedWindow"]);
    inputs.push(...this.#expr(fn["parameters"], scope));
    const clauses = list(((fn["args"] as Node | undefined)?.["List"] as Node | undefined)?.["clauses"]);
    inputs.push(...indirect(this.#expr(clauses, scope), "SORT"));
    const window = over?.["WindowSpec"] as Node | undefined;
    this.#explain(window?.["window_name"]);
    for (const key of ["partition_by", "order_by"]) {
      for (const expr of list(window?.[key]))
        inputs.push(...indirect(this.#expr((expr as Node)["expr"] ?? expr, scope), "WINDOW"));
    }
    if (fn["filter"] !== undefined && fn["filter"] !== null)
      inputs.push(...indirect(this.#expr(fn["filter"], scope), "CONDITIONAL"));
    for (const expr of list(fn["within_group"]))
      inputs.push(...this.#expr((expr as Node)["expr"] ?? expr, scope).map((i) => applied(i, true, false, true)));
    if (((fn["args"] ?? {}) as Node)["Subquery"] !== undefined)
      inputs.push(...this.#subquery((fn["args"] as Node)["Subquery"] as Node, scope));
    return inputs;
  }

  #case(node: Node, scope: Scope): readonly ColumnInput[] {
    const inputs: ColumnInput[] = [];
    if (node["operand"] !== undefined && node["operand"] !== null)
      inputs.push(...indirect(this.#expr(node["operand"], scope), "CONDITIONAL"));
    for (const branch of list(node["conditions"])) {
      inputs.push(...indirect(this.#expr((branch as Node)["condition"], scope), "CONDITIONAL"));
      inputs.push(...this.#expr((branch as Node)["result"], scope));
    }
    inputs.push(...this.#expr(node["else_result"], scope));
    return inputs;
  }
}

/** Methods of XML and JSON that take a member out of them by its path, and those that give the whole. */
const METHODS: ReadonlySet<string> = new Set(["value", "query", "nodes", "exist", "modify", "extract"]);
const GIVES_TEXT: ReadonlySet<string> = new Set(["getstringval", "getclobval", "string", "number"]);

/** Schemas in which databases keep functions, and that nobody calls a column. */
const OWN_SCHEMAS = /^(?:dbo|sys|public|pg_catalog|information_schema|mysql|safe|net|hll_count|ml|ai)$/i;

/** True for a value that stands in the text, and for what only qualifies one: numbers, texts, NULL, `true`, a cast of these. */
function isConstant(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return true;
  const body = node as Node;
  const value = (body["Value"] as Node | undefined)?.["value"];
  if (value !== undefined) return typeof value !== "object" || value === null || !("Placeholder" in value);
  if (body["Cast"] !== undefined) return isConstant((body["Cast"] as Node)["expr"]);
  if (body["Named"] !== undefined || body["ExprNamed"] !== undefined)
    return isConstant(unnamed(((body["Named"] ?? body["ExprNamed"]) as Node)["arg"]));
  return false;
}

/** True where an expression of a select list names a column by its place, outside of queries in it. */
function namesPlace(node: unknown): boolean {
  if (typeof node !== "object" || node === null || isQuery(node as Node)) return false;
  const placeholder = (node as Node)["Placeholder"];
  if (typeof placeholder === "string") return /^\$(?:\d+|identity|rowguid)$/i.test(placeholder);
  return Object.values(node).some(namesPlace);
}

/** All strings of a part of the tree. */
function textsOf(node: unknown): readonly string[] {
  if (typeof node === "string") return [node];
  return typeof node === "object" && node !== null ? Object.values(node).flatMap(textsOf) : [];
}

/** Texts in a part of the tree. */
function textsIn(node: unknown): readonly string[] {
  if (typeof node !== "object" || node === null) return [];
  const text = literalText(node);
  return text === undefined ? Object.values(node).flatMap(textsIn) : [text];
}

/** True where a part of the tree has a name in it. */
function namesIn(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  return "Identifier" in node || "CompoundIdentifier" in node || Object.values(node).some(namesIn);
}

/** A dotted name of an expression. */
function namePath(node: unknown): string | undefined {
  const body = (typeof node === "object" && node !== null ? node : {}) as Node;
  if (body["Identifier"] !== undefined) return identifier(body["Identifier"]);
  return body["CompoundIdentifier"] === undefined ? undefined : nameOf(body["CompoundIdentifier"]);
}

/** The tables that a function means by its texts, those of a pattern with a star behind what they begin with. */
function tablesNamed(name: string, texts: readonly string[]): readonly string[] {
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

/** Names that something else puts in before the statement runs: `${table}`, `$table`, `:table`, `{table}`. */
const TEMPLATE = /^[$:]\{?\w+\}?$|[{}]/;

const BUILT_MEMBER = "the name of a member is built when the statement runs";

/** Functions that make a text of others. */
const BUILDS =
  /^(?:concat(?:_ws)?|chr|n?char|lower|upper|lcase|ucase|initcap|reverse|replace|regexp_replace|translate|substr(?:ing)?(?:_index)?|left|right|l?r?trim|btrim|lpad|rpad|repeat|format|printf|overlay|unhex|from_base64|decode|convert_from|to_char|json_unquote|quote_ident|quote_literal|split_part)$/;

/** True for an expression in which a text is made of others. */
function buildsText(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  const body = node as Node;
  if (
    String((body["BinaryOp"] as Node | undefined)?.["op"]) === "StringConcat" ||
    body["Substring"] !== undefined ||
    body["Trim"] !== undefined
  )
    return true;
  const fn = body["Function"] as Node | undefined;
  if (fn !== undefined && BUILDS.test(lastName(fn["name"]).toLowerCase())) return true;
  return Object.values(body).some(buildsText);
}

/** The text that an expression of constant texts is: one text, or several that are joined. */
function constantText(node: unknown): string | undefined {
  const body = (typeof node === "object" && node !== null ? node : {}) as Node;
  const text = literalText(node);
  if (text !== undefined) return text;
  if (body["Nested"] !== undefined) return constantText(body["Nested"]);
  const parts =
    String((body["BinaryOp"] as Node | undefined)?.["op"]) === "StringConcat"
      ? [(body["BinaryOp"] as Node)["left"], (body["BinaryOp"] as Node)["right"]]
      : lastName((body["Function"] as Node | undefined)?.["name"] ?? "").toLowerCase() === "concat"
        ? argumentsOf((body["Function"] as Node)["args"]).map(unnamed)
        : [];
  const texts = parts.map(constantText);
  return texts.length === 0 || texts.includes(undefined) ? undefined : texts.join("");
}

/** Functions that take the member out that a later argument names. */
const TAKES_MEMBER =
  /^(?:try_)?(?:json|variant|visitparam|simplejson).*(?:extract|value$|query|get|path)|^get(?:_path|_json_object)?$/;

/** True for a step into a structure or an array that stands in the text, or is the name of a column. */
function isStep(step: unknown): boolean {
  if (typeof step !== "object" || step === null) return true;
  const body = step as Node;
  const inner = body["Dot"] ?? (body["Subscript"] as Node | undefined)?.["Index"] ?? body;
  const index = (inner as Node)["index"] ?? inner;
  return isConstant(index) || namePath(index) !== undefined || "Slice" in ((body["Subscript"] ?? {}) as Node);
}

const PUT_IN = "a part of the statement is put in before it runs";

/** How an expression is put in as a whole: as a value or a name (`?`, `${x}`), with or without parentheses. */
function isPutIn(expr: unknown): "bound" | "text" | undefined {
  const body = (typeof expr === "object" && expr !== null ? expr : {}) as Node;
  if (body["Nested"] !== undefined) return isPutIn(body["Nested"]);
  const value = (body["Value"] as Node | undefined)?.["value"];
  const written = typeof value === "object" && value !== null ? (value as Node)["Placeholder"] : undefined;
  if (typeof written === "string") return placeholderIn(written);
  return body["Identifier"] === undefined ? undefined : placeholderIn(identifier(body["Identifier"]));
}

/** The conditions that AND, OR and NOT join. */
function conditionsIn(expr: unknown): readonly unknown[] {
  const found: unknown[] = [];
  const left: unknown[] = [expr];
  while (left.length > 0) {
    const node = left.pop();
    const body = (typeof node === "object" && node !== null ? node : {}) as Node;
    const joined = body["BinaryOp"] as Node | undefined;
    if (joined !== undefined && /^(?:And|Or|Xor)$/.test(String(joined["op"]))) left.push(joined["left"], joined["right"]);
    else if (body["Nested"] !== undefined) left.push(body["Nested"]);
    else if (body["UnaryOp"] !== undefined) left.push((body["UnaryOp"] as Node)["expr"]);
    else found.push(node);
  }
  return found;
}

/** True where what is put in stands as the name that is given to a table or a column: it may be anything that goes on there. */
function putInAsAlias(tree: unknown): boolean {
  const left: unknown[] = [tree];
  while (left.length > 0) {
    const node = left.pop();
    if (typeof node !== "object" || node === null) continue;
    for (const [key, child] of Object.entries(node)) {
      if (key.endsWith("_token") || typeof child !== "object" || child === null) continue;
      const given = key === "alias" ? identifier(isIdent(child as Node) ? child : (child as Node)["name"]) : "";
      if (given !== "" && placeholderIn(given) !== undefined) return true;
      left.push(child);
    }
  }
  return false;
}

const BUILT_NAME = "the name of a table is built when the statement runs";

/** Statements that change rows, and may give them back. */
const CHANGES = ["Insert", "Update", "Delete", "Merge"] as const;

/** Functions of which a star says nothing but how many rows there are. */
const COUNTS: ReadonlySet<string> = new Set(["count", "count_big", "approx_count_distinct", "countif", "count_if"]);

/** Keys of clauses that name their parts behind which expressions stand. */
const EXPRESSIONS: ReadonlySet<string> = new Set(["expr", "definition", "path", "default"]);

/** True for a node of the tree that is a query: a `body` with clauses around it. */
function isQuery(node: Node): boolean {
  const body = node["body"];
  return typeof body === "object" && body !== null && BODIES.some((kind) => kind in body);
}
const BODIES = ["Select", "SetOperation", "Query", "Values", "Table", ...CHANGES];

/** True for a relation or a changing statement below such a key; actions of a MERGE have the same keys and neither table nor source. */
function isRelationOrStatement(key: string, child: Node): boolean {
  if (key === "Table") return Array.isArray(child["name"]);
  if (key === "Delete") return "from" in child;
  return (CHANGES as readonly string[]).includes(key) && typeof child["table"] === "object";
}

/** The table that one of the FROM items calls so, if any does. */
function aliasedTable(items: readonly unknown[], name: string): Node | undefined {
  for (const item of items) {
    const node = (item ?? {}) as Node;
    for (const relation of [node["relation"] ?? node, ...list(node["joins"]).map((join) => (join as Node)["relation"])]) {
      const table = (relation as Node | undefined)?.["Table"] as Node | undefined;
      if (table !== undefined && same(identifier((table["alias"] as Node | null | undefined)?.["name"]), name)) return table;
    }
  }
  return undefined;
}

/** True for an unquoted `ONLY` where the parser expected a name. */
function isOnly(name: unknown): boolean {
  const ident = (list(name)[0] as Node | undefined)?.["Identifier"] as Node | undefined;
  return list(name).length === 1 && same(identifier(ident), "only") && (ident?.["quote_style"] ?? null) === null;
}

const NOT_GIVEN: { readonly given?: Result; readonly sure: boolean } = { sure: false };

/** What WITH gave a name; not `sure` where a table may be meant as well. */
function givenBy(ctes: Ctes, name: unknown): { readonly given?: Result; readonly sure: boolean } {
  const alike = ctes.get(foldedName(identifier(name))) ?? [];
  if (alike.length === 0) return NOT_GIVEN;
  return { given: either(alike.map(({ result }) => result)), sure: alike.some((each) => surelyOne(each.name, name)) };
}

/**
 * True for two names that every database takes for one. Some fold what is not in double quotation marks, this way or that, and some look at the case of all; where a name is a text it is not known whether it was quoted.
 */
function surelyOne(a: unknown, b: unknown): boolean {
  const [x, y] = [identifier(a), identifier(b)];
  if (x !== y) return false;
  if (typeof a === "string" || typeof b === "string") return x === x.toLowerCase();
  return ((a as Node)["quote_style"] === '"') === ((b as Node)["quote_style"] === '"');
}

/** Under RECURSIVE one may read those behind it (PostgreSQL): each behind all that it names. */
function givenFirst(ctes: readonly Node[]): readonly Node[] {
  const nameOfCte = (cte: Node): string => foldedName(identifier(((cte["alias"] ?? {}) as Node)["name"]));
  const ordered = new Set<Node>();
  const visited = new Set<Node>();
  const visit = (cte: Node): void => {
    if (visited.has(cte)) return;
    visited.add(cte);
    const names = new Set(identifiersIn(cte["query"]).map(foldedName));
    for (const other of ctes) if (names.has(nameOfCte(other))) visit(other);
    ordered.add(cte);
  };
  for (const cte of ctes) visit(cte);
  return [...ordered];
}

/** All that one of several results may be. */
function either(results: readonly Result[]): Result {
  const [only] = results;
  if (only !== undefined && results.length === 1) return only;
  return {
    columns: results.flatMap(({ columns }) => columns),
    open: [...new Set(results.flatMap(({ open }) => open))],
    dataset: results.flatMap(({ dataset }) => dataset),
  };
}

/** The columns that a natural join compares: those of a name that both sides have, or may have. */
function inCommon(left: readonly Relation[], right: Relation): readonly ColumnInput[] {
  const all = [...left, right];
  const names = new Set(all.flatMap(({ columns }) => columns.map(({ name }) => name.toLowerCase())));
  const common = [...names].filter((name) => has(right, name) && left.some((relation) => has(relation, name)));
  const found = common.flatMap((name) => all.flatMap((relation) => lookup(relation, name)));
  const open = (relation: Relation) => relation.open.length > 0 || relation.other !== undefined;
  return open(right) && left.some(open) ? [...found, ...all.flatMap(rowOf)] : found;
}

function EMPTY_SCOPE(): Scope {
  return { relations: [], ctes: new Map(), indirect: [] };
}

/** Dataset level inputs travel with the relation they shaped. */
const DATASETS = new WeakMap<Relation, readonly ColumnInput[]>();

function relationOf(names: readonly string[], result: Result): Relation {
  const relation: Relation = { names, columns: result.columns, open: result.open };
  DATASETS.set(relation, result.dataset);
  return relation;
}

function datasetOf(relation: Relation): readonly ColumnInput[] {
  return DATASETS.get(relation) ?? [];
}

/** Inputs behind a dotted name, from the innermost scope that knows it; `undefined` where none does. */
function resolve(scope: Scope, parts: readonly string[], complete: boolean): readonly ColumnInput[] | undefined {
  const field = parts.at(-1) ?? "";
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    if (parts.length > 1) {
      const matching = named(at, parts.slice(0, -1).join(".").toLowerCase());
      if (matching.length > 0) return matching.some((r) => has(r, field)) ? matching.flatMap((r) => lookup(r, field)) : undefined;
      // `table.column.field` and `column.field` of a structure.
      const first = parts[0]?.toLowerCase() ?? "";
      const owner = parts.length > 2 ? at.relations.filter((r) => r.names.some((name) => name === first)) : [];
      if (owner.length > 0)
        return memberOf(
          owner.flatMap((relation) => lookup(relation, parts[1] ?? "")),
          field,
        );
      const known = at.relations.filter((r) => r.hidden !== true && columnsCalled(r, parts[0] ?? "").length > 0);
      if (known.length > 0)
        return memberOf(
          known.flatMap((relation) => lookup(relation, parts[0] ?? "")),
          field,
        );
      continue;
    }
    const visible = at.relations.filter((r) => r.hidden !== true);
    const known = visible.filter((r) => columnsCalled(r, field).length > 0);
    if (known.length > 0) return known.flatMap((relation) => lookup(relation, field));
    // Members of an unnested value are meant by their bare names only where no table may have the column.
    const tables = visible.filter((r) => r.open.length > 0);
    const open = tables.length > 0 ? tables : visible.filter((r) => r.other !== undefined);
    // A relation's own name in the place of a column means its whole row; where its columns are not known one of them may be called so too.
    const rows = at.relations.filter((r) => r.names.some((name) => name === field.toLowerCase())).flatMap(rowOf);
    const here = [...rows, ...open.flatMap((relation) => lookup(relation, field))];
    if (here.length === 0) continue;
    // A table that does not have it leaves it to the query around.
    return complete || at.outer === undefined ? here : [...here, ...(resolve(at.outer, parts, complete) ?? [])];
  }
  return undefined;
}

/** True where a relation in sight is known to have a column of that name. */
function hasColumn(scope: Scope | undefined, name: string): boolean {
  if (scope === undefined) return false;
  return scope.relations.some((r) => columnsCalled(r, name).length > 0) || hasColumn(scope.outer, name);
}

/** Relations that a qualifier means. */
function named(scope: Scope, qualifier: string): readonly Relation[] {
  return scope.relations.filter((r) => r.names.some((name) => name === qualifier || name.endsWith(`.${qualifier}`)));
}

/** Relations that a star takes: those that the qualifier means, or all that are in sight. */
function starred(scope: Scope, qualifier: string | undefined): readonly Relation[] {
  if (qualifier === undefined) return scope.relations.filter((r) => r.hidden !== true);
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    const matching = named(at, qualifier);
    if (matching.length > 0) return matching;
  }
  return [];
}

/** True where the relation has, or may have, a column of the name. */
function has(relation: Relation, field: string): boolean {
  return relation.open.length > 0 || relation.other !== undefined || columnsCalled(relation, field).length > 0;
}

function lookup(relation: Relation, field: string): readonly ColumnInput[] {
  const known = columnsCalled(relation, field);
  if (known.length > 0) return known.flatMap((column) => column.inputs);
  const other = memberOf(relation.other ?? [], field);
  return [...relation.open.map((table) => identity(table, field).inputs[0] as ColumnInput), ...other];
}

const INDEXES = new WeakMap<readonly ResultColumn[], ReadonlyMap<string, readonly ResultColumn[]>>();
const NO_COLUMNS: readonly ResultColumn[] = [];

/** The columns of a relation that have a name. A list is looked through once, however often it is asked. */
function columnsCalled({ columns }: Relation, name: string): readonly ResultColumn[] {
  let index = INDEXES.get(columns);
  if (index === undefined) {
    const made = new Map<string, ResultColumn[]>();
    for (const column of columns) {
      const key = column.name.toLowerCase();
      const same = made.get(key);
      if (same === undefined) made.set(key, [column]);
      else same.push(column);
    }
    index = made;
    INDEXES.set(columns, index);
  }
  return index.get(name.toLowerCase()) ?? NO_COLUMNS;
}

const ROWS = new WeakMap<Relation, readonly ColumnInput[]>();

/** All that a relation's row holds; put together once. */
function rowOf(relation: Relation): readonly ColumnInput[] {
  const known = ROWS.get(relation) ?? wholeRowOf(relation);
  ROWS.set(relation, known);
  return known;
}

function wholeRowOf(relation: Relation): readonly ColumnInput[] {
  const columns = relation.columns.flatMap((column) => column.inputs).map(transformed);
  return unique([...columns, ...(relation.other ?? []), ...relation.open.map(wholeRow)]);
}

/** The whole row of a table whose columns are not known. */
function wholeRow(table: string): ColumnInput {
  return { table, field: "*", type: "DIRECT", subtype: "TRANSFORMATION", masking: false };
}

function same(a: string, b: string): boolean {
  return a === b || a.toLowerCase() === b.toLowerCase();
}

function identity(table: string, field: string): ResultColumn {
  return { name: field, inputs: [{ table, field, type: "DIRECT", subtype: "IDENTITY", masking: false }] };
}

function transformed(input: ColumnInput): ColumnInput {
  return input.type === "DIRECT" && input.subtype === "IDENTITY" ? { ...input, subtype: "TRANSFORMATION" } : input;
}

/** Operators of PostgreSQL, MySQL and SQLite that take a member out of a structure. */
const MEMBER_OPERATORS = new Set(["Arrow", "LongArrow", "HashArrow", "HashLongArrow"]);

/** Inputs of which only a member of a structure is used; as they are where there is no name for it. */
function memberOf(inputs: readonly ColumnInput[], member: string | undefined): ColumnInput[] {
  return inputs.map((input) => {
    const used = transformed(input);
    if (member === undefined || input.type === "INDIRECT") return used;
    return { ...used, member: used.member === undefined ? member : `${used.member}.${member}` };
  });
}

function applied(input: ColumnInput, aggregate: boolean, masking: boolean, revealing: boolean): ColumnInput {
  if (input.type === "INDIRECT") return input;
  if (aggregate && revealing && (input.subtype !== "AGGREGATION" || input.revealing === true)) {
    return { ...input, subtype: "AGGREGATION", masking: input.masking || masking, revealing: true };
  }
  const subtype = aggregate ? "AGGREGATION" : input.subtype === "IDENTITY" ? "TRANSFORMATION" : input.subtype;
  return { ...input, subtype, masking: input.masking || masking };
}

function indirect(inputs: readonly ColumnInput[], subtype: ColumnInput["subtype"]): ColumnInput[] {
  return inputs.map(({ table, field, masking, member }) => ({
    table,
    field,
    type: "INDIRECT",
    subtype,
    masking,
    ...(member === undefined ? {} : { member }),
  }));
}

/** Each input once; the same column may take part in several ways. */
function unique(inputs: readonly ColumnInput[]): ColumnInput[] {
  const seen = new Map<string, ColumnInput>();
  for (const input of inputs)
    seen.set(`${input.table}\0${input.field.toLowerCase()}\0${input.member ?? ""}\0${input.subtype}\0${input.masking}`, input);
  return [...seen.values()];
}

function renamed(result: Result, names: readonly string[]): Result {
  if (names.length === 0) return result;
  // Which columns the names are given to is not known where they are not.
  const any = result.open.map(wholeRow);
  const columns = result.columns.map(({ name, inputs }, i) => ({ name: names[i] ?? name, inputs: [...inputs, ...any] }));
  const more = result.open.length === 0 ? [] : names.slice(columns.length);
  return { ...result, columns: [...columns, ...more.map((name) => ({ name, inputs: any }))] };
}
