import {
  argumentsOf,
  CHANGES,
  columnName,
  firstName,
  identifier,
  identifiersIn,
  isIdent,
  isObjectName,
  isQuery,
  isSyntax,
  lastName,
  list,
  literalText,
  type Node,
  nameOf,
  same,
  textsIn,
  textsOf,
  viewColumns,
} from "../tree.ts";
import type { ColumnInput, ResultColumn } from "../types.ts";
import { tablesNamed } from "./collector.ts";
import { unique } from "./column-inputs.ts";
import { Queries } from "./queries.ts";
import { PUT_IN, putInAsAlias } from "./run-time-parts.ts";
import { EMPTY_SCOPE, identity, NOTHING, type Relation, type Result, type Scope } from "./scope.ts";

/** Follows whole statements: what they read, write, define and run. */
export class Statements extends Queries {
  /** Statements that are prepared in the text: who executes them runs what was read. */
  readonly #prepared = new Set<string>();

  statement(statement: Node): void {
    if (typeof statement === "string") return;
    if (putInAsAlias(statement)) this.unread.add(PUT_IN);
    const first = this.results.length;
    this.#statement(statement);
    this.#sweep(statement, new Set(this.results.slice(first).flatMap((result) => result.table ?? [])));
  }

  /**
   * Looks through a whole statement for what its rules did not come by. A query or relation counts as shown, and as written to all that the statement writes
   * to; a name is unexplained.
   */
  #sweep(node: unknown, targets: ReadonlySet<string>): void {
    if (typeof node !== "object" || node === null) return;
    if (Array.isArray(node)) {
      if (isObjectName(node)) this.unexplain(node);
      else for (const child of node) this.#sweep(child, targets);
      return;
    }
    const body = node as Node;
    if (isIdent(body)) {
      this.unexplain([body]);
      return;
    }
    if (Array.isArray(body["CompoundIdentifier"])) {
      this.unexplain(body["CompoundIdentifier"]);
      return;
    }
    if (isQuery(body) && !this.seen.has(body)) this.#shown(this.query(body, EMPTY_SCOPE()), targets);
    for (const [key, child] of Object.entries(body)) {
      if (isSyntax(key) || typeof child !== "object" || child === null) continue;
      if (!this.seen.has(child) && isRelationOrStatement(key, child as Node)) {
        if (key === "Table") this.#shown({ ...this.table(child as Node, EMPTY_SCOPE()), dataset: [] }, targets);
        else this.#shown(this.change(key, child as Node, EMPTY_SCOPE()), targets);
      }
      if (key === "Execute") this.#execute(child as Node);
      if (key === "Function" && !this.seen.has(child))
        this.called((child as Node)["name"], argumentsOf((child as Node)["args"]), false);
      if (key === "Function" || key === "Named") this.explain((child as Node)["name"]);
      this.#sweep(child, targets);
    }
  }

  /** Notes rows that a statement shows, or may show, and brings to what it writes. */
  #shown(result: Result, targets: ReadonlySet<string> = new Set()): void {
    if (result.columns.every(({ inputs }) => inputs.length === 0) && result.open.length + result.dataset.length === 0) return;
    this.does("READ");
    const shown = { columns: result.columns, stars: result.open, dataset: unique(result.dataset) };
    this.results.push(shown);
    const sources = new Set([...result.open, ...result.columns.flatMap((c) => c.inputs.map(({ table }) => table))]);
    for (const table of targets) this.results.push({ table, columns: [], stars: [...sources], dataset: shown.dataset });
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
        this.#shown(this.change(kind, node, EMPTY_SCOPE()));
        return;
      case "CreateTable":
        this.#createTable(node);
        return;
      case "CreateFunction":
        for (const key of ["name", "language", "args"]) this.explain(node[key]);
        // A body is a text, whatever quotes it stands in.
        for (const value of textsIn(node["function_body"])) {
          if (/^(?:sql|plpgsql|plsql|)$/i.test(identifier(node["language"])) && /\s/.test(value.trim())) this.runs.push([value]);
          else {
            this.literals.push({ value });
            this.doubts.add("what a function of another language reads is not explained");
          }
        }
        return;
      case "CreateView":
        this.explain(node["columns"]);
        this.#write(this.named(node["name"]), this.query(node["query"] as Node, EMPTY_SCOPE()), viewColumns(node));
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
        this.explain(((node["SingleAssignment"] ?? {}) as Node)["variable"]);
        // T-SQL's parser takes all behind a first word as it stands.
        if (/\(\s*(?:select|with|table|from)\b/i.test(textsOf(node["SetSessionParam"]).join(" ")))
          this.unread.add("a query that a value is set by could not be read");
        return;
      case "AlterTable":
        this.#alter(node);
        return;
      case "Drop":
        this.does("DEFINE");
        for (const name of list(node["names"])) this.outputs.add(this.qualified(this.named(name)));
        return;
      case "Truncate":
        this.does("DELETE");
        for (const target of list(node["table_names"]))
          this.outputs.add(this.qualified(this.named((target as Node)["name"] ?? target)));
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
        this.does("READ");
        this.#shown({
          columns: [
            {
              name: "_0",
              inputs: unique([
                ...this.called(node["name"], argumentsOf(node["args"]), false),
                ...this.expr(node["args"], EMPTY_SCOPE()),
              ]),
            },
          ],
          open: [],
          dataset: [],
        });
        return;
      case "Prepare":
        this.#prepared.add(this.named(node["name"]).toLowerCase());
        this.#statement((node["statement"] ?? {}) as Node);
        return;
      // What any other statement holds (a cursor, a cache) is found by the look through its whole tree.
    }
  }

  /** A text that is run: one that stands there was read as statements of its own; what is left is built when the statement runs. */
  #execute(node: Node): void {
    this.does("READ");
    this.expr(node["parameters"], EMPTY_SCOPE());
    const name = nameOf(node["name"]).toLowerCase();
    const runs = node["immediate"] === true || name === "" || name === "immediate" || name.endsWith("sp_executesql");
    if (runs || /\s/.test(name)) this.unread.add("the statement runs a text that is built when it runs");
    else if (!this.#prepared.has(name)) this.called(node["name"], list(node["parameters"]), false);
  }

  #queryStatement(node: Node): void {
    const body = (node["body"] ?? {}) as Node;
    if (CHANGES.some((kind) => body[kind] !== undefined)) {
      this.#shown(this.query(node, EMPTY_SCOPE()));
      return;
    }
    this.does(body["Select"] !== undefined && (body["Select"] as Node)["into"] !== undefined ? "WRITE" : "READ");
    const result = this.query(node, EMPTY_SCOPE());
    const into = ((body["Select"] as Node | undefined)?.["into"] ?? undefined) as Node | undefined;
    if (into !== undefined && into !== null) this.#write(this.named(into["name"]), result);
    else this.results.push({ columns: result.columns, stars: result.open, dataset: unique(result.dataset) });
  }

  #write(target: string, result: Result, columns?: readonly string[]): void {
    this.does("WRITE");
    const table = this.qualified(target);
    this.outputs.add(table);
    const known = columns !== undefined && columns.length > 0 ? columns : undefined;
    const named = result.columns.map((column, i) => ({ ...column, name: known?.[i] ?? column.name }));
    this.results.push({ table, columns: named, stars: result.open, dataset: unique(result.dataset) });
  }

  /** A changing statement, wherever it stands. The result is what it gives back: RETURNING, OUTPUT. */
  protected override change(kind: string, node: Node, outer: Scope): Result {
    this.seen.add(node);
    // WITH ... INSERT: the body of a query wraps the statement once more.
    const inner = node[kind] as Node | undefined;
    if (inner !== undefined && node["table"] === undefined && node["from"] === undefined) return this.change(kind, inner, outer);
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
    this.explain(clause?.["into_table"]);
    const items = [...list(node["returning"]), ...list(clause?.["select_items"])];
    if (items.length === 0) return NOTHING;
    const { columns, open } = this.projection(items, scope);
    for (const table of open) this.inputs.add(table);
    for (const { table } of columns.flatMap((column) => column.inputs)) this.inputs.add(table);
    // Which rows come back, the filters decide.
    return { columns, open, dataset: unique(scope.indirect) };
  }

  /** The rows of a table as RETURNING and OUTPUT see them. */
  #returned(table: string): Relation {
    return { ...this.tableColumns(table), names: ["inserted", "deleted", "new", "old", "excluded"], hidden: true };
  }

  #insert(node: Node, outer: Scope): Scope {
    const target = (node["table"] ?? {}) as Node;
    const scope: Scope = { relations: [], ctes: outer.ctes, indirect: [], outer };
    const source = node["source"] as Node | undefined;
    const result = source === undefined || source === null ? NOTHING : this.query(source, outer);
    const clauses = list(node["multi_table_into_clauses"]).concat(
      list(node["multi_table_when_clauses"]).flatMap((clause) => list((clause as Node)["into_clauses"])),
      list(node["multi_table_else_clause"]),
    );
    if (clauses.length > 0) {
      for (const clause of clauses) this.#intoTable(clause as Node, result);
      for (const clause of list(node["multi_table_when_clauses"]))
        this.filter((clause as Node)["condition"], this.#over(result, scope), "CONDITIONAL");
      return scope;
    }
    if ("TableFunction" in target) {
      // Rows that leave for where a function writes them.
      this.does("EXPORT");
      this.explain((target["TableFunction"] as Node)["name"]);
      this.expr((target["TableFunction"] as Node)["args"], scope);
      this.results.push({ columns: result.columns, stars: result.open, dataset: unique(result.dataset) });
      return scope;
    }
    const table = this.named(target["TableName"] ?? target["name"] ?? target);
    for (const key of ["columns", "after_columns", "partitioned", "insert_alias", "table_alias"]) this.explain(node[key]);
    const columns = list(node["columns"]).map((column) => lastName(column));
    const partitions = new Set(
      list(node["partitioned"])
        .flatMap((e) => identifiersIn(e))
        .map((n) => n.toLowerCase()),
    );
    const qualified = this.qualified(table);
    const schema = columns.length > 0 ? columns : this.schemaOf(qualified)?.filter((name) => !partitions.has(name.toLowerCase()));
    this.#noteValues(source, columns);
    this.#write(table, result, schema);
    const alias = identifier((node["table_alias"] as Node | null | undefined)?.["alias"] ?? node["table_alias"]).toLowerCase();
    const names = [table.toLowerCase(), lastName(target["TableName"] ?? target).toLowerCase(), ...(alias === "" ? [] : [alias])];
    (scope.relations as Relation[]).push({ names, ...this.tableColumns(qualified) }, this.#returned(qualified));
    const on = (node["on"] ?? {}) as Node;
    const conflict = (on["OnConflict"] ?? {}) as Node;
    this.explain(conflict["conflict_target"]);
    const update = ((conflict["action"] ?? {}) as Node)["DoUpdate"] as Node | undefined;
    const assignments = [...list(node["assignments"]), ...list(update?.["assignments"]), ...list(on["DuplicateKeyUpdate"])];
    const assigned = assignments.map((assignment) => this.#assignment(assignment as Node, scope));
    this.filter(update?.["selection"], scope, "CONDITIONAL");
    // What stands in the table already is no source of it.
    const foreign = (input: ColumnInput) => input.table !== qualified;
    const changed = assigned.map(({ name, inputs }) => ({ name, inputs: inputs.filter(foreign) }));
    const dataset = unique(scope.indirect.filter(foreign));
    if (assigned.length + dataset.length > 0) this.results.push({ table: qualified, columns: changed, stars: [], dataset });
    return scope;
  }

  /** One `INTO table (columns) VALUES (...)` of an INSERT ALL; without VALUES it takes the whole row. */
  #intoTable(clause: Node, source: Result): void {
    this.explain(clause["columns"]);
    const names = list(clause["columns"]).map((column) => lastName(column));
    const values = list(((clause["values"] ?? {}) as Node)["values"]);
    const scope = this.#over(source, EMPTY_SCOPE());
    const columns = values.map((value, i) => ({
      name: names[i] ?? columnName((value as Node)["Expr"]) ?? `_${i}`,
      inputs: unique(this.expr(value, scope)),
    }));
    const dataset = [...source.dataset, ...scope.indirect];
    this.#write(
      this.named(clause["table_name"]),
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
        if (text !== undefined) this.literals.push({ value: text, ...(column === undefined ? {} : { column }) });
      }
    }
  }

  #createTable(node: Node): void {
    const table = this.named(node["name"]);
    for (const column of list(node["columns"])) this.explain((column as Node)["name"]);
    // ClickHouse: an engine that reads other tables, servers or files.
    for (const option of list(((node["table_options"] ?? {}) as Node)["Plain"])) {
      const given = (option as Node)["NamedParenthesizedList"] as Node | undefined;
      const texts = list(given?.["values"]).map(identifier);
      const engine = `engine_${identifier(given?.["name"]).toLowerCase()}`;
      const tables = tablesNamed(engine, texts);
      if (tables.includes("*")) this.unread.add("an engine reads all tables that fit a pattern");
      if (texts.length > 0 && !engine.endsWith("mergetree")) this.calls.push({ name: engine, texts: tables, rows: false });
    }
    const query = node["query"] as Node | undefined | null;
    if (query !== undefined && query !== null) {
      this.#write(table, this.query(query, EMPTY_SCOPE()));
      return;
    }
    this.does("DEFINE");
    for (const key of ["like", "clone"]) {
      const from = node[key];
      if (from === undefined || from === null) continue;
      const source = this.qualified(this.named(firstName(from)));
      this.inputs.add(source);
      this.results.push({
        table: this.qualified(table),
        columns: this.tableColumns(source).columns,
        stars: this.tableColumns(source).open,
        dataset: [],
      });
    }
    this.outputs.add(this.qualified(table));
  }

  #update(node: Node, outer: Scope): Scope {
    this.does("WRITE");
    const target = ((node["table"] ?? {}) as Node)["relation"] as Node | undefined;
    const from = node["from"] as Node | undefined | null;
    const others = list(from === undefined || from === null ? [] : (from["AfterSet"] ?? from["BeforeSet"] ?? from));
    const first = (target?.["Table"] ?? {}) as Node;
    const aliased = aliasedTable(others, nameOf(first["name"]));
    // T-SQL: `UPDATE t ... FROM dbo.t t` changes the table that FROM calls so.
    if (aliased !== undefined) {
      this.seen.add(first);
      this.explain(first["name"]);
    }
    const table = this.qualified(nameOf((aliased ?? first)["name"]));
    this.outputs.add(table);
    const before = this.inputs.has(table);
    const scope = this.from([...(aliased === undefined ? [node["table"]] : []), ...others], outer);
    if (!before) this.inputs.delete(table);
    (scope.relations as Relation[]).push(this.#returned(table));
    const columns = list(node["assignments"]).map((assignment) => this.#assignment(assignment as Node, scope));
    this.filter(node["selection"], scope, "FILTER");
    this.results.push({ table, columns, stars: [], dataset: unique(scope.indirect) });
    return scope;
  }

  #assignment(assignment: Node, scope: Scope): ResultColumn {
    this.explain(assignment["target"]);
    const name = lastName(((assignment["target"] ?? {}) as Node)["ColumnName"] ?? assignment["target"]);
    const text = literalText(assignment["value"]);
    if (text !== undefined) this.literals.push({ value: text, column: name });
    return { name, inputs: unique(this.expr(this.isValue(assignment["value"]), scope)) };
  }

  #delete(node: Node, outer: Scope): Scope {
    this.does("DELETE");
    const from = (node["from"] ?? {}) as Node;
    const tables = [...list(from["WithFromKeyword"] ?? from["WithoutKeyword"] ?? from), ...list(node["using"])];
    const before = new Set(this.inputs);
    const scope = this.from(tables, outer);
    const explicit = list(node["tables"]).map((name) => this.named(name));
    const first = (((tables[0] ?? {}) as Node)["relation"] as Node | undefined)?.["Table"] as Node | undefined;
    const named = explicit.length > 0 ? explicit : first === undefined ? [] : [nameOf(first["name"])];
    for (const name of named) {
      // `DELETE t FROM dbo.t t`: the name may be one that FROM gives.
      const target = this.qualified(nameOf(aliasedTable(tables, name)?.["name"] ?? name));
      this.outputs.add(target);
      if (!before.has(target)) this.inputs.delete(target);
      (scope.relations as Relation[]).push(this.#returned(target));
    }
    this.filter(node["selection"], scope, "FILTER");
    return scope;
  }

  #merge(node: Node, outer: Scope): Scope {
    this.does("WRITE");
    const targetNode = ((node["table"] ?? {}) as Node)["Table"] as Node | undefined;
    const table = this.qualified(this.named(targetNode?.["name"]));
    const before = this.inputs.has(table);
    const scope = this.from(
      [
        { relation: node["table"], joins: [] },
        { relation: node["source"], joins: [] },
      ],
      outer,
    );
    if (!before) this.inputs.delete(table);
    this.outputs.add(table);
    const source = scope.relations[1];
    (scope.relations as Relation[]).push(this.#returned(table));
    this.filter(node["on"], scope, "JOIN");
    const columns = new Map<string, ColumnInput[]>();
    const stars = new Set<string>();
    // Spark's `UPDATE SET *` and `INSERT *`: every column of the source.
    const everything = (): void => {
      for (const { name, inputs } of source?.columns ?? []) columns.set(name, [...(columns.get(name) ?? []), ...inputs]);
      for (const open of source?.open ?? []) stars.add(open);
    };
    for (const clause of list(node["clauses"])) {
      const action = ((clause as Node)["action"] ?? {}) as Node;
      this.filter((clause as Node)["predicate"], scope, "CONDITIONAL");
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
      this.explain(insert?.["columns"]);
      const names = list(insert?.["columns"]).map((column) => lastName(column));
      if (names[0] === "*") {
        everything();
        continue;
      }
      const values = ((insert?.["kind"] ?? {}) as Node)["Values"] as Node | undefined;
      for (const row of list(values?.["rows"])) {
        const cells = Array.isArray(row) ? row : list((row as Node)["content"]);
        for (const [i, cell] of cells.entries()) {
          const name = names[i] ?? this.schemaOf(table)?.[i] ?? `_${i}`;
          columns.set(name, [...(columns.get(name) ?? []), ...this.expr(this.isValue(cell), scope)]);
        }
      }
    }
    this.results.push({
      table,
      columns: [...columns].map(([name, inputs]) => ({ name, inputs: unique(inputs) })),
      stars: [...stars],
      dataset: unique(scope.indirect),
    });
    return scope;
  }

  #copy(node: Node): void {
    for (const key of ["options", "legacy_options"]) this.explain(node[key]);
    const source = (node["source"] ?? {}) as Node;
    const table = source["Table"] as Node | undefined;
    if (node["to"] === true) {
      this.does("EXPORT");
      if (table !== undefined) {
        const name = this.qualified(this.named(table["table_name"]));
        this.explain(table["columns"]);
        this.inputs.add(name);
        const named = list(table["columns"]).map((column) => identity(name, lastName(column)));
        const whole = this.tableColumns(name);
        this.results.push(
          named.length > 0
            ? { columns: named, stars: [], dataset: [] }
            : { columns: whole.columns, stars: whole.open, dataset: [] },
        );
      } else if (source["Query"] !== undefined) {
        const result = this.query(source["Query"] as Node, EMPTY_SCOPE());
        this.results.push({ columns: result.columns, stars: result.open, dataset: unique(result.dataset) });
      }
      return;
    }
    this.does("WRITE");
    if (table === undefined) return;
    this.explain(table["columns"]);
    const to = this.qualified(this.named(table["table_name"]));
    this.outputs.add(to);
    const file = (((node["target"] ?? {}) as Node)["File"] as Node | undefined)?.["filename"];
    if (typeof file !== "string" || file === "") return;
    this.inputs.add(file);
    this.results.push({ table: to, columns: [], stars: [file], dataset: [] });
  }

  /** `COPY INTO @stage FROM ...` moves rows out, `COPY INTO table FROM @stage` brings them in. */
  #copyInto(node: Node): void {
    const target = this.named(node["into"]);
    if (node["kind"] !== "Location") {
      // Without a query the rows of the stage go in as they are.
      const stage = this.named(node["from_obj"]);
      const query = node["from_query"] as Node | null | undefined;
      const whole: Result = stage === "" ? NOTHING : { columns: [], open: [stage], dataset: [] };
      if (stage !== "") this.inputs.add(stage);
      this.#write(target, query === undefined || query === null ? whole : this.query(query, EMPTY_SCOPE()));
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
    this.does("EXPORT");
    for (const key of ["to", "with", "options", "connection"]) this.explain(node[key]);
    const query = (node["query"] ?? node["source"]) as Node | undefined | null;
    if (query === undefined || query === null) {
      if (typeof node["query_text"] === "string") this.unread.add("a text that is run could not be read");
      return;
    }
    const result = this.query(query, EMPTY_SCOPE());
    this.results.push({ columns: result.columns, stars: result.open, dataset: unique(result.dataset) });
  }

  /** A statement that moves a whole table or directory, read by {@link rewriteHive}: `{ from, to, filter, operation }`. */
  #externalCopy(node: Node): void {
    const from = this.#located(String(node["from"]));
    const to = this.#located(String(node["to"]));
    this.does(node["operation"] === "EXPORT" ? "EXPORT" : "WRITE");
    this.inputs.add(from);
    this.outputs.add(to);
    const whole = this.tableColumns(from);
    const dataset = list(node["filter"]).map(
      (field): ColumnInput => ({ table: from, field: String(field), type: "INDIRECT", subtype: "FILTER", masking: false }),
    );
    this.results.push({ table: to, columns: whole.columns, stars: whole.open, dataset });
  }

  #located(name: string): string {
    return name.includes("/") ? name : this.qualified(name);
  }

  #use(node: Node): void {
    const [kind = "", name] = Object.entries(node)[0] ?? [];
    const parts = this.named(name).split(".");
    if (typeof node === "string" || kind === "Default" || (kind === "Object" && parts[0]?.toLowerCase() === "default")) {
      this.database = undefined;
      this.schema = undefined;
      return;
    }
    if (parts.length > 1) {
      this.database = parts.slice(0, -1).join(".");
      this.schema = parts.at(-1);
    } else if (kind === "Schema") this.schema = parts[0];
    else if (kind !== "Warehouse" && kind !== "Role" && kind !== "SecondaryRoles") this.database = parts[0];
  }

  #alter(node: Node): void {
    this.does("DEFINE");
    const table = this.qualified(this.named(node["name"]));
    for (const operation of list(node["operations"])) {
      this.explain(((operation as Node)["AddColumn"] as Node | undefined)?.["column_def"]);
      const rename = (operation as Node)["RenameTable"] as Node | undefined;
      if (rename === undefined) continue;
      this.inputs.add(table);
      const to = (rename["table_name"] ?? rename) as Node;
      this.outputs.add(this.qualified(this.named(to["To"] ?? to["As"] ?? to)));
      return;
    }
    this.outputs.add(table);
  }
}

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
