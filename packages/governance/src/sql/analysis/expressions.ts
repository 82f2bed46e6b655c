import { isBuiltin } from "../builtins.ts";
import { AGGREGATES, MASKING, MEMBER_ACCESS, REVEALING_AGGREGATES, showsLittle } from "../functions.ts";
import { placeholderIn } from "../templates.ts";
import {
  argumentsOf,
  columnName,
  firstText,
  identifier,
  isPath,
  isQuery,
  isSyntax,
  list,
  literalText,
  type Node,
  nameOf,
  namesIn,
  numberText,
  pathKeys,
  textsIn,
  unnamed,
} from "../tree.ts";
import type { ColumnInput } from "../types.ts";
import { Collector } from "./collector.ts";
import { applied, indirect, memberOf, transformed } from "./column-inputs.ts";
import { buildsText, conditionsIn, constantText, isConstant, isPutIn, isStep, PUT_IN } from "./run-time-parts.ts";
import { hasColumn, type Result, resolve, rowOf, type Scope, starred, wholeRow } from "./scope.ts";

/** Follows expressions to the columns that they are made from. */
export abstract class Expressions extends Collector {
  /** What a query gives, whose clauses {@link Queries} follows. */
  protected abstract query(query: Node | undefined | null, scope: Scope): Result;

  /** Input columns of an expression. */
  protected expr(node: unknown, scope: Scope): readonly ColumnInput[] {
    if (typeof node !== "object" || node === null) return [];
    if (Array.isArray(node)) return node.flatMap((item) => this.expr(item, scope));
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
          return this.rows(scope, kind === "Wildcard" ? undefined : this.named(list(value).length > 0 ? value : ""));
        case "CompoundFieldAccess":
          if (!list(body["access_chain"]).every(isStep)) this.builtMember(body["access_chain"]);
          return this.member(
            [...this.expr(body["root"], scope), ...this.expr(body["access_chain"], scope)],
            pathKeys(body["access_chain"]),
          );
        case "JsonAccess":
          return this.member(this.expr(body["value"], scope), pathKeys((body["path"] as Node | undefined)?.["path"]));
        case "Nested":
          return this.expr(body, scope);
        case "Value":
          return this.literal(node, undefined);
        case "Function":
          return this.#function(body, scope);
        case "Substring": {
          const little = showsLittle("substring", [body["expr"], body["substring_from"], body["substring_for"]]);
          return [body["expr"], body["substring_from"], body["substring_for"]]
            .flatMap((part) => this.expr(part, scope))
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
          return [...this.expr(body["expr"], scope), ...this.#subquery(body["subquery"] as Node, scope)].map(transformed);
        case "BinaryOp": {
          this.compared(body);
          if (!/^(?:And|Or|Xor)$/.test(String(body["op"]))) this.isValue(body["right"]);
          const inputs = [...this.expr(body["left"], scope), ...this.expr(body["right"], scope)];
          if (!MEMBER_OPERATORS.has(String(body["op"]))) return memberOf(inputs, undefined);
          const key = constantText(body["right"]) ?? firstText(body["right"]);
          if (key === undefined || (buildsText(body["right"]) && constantText(body["right"]) === undefined))
            this.builtMember(body["right"]);
          return this.member(inputs, pathKeys(key));
        }
        case "Lambda": {
          // Some dialects of the parser take `doc -> 'a' ->> 'b'` for a function of `doc`.
          this.explain(body["params"]);
          const key = pathKeys(textsIn(body["body"]));
          const param = (body["params"] as Node | undefined)?.["One"] as Node | undefined;
          if (param === undefined || key === undefined || namesIn(body["body"])) return this.expr(body["body"], scope);
          return this.member(this.#resolved(scope, [param["name"]]), key);
        }
        case "InList":
          for (const item of list(body["list"])) this.literal(this.isValue(item), columnName(body["expr"]));
          return [...this.expr(body["expr"], scope), ...this.expr(body["list"], scope)].map(transformed);
        case "Expr":
        case "Unnamed":
          return this.expr(value, scope);
        case "Between":
        case "Like":
        case "ILike":
        case "SimilarTo":
        case "RLike":
          for (const key of ["low", "high", "pattern"]) this.isValue(body[key]);
          break;
        case "Interval":
          this.isValue(body);
          break;
        case "AliasedExpr":
          return this.expr(body["expr"], scope);
      }
    }
    if (isQuery(node as Node)) return this.#subquery(node as Node, scope);
    const all = entries.filter(([key]) => !isSyntax(key)).flatMap(([, child]) => this.expr(child, scope));
    return all.map(transformed);
  }

  /**
   * The inputs behind a column's name. A name that nothing in sight has stays unexplained; it may be one that the database gave to a column without
   * one (`max`, `column1`), so that it stands for all there is.
   */
  #resolved(scope: Scope, parts: readonly unknown[]): readonly ColumnInput[] {
    if (parts.some((part) => placeholderIn(identifier(part)) !== undefined)) return this.#putIn(scope, parts);
    const found = this.find(scope, parts.map(identifier));
    if (found === undefined) return this.rows(scope, undefined).map(transformed);
    for (const part of parts) this.explain(part);
    return found;
  }

  /** What a name may be that is put in before the statement runs: a value, or any column that is in sight; a column of a relation that is. */
  #putIn(scope: Scope, parts: readonly unknown[]): readonly ColumnInput[] {
    const last = parts.at(-1);
    const value = this.values.has(last as object) || /^[?:@]|^placeholder__b\d+$/i.test(identifier(last));
    for (const part of parts) this.explain(part);
    if (value) return [];
    if (placeholderIn(identifier(last)) === undefined) return this.find(scope, [identifier(last)]) ?? this.rows(scope, undefined);
    const owner = parts.slice(0, -1).map(identifier).join(".");
    const rows: ColumnInput[] = [];
    for (let at: Scope | undefined = scope; at !== undefined; at = at.outer)
      rows.push(...this.rows(at, owner === "" || placeholderIn(owner) !== undefined ? undefined : owner));
    if (rows.length === 0) this.unread.add(PUT_IN);
    else this.doubts.add(PUT_IN);
    return rows.map(transformed);
  }

  protected find(scope: Scope, parts: readonly string[]): readonly ColumnInput[] | undefined {
    return this.counted(resolve(scope, parts, this.complete), scope.relations.length);
  }

  /** Whole rows: of one relation, or of all. */
  protected rows(scope: Scope, name: string | undefined): readonly ColumnInput[] {
    return this.counted(starred(scope, name?.toLowerCase()).flatMap(rowOf), scope.relations.length);
  }

  /** Inputs of which only a member is used; a path into what is no column of a table is noted by itself. */
  protected member(inputs: readonly ColumnInput[], member: string | undefined): readonly ColumnInput[] {
    if (inputs.length === 0 && member !== undefined) this.paths.add(member);
    return memberOf(this.counted(inputs), member);
  }

  #subquery(query: Node, scope: Scope, shown = true): readonly ColumnInput[] {
    const result = this.query(query, { relations: [], ctes: scope.ctes, indirect: [], outer: scope });
    scope.indirect.push(...result.dataset);
    const columns = result.columns.flatMap((column) => column.inputs).map(transformed);
    return shown ? [...columns, ...result.open.map(wholeRow)] : columns;
  }

  /**
   * What a function may be a method of (`t.salary.value('.', 'int')`, `grade.ToString()`): the column, or the row, that its name begins with. `util.clean(name)` is none of a column `util`, unless there is one, and what is of one of
   * the database's own schemas is none's.
   */
  protected ownerOf(scope: Scope, parts: readonly unknown[], args: readonly unknown[]): readonly ColumnInput[] | undefined {
    const names = parts.slice(0, -1).map(identifier);
    const [first = ""] = names;
    if (first === "" || isBuiltin(nameOf(parts).toLowerCase())) return undefined;
    const schema = OWN_SCHEMAS.test(first) || (args.some(namesIn) && !hasColumn(scope, first));
    return names.length === 1 && schema ? undefined : this.find(scope, names);
  }

  #function(fn: Node, scope: Scope): readonly ColumnInput[] {
    this.seen.add(fn);
    const parts = list(fn["name"]);
    const name = this.named(parts).split(".").at(-1)?.toLowerCase() ?? "";
    const args = argumentsOf(fn["args"]);
    const inputs: ColumnInput[] = [];
    // `doc.value('/a/b', 'int')`: a method of a column.
    const method = args.length === 0 ? GIVES_TEXT.has(name) : METHODS.has(name) && isPath(literalText(unnamed(args[0])) ?? "");
    const owner = this.ownerOf(scope, parts, args);
    if (owner === undefined || !method) inputs.push(...this.called(parts, args, false));
    inputs.push(...(owner ?? []));
    // DuckDB: all columns whose names fit.
    if (name === "columns") inputs.push(...this.rows(scope, undefined));
    if (name === "identifier") {
      const column = literalText(unnamed(args[0]));
      if (column !== undefined) return this.find(scope, column.split(".")) ?? [];
      this.unread.add("the name of a column is built when the statement runs");
    }
    const masking = MASKING.has(name) || showsLittle(name, args);
    const keyed = (owner !== undefined && method) || MEMBER_ACCESS.test(name);
    const texts = args.map(unnamed).filter((arg) => {
      const text = literalText(arg);
      return text !== undefined && (isPath(text) || (keyed && numberText(arg) === undefined));
    });
    for (const text of texts) this.seen.add(text as object);
    const aggregate = AGGREGATES.has(name);
    for (const [i, arg] of args.entries()) {
      const star = unnamed(arg) === "Wildcard";
      const found = star ? (COUNTS.has(name) ? [] : this.rows(scope, undefined)) : this.expr(arg, scope);
      if (i === 0 && (name === "if" || name === "iff") && args.length > 1) inputs.push(...indirect(found, "CONDITIONAL"));
      else if (name === "if" || name === "iff") inputs.push(...found);
      else inputs.push(...found.map((input) => applied(input, aggregate, masking, REVEALING_AGGREGATES.has(name))));
    }
    const member = pathKeys(texts.map(literalText));
    const paths = name.startsWith("xpath") ? args.slice(0, 1) : TAKES_MEMBER.test(name) ? args.slice(1) : [];
    const built = paths.map(unnamed).filter((arg) => !isConstant(arg));
    const written = built.map(constantText);
    if (written.includes(undefined)) this.builtMember(built);
    for (const text of written) if (text !== undefined) this.paths.add(pathKeys(text) ?? "");
    if (member !== undefined) {
      const path = texts.some((text) => isPath(literalText(text) ?? "")) ? member : undefined;
      inputs.splice(0, inputs.length, ...(path === undefined ? memberOf(inputs, member) : this.member(inputs, path)));
    }
    const over = fn["over"] as Node | undefined | null;
    this.explain(over?.["NamedWindow"]);
    inputs.push(...this.expr(fn["parameters"], scope));
    const clauses = list(((fn["args"] as Node | undefined)?.["List"] as Node | undefined)?.["clauses"]);
    inputs.push(...indirect(this.expr(clauses, scope), "SORT"));
    const window = over?.["WindowSpec"] as Node | undefined;
    this.explain(window?.["window_name"]);
    for (const key of ["partition_by", "order_by"]) {
      for (const expr of list(window?.[key]))
        inputs.push(...indirect(this.expr((expr as Node)["expr"] ?? expr, scope), "WINDOW"));
    }
    if (fn["filter"] !== undefined && fn["filter"] !== null)
      inputs.push(...indirect(this.expr(fn["filter"], scope), "CONDITIONAL"));
    for (const expr of list(fn["within_group"]))
      inputs.push(...this.expr((expr as Node)["expr"] ?? expr, scope).map((i) => applied(i, true, false, true)));
    if (((fn["args"] ?? {}) as Node)["Subquery"] !== undefined)
      inputs.push(...this.#subquery((fn["args"] as Node)["Subquery"] as Node, scope));
    return inputs;
  }

  #case(node: Node, scope: Scope): readonly ColumnInput[] {
    const inputs: ColumnInput[] = [];
    if (node["operand"] !== undefined && node["operand"] !== null)
      inputs.push(...indirect(this.expr(node["operand"], scope), "CONDITIONAL"));
    for (const branch of list(node["conditions"])) {
      inputs.push(...indirect(this.expr((branch as Node)["condition"], scope), "CONDITIONAL"));
      inputs.push(...this.expr((branch as Node)["result"], scope));
    }
    inputs.push(...this.expr(node["else_result"], scope));
    return inputs;
  }

  protected filter(expr: unknown, scope: Scope, subtype: "FILTER" | "JOIN" | "CONDITIONAL"): void {
    if (expr === undefined || expr === null) return;
    this.collect(this.expr(expr, scope), scope, subtype);
    if (!conditionsIn(expr).some((condition) => isPutIn(condition) !== undefined)) return;
    this.doubts.add("a condition is put in before the statement runs");
    this.collect(this.rows(scope, undefined), scope, subtype);
  }

  protected collect(inputs: readonly ColumnInput[], scope: Scope, subtype: ColumnInput["subtype"]): void {
    scope.indirect.push(...indirect(inputs, subtype));
  }
}

/** Methods of XML and JSON that take a member out of them by its path, and those that give the whole. */
const METHODS: ReadonlySet<string> = new Set(["value", "query", "nodes", "exist", "modify", "extract"]);

const GIVES_TEXT: ReadonlySet<string> = new Set(["getstringval", "getclobval", "string", "number"]);

/** Schemas in which databases keep functions, and that nobody calls a column. */
const OWN_SCHEMAS = /^(?:dbo|sys|public|pg_catalog|information_schema|mysql|safe|net|hll_count|ml|ai)$/i;

/** Functions that take the member out that a later argument names. */
const TAKES_MEMBER =
  /^(?:try_)?(?:json|variant|visitparam|simplejson).*(?:extract|value$|query|get|path)|^get(?:_path|_json_object)?$/;

/** Operators of PostgreSQL, MySQL and SQLite that take a member out of a structure. */
const MEMBER_OPERATORS = new Set(["Arrow", "LongArrow", "HashArrow", "HashLongArrow"]);

/** Functions of which a star says nothing but how many rows there are. */
const COUNTS: ReadonlySet<string> = new Set(["count", "count_big", "approx_count_distinct", "countif", "count_if"]);
