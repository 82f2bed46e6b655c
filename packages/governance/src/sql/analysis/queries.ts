import { foldedName } from "../folded-name.ts";
import { patternOf, placeholderIn } from "../templates.ts";
import {
  argumentsOf,
  CHANGES,
  columnAlias,
  columnName,
  identifier,
  identifiersIn,
  isIdent,
  isPath,
  isQuery,
  lastName,
  list,
  literalText,
  type Node,
  numberText,
  pathKeys,
  same,
  unnamed,
} from "../tree.ts";
import type { ColumnInput, ResultColumn } from "../types.ts";
import { indirect, memberOf, transformed, unique } from "./column-inputs.ts";
import { Expressions } from "./expressions.ts";
import { BUILT_NAME, isPutIn, PUT_IN } from "./run-time-parts.ts";
import {
  type Ctes,
  datasetOf,
  either,
  givenBy,
  givenFirst,
  inCommon,
  lookup,
  NOT_GIVEN,
  NOTHING,
  type Relation,
  type Result,
  relationOf,
  renamed,
  type Scope,
  starred,
  surelyOne,
  wholeRow,
} from "./scope.ts";

/** Follows queries: WITH, FROM, select lists, set operations. */
export abstract class Queries extends Expressions {
  /** What a changing statement inside of a query gives back, which {@link Statements} follows. */
  protected abstract change(kind: string, node: Node, outer: Scope): Result;

  protected override query(query: Node | undefined | null, scope: Scope): Result {
    if (query === undefined || query === null) return NOTHING;
    this.seen.add(query);
    const ctes = this.#with(query, scope);
    const inner: Scope = { ...scope, ctes };
    const limit = query["limit_clause"] ?? query["fetch"] ?? query["limit"];
    if (limit !== undefined && limit !== null) this.limited = true;
    this.isValue(limit);
    return this.#body(query["body"] as Node, inner, query);
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
        renamed(this.query(cte["query"] as Node, { ...inner, ctes: new Map(ctes) }), list(alias["columns"]).map(columnAlias)),
      );
    }
    return ctes;
  }

  #body(body: Node | undefined, scope: Scope, query: Node = {}): Result {
    if (body === undefined || body === null) return NOTHING;
    if (body["Select"] !== undefined) return this.#select(body["Select"] as Node, scope, query);
    if (body["Query"] !== undefined) {
      const result = this.query(body["Query"] as Node, scope);
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
        inputs: unique([...column.inputs, ...(aligned ? (right.columns[i]?.inputs ?? []) : this.counted(any))]),
      }));
      columns.push(...right.columns.slice(columns.length).map(({ name, inputs }) => ({ name, inputs: [...inputs] })));
      const result = { columns, open: [...new Set([...left.open, ...right.open])], dataset: [...left.dataset, ...right.dataset] };
      return { ...result, dataset: [...result.dataset, ...this.#orderBy(query, scope, result, [])] };
    }
    if (body["Table"] !== undefined) {
      const table = body["Table"] as Node;
      const written = [table["schema_name"], table["table_name"]].filter((p) => typeof p === "string").join(".");
      this.seen.add(table);
      // The tree does not tell whether it was quoted.
      const single = typeof table["schema_name"] !== "string";
      const { given, sure } = single ? givenBy(scope.ctes, written) : NOT_GIVEN;
      if (given !== undefined && sure) return given;
      const name = this.qualified(written);
      this.inputs.add(name);
      const read = { ...this.tableColumns(name), dataset: [] };
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
        inputs: unique(rows.flatMap((row) => this.expr(this.isValue(row[i]), inner))),
      }));
      return { columns, open: [], dataset: inner.indirect };
    }
    for (const kind of CHANGES) {
      if (typeof body[kind] === "object" && body[kind] !== null) return this.change(kind, body[kind] as Node, scope);
    }
    return NOTHING;
  }

  #select(select: Node, outer: Scope, query: Node): Result {
    const scope = this.from(list(select["from"]), outer);
    for (const view of list(select["lateral_views"])) this.#lateralView(view as Node, scope);
    // `FROM t` without SELECT shows all of it.
    const items = select["flavor"] === "FromFirstNoSelect" ? [{ Wildcard: {} }] : list(select["projection"]);
    const { columns, open } = this.projection(items, scope);
    for (const expr of list(((select["distinct"] ?? {}) as Node)["On"])) this.collect(this.expr(expr, scope), scope, "GROUP_BY");
    this.filter(select["connect_by"], scope, "FILTER");
    for (const window of list(select["named_window"])) {
      this.explain(list(window)[0]);
      this.collect(this.expr(list(window).slice(1), scope), scope, "WINDOW");
    }
    this.filter(select["selection"], scope, "FILTER");
    this.filter(select["prewhere"], scope, "FILTER");
    const aliases: Relation = { names: [], columns, open: [] };
    const groups = (select["group_by"] ?? {}) as Node;
    for (const expr of list((groups["Expressions"] as unknown[] | undefined)?.[0])) {
      this.collect(this.#positional(expr, columns) ?? this.expr(expr, this.#preferring(scope, aliases)), scope, "GROUP_BY");
    }
    this.filter(select["having"], this.#withAliases(scope, aliases), "FILTER");
    this.filter(select["qualify"], this.#withAliases(scope, aliases), "FILTER");
    for (const key of ["sort_by", "cluster_by", "distribute_by"]) {
      for (const expr of list(select[key])) this.collect(this.expr((expr as Node)["expr"] ?? expr, scope), scope, "SORT");
    }
    const sorted = this.#orderBy(query, scope, { columns, open, dataset: [] }, columns);
    return { columns, open, dataset: [...scope.relations.flatMap((r) => datasetOf(r)), ...scope.indirect, ...sorted] };
  }

  /** The columns of a select list, and the tables that pass through it whole. */
  protected projection(
    items: readonly unknown[],
    scope: Scope,
  ): { readonly columns: ResultColumn[]; readonly open: readonly string[] } {
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
        this.explain(left);
        const dropped = new Set(identifiersIn(left ?? []).map((n) => n.toLowerCase()));
        const replaced = list(((options["opt_replace"] ?? {}) as Node)["items"]) as readonly Node[];
        for (const replacement of replaced) {
          const name = this.named(replacement["column_name"]);
          dropped.add(name.toLowerCase());
          columns.push({ name, inputs: unique(this.expr(replacement["expr"], scope)) });
        }
        this.explain(options["opt_rename"]);
        if (whole["Expr"] !== undefined) {
          columns.push({ name: `_${unnamed++}`, inputs: unique(this.expr(whole["Expr"], scope)) });
          continue;
        }
        const name = qualified.length === 0 ? undefined : this.named(whole["ObjectName"] ?? whole).toLowerCase();
        const found = starred(scope, name);
        // `profile.*` of a column that holds a structure.
        if (found.length === 0 && name !== undefined)
          columns.push({ name: "*", inputs: this.find(scope, name.split(".")) ?? [] });
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
      const inputs = this.expr(expr, scope);
      // Snowflake: `$1` is the first column, whichever that is; what is put in as a whole item may be any of them.
      const put = isPutIn(expr);
      if (put === "text") this.doubts.add(PUT_IN);
      const any = namesPlace(expr) || put !== undefined;
      columns.push({ name, inputs: unique(any ? [...inputs, ...this.rows(scope, undefined)] : inputs) });
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
      found.push(...indirect(position ?? this.expr(expr, inner), "SORT"));
    }
    return found;
  }

  #lateralView(view: Node, scope: Scope): void {
    const inputs = this.expr(view["lateral_view"], scope).map(transformed);
    this.explain(view["lateral_col_alias"]);
    const names = list(view["lateral_col_alias"]).map(identifier);
    (scope.relations as Relation[]).push({
      names: [this.named(view["lateral_view_name"]).toLowerCase()],
      columns: names.map((name) => ({ name, inputs })),
      open: [],
      other: inputs,
    });
  }

  protected from(items: readonly unknown[], outer: Scope): Scope {
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
    if (on["On"] !== undefined) inputs.push(...this.expr(on["On"], scope));
    if (matched !== undefined) inputs.push(...this.expr(matched, scope));
    this.explain(on["Using"]);
    for (const using of list(on["Using"])) {
      const name = lastName(using);
      for (const relation of [...left, ...(right === undefined ? [] : [right])]) inputs.push(...lookup(relation, name));
    }
    if ((on as unknown) === "Natural" && right !== undefined) inputs.push(...this.counted(inCommon(left, right)));
    this.collect(inputs, scope, "JOIN");
    if (inner) this.collect(inputs, scope, "FILTER");
  }

  #relation(node: Node | undefined, scope: Scope): Relation | undefined {
    if (node === undefined || node === null) return undefined;
    const table = node["Table"] as Node | undefined;
    if (table !== undefined) return this.table(table, scope);
    const derived = node["Derived"] as Node | undefined;
    if (derived !== undefined) {
      const result = this.query(derived["subquery"] as Node, { relations: [], ctes: scope.ctes, indirect: [], outer: scope });
      const alias = derived["alias"] as Node | undefined | null;
      const shaped = renamed(result, list(alias?.["columns"]).map(columnAlias));
      return relationOf(alias === undefined || alias === null ? [] : [identifier(alias["name"]).toLowerCase()], shaped);
    }
    const nested = node["NestedJoin"] as Node | undefined;
    if (nested !== undefined) {
      const inner = this.from([nested["table_with_joins"]], scope);
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
      if (name === undefined) this.unread.add(BUILT_NAME);
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
      this.called(rest["name"], argumentsOf(Array.isArray(args) ? { List: { args } } : args), true);
    }
    for (const key of ["columns", "symbols", "pattern", "measures"]) this.#explainNames(rest[key]);
    const defined = this.#definedColumns(rest["columns"]);
    const other = unique(this.expr(rest, within).map(transformed));
    const alias = given as Node | undefined | null;
    const name = alias === undefined || alias === null ? [] : [identifier(alias["name"]).toLowerCase()];
    if (inner !== undefined) return { ...inner, names: [...name, ...inner.names], other: [...(inner.other ?? []), ...other] };
    const columns = list(alias?.["columns"]).map(columnAlias);
    return {
      names: name,
      columns: [
        ...defined.map((c) => ({ name: c.name, inputs: this.member(other, c.path) })),
        ...columns.map((c) => ({ name: c, inputs: memberOf(this.counted(other), c) })),
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
        if (typeof child === "object" && child !== null) this.seen.add(child);
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
    if (isIdent(node as Node)) this.seen.add(node);
    for (const [key, child] of Object.entries(node)) if (!EXPRESSIONS.has(key)) this.#explainNames(child);
  }

  protected table(table: Node, scope: Scope): Relation {
    this.seen.add(table);
    const alias = table["alias"] as Node | undefined | null;
    const aliasName = alias === undefined || alias === null ? undefined : identifier(alias["name"]).toLowerCase();
    const args = table["args"] as Node | undefined | null;
    for (const key of ["with_hints", "index_hints", "partitions", "json_path"]) this.explain(table[key]);
    const renames = list(alias?.["columns"]).map(columnAlias);
    // ONLY is a word of the language, which this parser takes for a name: `ONLY t`, `ONLY (t)`.
    const only = isOnly(table["name"]);
    if (only) this.explain(table["name"]);
    if (only && args === undefined && aliasName !== undefined)
      return this.#tableNamed(identifier(alias?.["name"]), undefined, [], scope, alias?.["name"]);
    if (only && args !== undefined && args !== null) {
      const name = this.named(list(args["args"])[0]);
      const expr = unnamed(list(args["args"])[0]);
      const ident = (expr as Node | undefined)?.["Identifier"];
      return this.#tableNamed(columnName(expr) ?? name, aliasName, renames, scope, ident);
    }
    const called = this.named(table["name"]);
    const indirectly = called.toLowerCase() === "identifier" && args !== undefined && args !== null;
    const name = indirectly ? (literalText(unnamed(list(args["args"])[0])) ?? "") : called;
    if (name === "" || TEMPLATE.test(name)) this.unread.add(BUILT_NAME);
    if (placeholderIn(name) !== undefined) {
      const pattern = patternOf(name);
      if (pattern === undefined) this.unread.add(BUILT_NAME);
      else return this.#tableNamed(pattern, aliasName, renames, scope);
    }
    if (!indirectly && args !== undefined && args !== null) {
      const rows = this.called(table["name"], argumentsOf({ List: args }), true);
      const owner = (this.ownerOf(scope, list(table["name"]), list(args["args"])) ?? []).map(transformed);
      const inputs = unique([...rows, ...owner, ...this.expr(args["args"], scope).map(transformed)]);
      const names = [aliasName ?? name.toLowerCase()];
      const columns = [
        ...renames.map((column) => ({ name: column, inputs: memberOf(this.counted(inputs), column) })),
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
    const qualified = this.qualified(name);
    if (name !== "") this.inputs.add(qualified);
    const full = qualified.toLowerCase();
    // With an alias only the full dotted name still means the table.
    const names =
      aliasName === undefined ? [...new Set([name.toLowerCase(), full])] : full.includes(".") ? [aliasName, full] : [aliasName];
    const whole = this.tableColumns(qualified);
    const read: Result = { ...whole, dataset: [] };
    if (given !== undefined) return relationOf(names, renamed(either([given, read]), renames));
    const { columns, open } = renamed(read, renames);
    return { names, columns, open };
  }
}

/** Names that something else puts in before the statement runs: `${table}`, `$table`, `:table`, `{table}`. */
const TEMPLATE = /^[$:]\{?\w+\}?$|[{}]/;

/** Keys of clauses that name their parts behind which expressions stand. */
const EXPRESSIONS: ReadonlySet<string> = new Set(["expr", "definition", "path", "default"]);

/** True for an unquoted `ONLY` where the parser expected a name. */
function isOnly(name: unknown): boolean {
  const ident = (list(name)[0] as Node | undefined)?.["Identifier"] as Node | undefined;
  return list(name).length === 1 && same(identifier(ident), "only") && (ident?.["quote_style"] ?? null) === null;
}

/** True where an expression of a select list names a column by its place, outside of queries in it. */
function namesPlace(node: unknown): boolean {
  if (typeof node !== "object" || node === null || isQuery(node as Node)) return false;
  const placeholder = (node as Node)["Placeholder"];
  if (typeof placeholder === "string") return /^\$(?:\d+|identity|rowguid)$/i.test(placeholder);
  return Object.values(node).some(namesPlace);
}
