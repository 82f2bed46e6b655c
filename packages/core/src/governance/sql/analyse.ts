import { AGGREGATES, MASKING, MEMBER_ACCESS, REVEALING_AGGREGATES, showsLittle } from "./functions.ts";
import type { ColumnInput, ResultColumn, SchemaOf, SqlAnalysis, SqlLiteral, SqlOutput } from "./types.ts";

type Node = Record<string, unknown>;

/** What a name can be looked up in: known columns, and tables that may have any column. */
interface Relation {
  readonly names: readonly string[];
  readonly columns: readonly ResultColumn[];
  readonly open: readonly string[];
}

interface Result {
  readonly columns: readonly ResultColumn[];
  readonly open: readonly string[];
  readonly dataset: readonly ColumnInput[];
}

/** Names visible at one place; `outer` for correlated subqueries. */
interface Scope {
  readonly relations: readonly Relation[];
  readonly ctes: ReadonlyMap<string, Result>;
  readonly outer?: Scope;
  /** Where columns met outside the select list go. */
  readonly indirect: ColumnInput[];
}

const NOTHING: Result = { columns: [], open: [], dataset: [] };

/**
 * Resolves tables and columns over the syntax trees of a list of statements: CTEs, subqueries, aliases, stars with a known schema, set operations, windows,
 * aggregates, masking functions, joins, `USE`, and the writing statements. A name that could come from several tables of
 * unknown schema is attributed to all of them: too much lineage is safe, too little is not.
 */
export function analyseSql(statements: readonly unknown[], schemaOf: SchemaOf = () => undefined): SqlAnalysis {
  const analyser = new Analyser(schemaOf);
  for (const statement of statements) analyser.statement(statement as Node);
  return analyser.analysis();
}

class Analyser {
  readonly #schemaOf: SchemaOf;
  readonly #inputs = new Set<string>();
  readonly #outputs = new Set<string>();
  readonly #results: SqlOutput[] = [];
  readonly #literals: SqlLiteral[] = [];
  #operation: SqlAnalysis["operation"] = "DEFINE";
  #limited = false;
  #database: string | undefined;
  #schema: string | undefined;

  constructor(schemaOf: SchemaOf) {
    this.#schemaOf = schemaOf;
  }

  analysis(): SqlAnalysis {
    return {
      operation: this.#operation,
      inputs: [...this.#inputs],
      outputs: [...this.#outputs],
      results: this.#results,
      literals: this.#literals,
      limited: this.#limited,
    };
  }

  statement(statement: Node): void {
    const [kind = "", body] = Object.entries(statement)[0] ?? [];
    if (typeof statement === "string") return;
    const node = (body ?? {}) as Node;
    switch (kind) {
      case "Query":
        this.#queryStatement(node);
        return;
      case "Insert":
        this.#insert(node, EMPTY_SCOPE());
        return;
      case "CreateTable":
        this.#createTable(node);
        return;
      case "CreateView":
        this.#write(nameOf(node["name"]), this.#query(node["query"] as Node, EMPTY_SCOPE()), viewColumns(node));
        return;
      case "Update":
        this.#update(node, EMPTY_SCOPE());
        return;
      case "Delete":
        this.#delete(node, EMPTY_SCOPE());
        return;
      case "Merge":
        this.#merge(node);
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
      case "AlterTable":
        this.#alter(node);
        return;
      case "Drop":
        this.#does("DEFINE");
        for (const name of list(node["names"])) this.#outputs.add(this.#qualified(nameOf(name)));
        return;
      case "Truncate":
        this.#does("DELETE");
        for (const target of list(node["table_names"]))
          this.#outputs.add(this.#qualified(nameOf((target as Node)["name"] ?? target)));
        return;
      case "Unload":
      case "ExportData":
      case "Directory":
        this.#unload(node);
        return;
      case "Explain":
        this.statement((node["statement"] ?? {}) as Node);
        return;
      case "ExternalCopy":
        this.#externalCopy(node);
        return;
      default:
        this.#embedded(node);
    }
  }

  /** Queries inside a statement that has no rule of its own (a cursor, a cache, a prepared statement): what they show is shown. */
  #embedded(node: unknown): void {
    if (typeof node !== "object" || node === null) return;
    const body = (node as Node)["body"];
    if (typeof body === "object" && body !== null && ["Select", "SetOperation", "Query"].some((kind) => kind in body)) {
      this.#queryStatement(node as Node);
      return;
    }
    for (const child of Object.values(node)) this.#embedded(child);
  }

  /** The most telling operation of all statements wins. */
  #does(operation: SqlAnalysis["operation"]): void {
    const weight = ["DEFINE", "READ", "WRITE", "DELETE", "EXPORT"];
    if (weight.indexOf(operation) > weight.indexOf(this.#operation)) this.#operation = operation;
  }

  #queryStatement(node: Node): void {
    const body = (node["body"] ?? {}) as Node;
    const inner = (body["Insert"] ?? body["Update"] ?? body["Delete"] ?? body["Merge"]) as Node | undefined;
    if (inner !== undefined) {
      // WITH ... INSERT: the tables of the WITH are visible inside.
      const scope: Scope = { relations: [], ctes: this.#with(node, EMPTY_SCOPE()), indirect: [] };
      if ("Insert" in inner) this.#insert(inner["Insert"] as Node, scope);
      else if ("Update" in inner) this.#update(inner["Update"] as Node, scope);
      else if ("Delete" in inner) this.#delete(inner["Delete"] as Node, scope);
      else this.#merge((inner["Merge"] ?? inner) as Node, scope);
      return;
    }
    this.#does(body["Select"] !== undefined && (body["Select"] as Node)["into"] !== undefined ? "WRITE" : "READ");
    const result = this.#query(node, EMPTY_SCOPE());
    const into = ((body["Select"] as Node | undefined)?.["into"] ?? undefined) as Node | undefined;
    if (into !== undefined && into !== null) this.#write(nameOf(into["name"]), result);
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

  #insert(node: Node, scope: Scope): void {
    const target = (node["table"] ?? {}) as Node;
    if ("TableFunction" in target) return;
    const table = nameOf(target["TableName"] ?? target["name"] ?? target);
    const columns = list(node["columns"]).map((column) => lastName(column));
    const source = node["source"] as Node | undefined;
    const result = source === undefined || source === null ? NOTHING : this.#query(source, scope);
    const partitions = new Set(
      list(node["partitioned"])
        .flatMap((e) => identifiersIn(e))
        .map((n) => n.toLowerCase()),
    );
    const schema =
      columns.length > 0
        ? columns
        : this.#schemaOf(this.#qualified(table))?.filter((name) => !partitions.has(name.toLowerCase()));
    this.#noteValues(source, columns);
    this.#write(table, result, schema);
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
    const table = nameOf(node["name"]);
    const query = node["query"] as Node | undefined | null;
    if (query !== undefined && query !== null) {
      this.#write(table, this.#query(query, EMPTY_SCOPE()));
      return;
    }
    this.#does("DEFINE");
    for (const key of ["like", "clone"]) {
      const from = node[key];
      if (from === undefined || from === null) continue;
      const source = this.#qualified(nameOf(firstName(from)));
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

  #update(node: Node, outer: Scope): void {
    this.#does("WRITE");
    const target = ((node["table"] ?? {}) as Node)["relation"] as Node | undefined;
    const table = this.#qualified(nameOf(((target?.["Table"] ?? {}) as Node)["name"]));
    this.#outputs.add(table);
    const before = this.#inputs.has(table);
    const from = node["from"] as Node | undefined | null;
    const scope = this.#from(
      [node["table"], ...list(from === undefined || from === null ? [] : (from["AfterSet"] ?? from["BeforeSet"] ?? from))],
      outer,
    );
    if (!before) this.#inputs.delete(table);
    const columns = list(node["assignments"]).map((assignment) => this.#assignment(assignment as Node, scope));
    this.#filter(node["selection"], scope, "FILTER");
    this.#results.push({ table, columns, stars: [], dataset: unique(scope.indirect) });
  }

  #assignment(assignment: Node, scope: Scope): ResultColumn {
    const name = lastName(((assignment["target"] ?? {}) as Node)["ColumnName"] ?? assignment["target"]);
    const text = literalText(assignment["value"]);
    if (text !== undefined) this.#literals.push({ value: text, column: name });
    return { name, inputs: unique(this.#expr(assignment["value"], scope)) };
  }

  #delete(node: Node, outer: Scope): void {
    this.#does("DELETE");
    const from = (node["from"] ?? {}) as Node;
    const tables = list(from["WithFromKeyword"] ?? from["WithoutKeyword"] ?? from);
    const before = new Set(this.#inputs);
    const scope = this.#from([...tables, ...list(node["using"])], outer);
    const explicit = list(node["tables"]).map((name) => this.#qualified(nameOf(name)));
    const first = (((tables[0] ?? {}) as Node)["relation"] as Node | undefined)?.["Table"] as Node | undefined;
    const targets = explicit.length > 0 ? explicit : first === undefined ? [] : [this.#qualified(nameOf(first["name"]))];
    for (const target of targets) {
      this.#outputs.add(target);
      if (!before.has(target)) this.#inputs.delete(target);
    }
    this.#filter(node["selection"], scope, "FILTER");
  }

  #merge(node: Node, outer: Scope = EMPTY_SCOPE()): void {
    this.#does("WRITE");
    const targetNode = ((node["table"] ?? {}) as Node)["Table"] as Node | undefined;
    const table = this.#qualified(nameOf(targetNode?.["name"]));
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
    this.#filter(node["on"], scope, "JOIN");
    const columns = new Map<string, ColumnInput[]>();
    for (const clause of list(node["clauses"])) {
      const action = ((clause as Node)["action"] ?? {}) as Node;
      this.#filter((clause as Node)["predicate"], scope, "CONDITIONAL");
      const update = action["Update"] as Node | undefined;
      for (const assignment of list(update?.["assignments"])) {
        const column = this.#assignment(assignment as Node, scope);
        columns.set(column.name, [...(columns.get(column.name) ?? []), ...column.inputs]);
      }
      const insert = action["Insert"] as Node | undefined;
      const names = list(insert?.["columns"]).map((column) => lastName(column));
      const values = ((insert?.["kind"] ?? {}) as Node)["Values"] as Node | undefined;
      for (const row of list(values?.["rows"])) {
        const cells = Array.isArray(row) ? row : list((row as Node)["content"]);
        for (const [i, cell] of cells.entries()) {
          const name = names[i] ?? this.#schemaOf(table)?.[i] ?? `_${i}`;
          columns.set(name, [...(columns.get(name) ?? []), ...this.#expr(cell, scope)]);
        }
      }
    }
    this.#results.push({
      table,
      columns: [...columns].map(([name, inputs]) => ({ name, inputs: unique(inputs) })),
      stars: [],
      dataset: unique(scope.indirect),
    });
  }

  #copy(node: Node): void {
    const source = (node["source"] ?? {}) as Node;
    const table = source["Table"] as Node | undefined;
    if (node["to"] === true) {
      this.#does("EXPORT");
      if (table !== undefined) {
        const name = this.#qualified(nameOf(table["table_name"]));
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
    if (table !== undefined) this.#outputs.add(this.#qualified(nameOf(table["table_name"])));
  }

  /** `COPY INTO @stage FROM ...` moves rows out, `COPY INTO table FROM @stage` brings them in. */
  #copyInto(node: Node): void {
    const target = nameOf(node["into"]);
    if (node["kind"] !== "Location") {
      this.#does("WRITE");
      this.#outputs.add(this.#qualified(target));
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
    const query = (node["query"] ?? node["source"]) as Node | undefined | null;
    if (query === undefined || query === null) return;
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
    const parts = nameOf(name).split(".");
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
    const table = this.#qualified(nameOf(node["name"]));
    for (const operation of list(node["operations"])) {
      const rename = (operation as Node)["RenameTable"] as Node | undefined;
      if (rename === undefined) continue;
      this.#inputs.add(table);
      const to = (rename["table_name"] ?? rename) as Node;
      this.#outputs.add(this.#qualified(nameOf(to["To"] ?? to["As"] ?? to)));
      return;
    }
    this.#outputs.add(table);
  }

  #qualified(name: string): string {
    if (name.includes(".") || name === "") return name;
    return [this.#database, this.#schema, name].filter((part) => part !== undefined).join(".");
  }

  #with(query: Node, scope: Scope): ReadonlyMap<string, Result> {
    const ctes = new Map(scope.ctes);
    const clause = query["with"] as Node | undefined | null;
    for (const item of list(clause?.["cte_tables"])) {
      const cte = item as Node;
      const alias = (cte["alias"] ?? {}) as Node;
      const name = identifier(alias["name"]).toLowerCase();
      const inner: Scope = { relations: [], ctes, indirect: [], ...(scope.outer === undefined ? {} : { outer: scope.outer }) };
      const body = ((cte["query"] ?? {}) as Node)["body"] as Node | undefined;
      const operation = body?.["SetOperation"] as Node | undefined;
      if (clause?.["recursive"] === true && operation !== undefined) {
        // The anchor gives the columns that the recursive member refers to.
        ctes.set(name, this.#body(operation["left"] as Node, inner));
      }
      ctes.set(
        name,
        renamed(this.#query(cte["query"] as Node, { ...inner, ctes: new Map(ctes) }), list(alias["columns"]).map(columnAlias)),
      );
    }
    return ctes;
  }

  #query(query: Node | undefined | null, scope: Scope): Result {
    if (query === undefined || query === null) return NOTHING;
    const ctes = this.#with(query, scope);
    const inner: Scope = { ...scope, ctes };
    const limit = query["limit_clause"] ?? query["fetch"] ?? query["limit"];
    if (limit !== undefined && limit !== null) this.#limited = true;
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
      const columns = left.columns.map((column, i) => ({
        name: column.name,
        inputs: unique([...column.inputs, ...(right.columns[i]?.inputs ?? [])]),
      }));
      const result = { columns, open: [...new Set([...left.open, ...right.open])], dataset: [...left.dataset, ...right.dataset] };
      return { ...result, dataset: [...result.dataset, ...this.#orderBy(query, scope, result, [])] };
    }
    if (body["Table"] !== undefined) {
      const table = body["Table"] as Node;
      const name = this.#qualified([table["schema_name"], table["table_name"]].filter((p) => typeof p === "string").join("."));
      this.#inputs.add(name);
      return { ...this.#tableColumns(name), dataset: [] };
    }
    if (body["Values"] !== undefined) {
      const inner: Scope = { ...scope, indirect: [] };
      const rows = list((body["Values"] as Node)["rows"]).map((row) =>
        Array.isArray(row) ? row : list((row as Node)["content"]),
      );
      const width = Math.max(0, ...rows.map((row) => row.length));
      const columns = Array.from({ length: width }, (_, i) => ({
        name: `_${i}`,
        inputs: unique(rows.flatMap((row) => this.#expr(row[i], inner))),
      }));
      return { columns, open: [], dataset: inner.indirect };
    }
    if (body["Insert"] !== undefined) this.#queryStatement({ body });
    return NOTHING;
  }

  #select(select: Node, outer: Scope, query: Node): Result {
    const scope = this.#from(list(select["from"]), outer);
    for (const view of list(select["lateral_views"])) this.#lateralView(view as Node, scope);
    const columns: ResultColumn[] = [];
    const open = new Set<string>();
    let unnamed = 0;
    for (const item of list(select["projection"])) {
      const node = (typeof item === "string" ? { [item]: {} } : item) as Node;
      if (node["Wildcard"] !== undefined || node["QualifiedWildcard"] !== undefined) {
        const qualifier = node["QualifiedWildcard"] as unknown[] | undefined;
        const name =
          qualifier === undefined
            ? undefined
            : nameOf(((qualifier[0] ?? {}) as Node)["ObjectName"] ?? qualifier[0]).toLowerCase();
        const options = (node["Wildcard"] ?? qualifier?.[1] ?? {}) as Node;
        const dropped = new Set(identifiersIn(options["opt_exclude"] ?? options["opt_except"] ?? []).map((n) => n.toLowerCase()));
        for (const relation of scope.relations) {
          if (name !== undefined && !relation.names.some((n) => n === name || n.endsWith(`.${name}`))) continue;
          columns.push(...relation.columns.filter((column) => !dropped.has(column.name.toLowerCase())));
          for (const table of relation.open) open.add(table);
        }
        continue;
      }
      const aliased = node["ExprWithAlias"] as Node | undefined;
      const expr = aliased === undefined ? (node["UnnamedExpr"] ?? node) : aliased["expr"];
      const name = aliased === undefined ? (columnName(expr) ?? `_${unnamed++}`) : identifier(aliased["alias"]);
      columns.push({ name, inputs: unique(this.#expr(expr, scope)) });
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
    const sorted = this.#orderBy(query, scope, { columns, open: [...open], dataset: [] }, columns);
    return { columns, open: [...open], dataset: [...scope.relations.flatMap((r) => datasetOf(r)), ...scope.indirect, ...sorted] };
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
    for (const item of list(kind?.["Expressions"])) {
      const expr = (item as Node)["expr"];
      const position = this.#positional(expr, result.columns);
      const inner: Scope = {
        relations: [{ names: [], columns: columns.length > 0 ? columns : result.columns, open: [] }],
        ctes: scope.ctes,
        indirect: [],
        outer: scope,
      };
      found.push(...indirect(position ?? this.#expr(expr, inner), "SORT"));
    }
    return found;
  }

  #lateralView(view: Node, scope: Scope): void {
    const inputs = this.#expr(view["lateral_view"], scope).map(transformed);
    const names = list(view["lateral_col_alias"]).map(identifier);
    (scope.relations as Relation[]).push({
      names: [nameOf(view["lateral_view_name"]).toLowerCase()],
      columns: names.map((name) => ({ name, inputs })),
      open: [],
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
    const on = (constraint ?? {}) as Node;
    // An inner join also drops rows, so its columns filter as well.
    const inner = kind === "Join" || kind === "Inner";
    const inputs: ColumnInput[] = [];
    if (on["On"] !== undefined) inputs.push(...this.#expr(on["On"], scope));
    for (const using of list(on["Using"])) {
      const name = lastName(using);
      for (const relation of [...left, ...(right === undefined ? [] : [right])]) inputs.push(...lookup(relation, name));
    }
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
      return {
        names: inner.relations.flatMap((r) => r.names),
        columns: inner.relations.flatMap((r) => r.columns),
        open: inner.relations.flatMap((r) => r.open),
      };
    }
    const pivoted = (node["Pivot"] ?? node["Unpivot"]) as Node | undefined;
    if (pivoted !== undefined) return this.#relation(pivoted["table"] as Node, scope);
    // A table function: what it is computed from passes through.
    const fn = (node["TableFunction"] ?? node["Function"] ?? node["UNNEST"] ?? node["JsonTable"] ?? node["OpenJsonTable"]) as
      | Node
      | undefined;
    if (fn !== undefined) {
      const inputs = this.#expr(fn["expr"] ?? fn["args"] ?? fn["array_exprs"] ?? fn, scope).map(transformed);
      const alias = fn["alias"] as Node | undefined | null;
      const name = alias === undefined || alias === null ? [] : [identifier(alias["name"]).toLowerCase()];
      const columns = list(alias?.["columns"]).map(columnAlias);
      return { names: name, columns: [...columns, ...name, "value"].map((c) => ({ name: c, inputs })), open: [] };
    }
    return undefined;
  }

  #table(table: Node, scope: Scope): Relation {
    const name = nameOf(table["name"]);
    const alias = table["alias"] as Node | undefined | null;
    const aliasName = alias === undefined || alias === null ? undefined : identifier(alias["name"]).toLowerCase();
    const args = table["args"] as Node | undefined | null;
    if (args !== undefined && args !== null) {
      const inputs = this.#expr(args["args"], scope).map(transformed);
      return { names: [aliasName ?? name.toLowerCase()], columns: [{ name: "value", inputs }], open: [] };
    }
    const cte = scope.ctes.get(name.toLowerCase());
    if (cte !== undefined) {
      return relationOf([aliasName ?? name.toLowerCase()], renamed(cte, list(alias?.["columns"]).map(columnAlias)));
    }
    const qualified = this.#qualified(name);
    this.#inputs.add(qualified);
    const full = qualified.toLowerCase();
    // With an alias only the full dotted name still means the table.
    const names =
      aliasName === undefined ? [...new Set([name.toLowerCase(), full])] : full.includes(".") ? [aliasName, full] : [aliasName];
    const { columns, open } = this.#tableColumns(qualified);
    return { names, columns, open };
  }

  #tableColumns(table: string): { readonly columns: readonly ResultColumn[]; readonly open: readonly string[] } {
    const schema = this.#schemaOf(table);
    if (schema === undefined) return { columns: [], open: [table] };
    return { columns: schema.map((field) => identity(table, field)), open: [] };
  }

  #filter(expr: unknown, scope: Scope, subtype: "FILTER" | "JOIN" | "CONDITIONAL"): void {
    if (expr !== undefined && expr !== null) this.#collect(this.#expr(expr, scope), scope, subtype);
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
          return resolve(scope, [identifier(body)]);
        case "CompoundIdentifier":
          return resolve(scope, list(value).map(identifier));
        case "CompoundFieldAccess":
          return memberOf(
            [...this.#expr(body["root"], scope), ...this.#expr(body["access_chain"], scope)],
            lastKey(body["access_chain"]),
          );
        case "JsonAccess":
          return memberOf(this.#expr(body["value"], scope), lastKey((body["path"] as Node | undefined)?.["path"]));
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
        case "Subquery":
        case "Exists":
        case "ArraySubquery":
          return this.#subquery((body["subquery"] ?? body) as Node, scope);
        case "InSubquery":
          return [...this.#expr(body["expr"], scope), ...this.#subquery(body["subquery"] as Node, scope)].map(transformed);
        case "BinaryOp":
          this.#compared(body);
          return memberOf(
            [...this.#expr(body["left"], scope), ...this.#expr(body["right"], scope)],
            MEMBER_OPERATORS.has(String(body["op"])) ? lastKey(firstText(body["right"])) : undefined,
          );
        case "InList":
          for (const item of list(body["list"])) this.#literal(item, columnName(body["expr"]));
          return this.#expr(body["expr"], scope).map(transformed);
        case "Expr":
        case "Unnamed":
          return this.#expr(value, scope);
        case "AliasedExpr":
          return this.#expr(body["expr"], scope);
      }
    }
    if ("body" in node && ("with" in node || "order_by" in node || "locks" in node)) return this.#subquery(node as Node, scope);
    const all = entries.filter(([key]) => !SYNTAX.has(key)).flatMap(([, child]) => this.#expr(child, scope));
    return all.map(transformed);
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
    if (text !== undefined) this.#literals.push({ value: text, ...(column === undefined ? {} : { column }) });
    return [];
  }

  #subquery(query: Node, scope: Scope): readonly ColumnInput[] {
    const result = this.#query(query, { relations: [], ctes: scope.ctes, indirect: [], outer: scope });
    scope.indirect.push(...result.dataset);
    return result.columns.flatMap((column) => column.inputs).map(transformed);
  }

  #function(fn: Node, scope: Scope): readonly ColumnInput[] {
    const name = nameOf(fn["name"]).split(".").at(-1)?.toLowerCase() ?? "";
    const args = argumentsOf(fn["args"]);
    const inputs: ColumnInput[] = [];
    const masking = MASKING.has(name) || showsLittle(name, args);
    const aggregate = AGGREGATES.has(name);
    for (const [i, arg] of args.entries()) {
      const found = this.#expr(arg, scope);
      if (i === 0 && (name === "if" || name === "iff") && args.length > 1) inputs.push(...indirect(found, "CONDITIONAL"));
      else if (name === "if" || name === "iff") inputs.push(...found);
      else inputs.push(...found.map((input) => applied(input, aggregate, masking, REVEALING_AGGREGATES.has(name))));
    }
    const member = MEMBER_ACCESS.has(name) ? lastKey(args.slice(1).map((arg) => literalText(unnamed(arg)))) : undefined;
    if (member !== undefined) inputs.splice(0, inputs.length, ...memberOf(inputs, member));
    const over = fn["over"] as Node | undefined | null;
    const window = over?.["WindowSpec"] as Node | undefined;
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

/** Keys of the tree that hold tokens and types, never expressions. */
const SYNTAX = new Set([
  "span",
  "data_type",
  "case_token",
  "end_token",
  "alias",
  "format",
  "kind",
  "field",
  "leading_field",
  "last_field",
]);

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

function resolve(scope: Scope, parts: readonly string[]): readonly ColumnInput[] {
  const field = parts.at(-1) ?? "";
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    if (parts.length > 1) {
      const qualifier = parts.slice(0, -1).join(".").toLowerCase();
      const matching = at.relations.filter((r) => r.names.some((name) => name === qualifier || name.endsWith(`.${qualifier}`)));
      if (matching.length > 0) return matching.flatMap((relation) => lookup(relation, field));
      // `table.column.field` and `column.field` of a structure.
      const first = parts[0]?.toLowerCase() ?? "";
      const owner = parts.length > 2 ? at.relations.filter((r) => r.names.some((name) => name === first)) : [];
      if (owner.length > 0)
        return memberOf(
          owner.flatMap((relation) => lookup(relation, parts[1] ?? "")),
          field,
        );
      const known = at.relations.filter((r) => r.columns.some((c) => same(c.name, parts[0] ?? "")));
      if (known.length > 0)
        return memberOf(
          known.flatMap((relation) => lookup(relation, parts[0] ?? "")),
          field,
        );
      continue;
    }
    const known = at.relations.filter((r) => r.columns.some((column) => same(column.name, field)));
    if (known.length > 0) return known.flatMap((relation) => lookup(relation, field));
    const open = at.relations.filter((r) => r.open.length > 0);
    if (open.length > 0) return open.flatMap((relation) => lookup(relation, field));
  }
  return [];
}

function lookup(relation: Relation, field: string): readonly ColumnInput[] {
  const known = relation.columns.filter((column) => same(column.name, field));
  if (known.length > 0) return known.flatMap((column) => column.inputs);
  return relation.open.map((table) => identity(table, field).inputs[0] as ColumnInput);
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
    return member === undefined || input.type === "INDIRECT" ? used : { ...used, member };
  });
}

/** The last name in a path: of a text (`$.customer.email`, `{a,b}`), of steps of the tree, or of a list of either. */
function lastKey(path: unknown): string | undefined {
  if (typeof path === "string") return path.split(/[^\p{L}\p{N}_-]+/u).findLast((part) => /\p{L}/u.test(part));
  if (Array.isArray(path)) {
    for (let i = path.length - 1; i >= 0; i--) {
      const key = lastKey(path[i]);
      if (key !== undefined) return key;
    }
    return undefined;
  }
  if (typeof path !== "object" || path === null) return undefined;
  const [, value] = Object.entries(path)[0] ?? [];
  return lastKey(literalText(path) ?? (path as Node)["key"] ?? (path as Node)["value"] ?? (path as Node)["index"] ?? value);
}

/** The text that an operand begins with: some dialects of the parser bind `->>` weaker than what follows it. */
function firstText(node: unknown): string | undefined {
  const [, operand] = Object.entries((node ?? {}) as Node)[0] ?? [];
  return literalText(node) ?? literalText((operand as Node | null)?.["left"] ?? operand);
}

/** The expression of an argument. */
function unnamed(arg: unknown): unknown {
  const inner = (arg as Node | null)?.["Unnamed"] ?? arg;
  return (inner as Node | null)?.["Expr"] ?? inner;
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
  return { ...result, columns: result.columns.map((column, i) => ({ ...column, name: names[i] ?? column.name })) };
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value)
    ? value
    : value === undefined || value === null
      ? []
      : typeof value === "object"
        ? Object.values(value)
        : [];
}

function identifier(node: unknown): string {
  if (typeof node === "string") return node;
  const value = (node as Node | undefined | null)?.["value"];
  if (typeof value === "string") return value;
  const inner = (node as Node | undefined | null)?.["Identifier"];
  return inner === undefined ? "" : identifier(inner);
}

/** A dotted name without quotes. */
function nameOf(node: unknown): string {
  if (Array.isArray(node)) return node.map(identifier).join(".");
  return (
    identifier(node) || (typeof node === "object" && node !== null ? nameOf(Object.values(node).find(Array.isArray) ?? "") : "")
  );
}

function lastName(node: unknown): string {
  return nameOf(node).split(".").at(-1) ?? "";
}

function firstName(node: unknown): unknown {
  if (Array.isArray(node)) return node;
  for (const value of Object.values((node ?? {}) as Node)) {
    const found = firstName(value as Node);
    if (Array.isArray(found)) return found;
  }
  return "";
}

function columnAlias(node: unknown): string {
  return identifier((node as Node)["name"] ?? node);
}

function columnName(expr: unknown): string | undefined {
  const node = (expr ?? {}) as Node;
  if (node["Identifier"] !== undefined) return identifier(node["Identifier"]);
  if (node["CompoundIdentifier"] !== undefined) return list(node["CompoundIdentifier"]).map(identifier).at(-1);
  return undefined;
}

function viewColumns(node: Node): readonly string[] {
  return list(node["columns"]).map((column) => identifier((column as Node)["name"] ?? column));
}

function argumentsOf(args: unknown): readonly unknown[] {
  const node = (args ?? {}) as Node;
  const found = ((node["List"] ?? {}) as Node)["args"];
  return list(found).map((arg) => {
    const named = (arg as Node)["Named"] ?? (arg as Node)["ExprNamed"];
    return named === undefined ? arg : (named as Node)["arg"];
  });
}

function identifiersIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(identifiersIn);
  if (typeof node !== "object" || node === null) return [];
  if (typeof (node as Node)["value"] === "string") return [String((node as Node)["value"])];
  return Object.values(node).flatMap(identifiersIn);
}

function literalText(node: unknown): string | undefined {
  const value = ((node ?? {}) as Node)["Value"] as Node | undefined;
  const inner = value?.["value"];
  if (typeof inner !== "object" || inner === null) return undefined;
  for (const [kind, text] of Object.entries(inner)) {
    if (kind === "Number") return String((text as unknown[])[0]);
    if (typeof text === "string" && kind !== "Placeholder") return text;
    const dollar = (text as Node | null)?.["value"];
    if (typeof dollar === "string") return dollar;
  }
  return undefined;
}

function numberText(expr: unknown): string | undefined {
  const number = ((((expr ?? {}) as Node)["Value"] as Node | undefined)?.["value"] as Node | undefined)?.["Number"];
  return Array.isArray(number) ? String(number[0]) : undefined;
}
