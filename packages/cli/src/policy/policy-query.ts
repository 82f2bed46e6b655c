import {
  type EvaluateOptions,
  type EvaluationCode,
  type Literal,
  type Policy,
  parseQuery,
  RegoCompileError,
  type Result,
  visit,
} from "@seneschal/rego/bundle";

/** A solution of a query with the value of each of its expressions, as `opa eval` tells it. */
export interface Solution {
  readonly expressions: readonly Expression[];
  /** By the query's own variables; absent where it has none. */
  readonly bindings?: Readonly<Record<string, unknown>>;
}

interface Expression {
  readonly value: unknown;
  readonly text: string;
  readonly location: { readonly row: number; readonly col: number };
}

export type QueryAnswer =
  | { readonly kind: "defined"; readonly result: readonly Solution[] }
  | { readonly kind: "undefined" }
  | { readonly kind: "error"; readonly code: EvaluationCode; readonly message: string };

/** Begins the names that hold the values of expressions; no query of a person has it. */
const VALUE = "value__";

/** What a query comes to. Throws `RegoCompileError` for one that does not compile. */
export function askQuery(policy: Policy, query: string, input: unknown, options: EvaluateOptions): QueryAnswer {
  const { body, problems } = parseQuery(query);
  if (body === undefined) throw new RegoCompileError(problems);
  const told = solutionsOf(policy, query, body, input, options);
  if (told.kind === "error") return told;
  const result = told.bindings.map((row) => solutionOf(query, body, row));
  return result.length === 0 ? { kind: "undefined" } : { kind: "defined", result };
}

/** The answer at an entrypoint as that of the query which names it. */
export function answerOf(query: string, result: Result): QueryAnswer {
  if (result.kind !== "defined") return result;
  return { kind: "defined", result: [{ expressions: [{ value: result.value, text: query, location: { row: 1, col: 1 } }] }] };
}

function solutionsOf(policy: Policy, query: string, body: readonly Literal[], input: unknown, options: EvaluateOptions) {
  try {
    return policy.query(withValues(query, body), input, options);
  } catch (error) {
    if (!(error instanceof RegoCompileError)) throw error;
    // what is wrong is told of the query as it was written; what only cannot be given a name, such as a call with its result as an argument, is true
    return policy.query(query, input, options);
  }
}

/**
 * The query with a name for each expression that has a value. As in OPA a value must hold where there are several expressions, or solutions; the
 * value of a single one is told whatever it is.
 */
function withValues(query: string, body: readonly Literal[]): string {
  let text = query;
  const named: string[] = [];
  body.forEach((literal, i) => {
    if (hasValue(literal)) named.push(`${VALUE}${i}`);
  });
  for (let i = body.length - 1; i >= 0; i--) {
    const literal = body[i] as Literal;
    const { offset } = literal.loc;
    if (hasValue(literal)) text = `${text.slice(0, offset)}${VALUE}${i} := ${text.slice(offset)}`;
  }
  const judged = body.length > 1 || body.some(iterates) ? named : [];
  // on a line of its own, as the query may end in a comment
  return [text, ...judged].join("\n");
}

function hasValue({ expr, negated }: Literal): boolean {
  if (negated || expr.kind !== "term") return false;
  const { term } = expr;
  return !(term.kind === "call" && term.operator.kind === "var" && term.operator.name === "print");
}

/** Goes through a collection, by a reference with a variable, outside of comprehensions. */
function iterates(literal: Literal): boolean {
  let found = false;
  visit(literal, {
    term: (term) => {
      if (term.kind.endsWith("comprehension")) return false;
      if (term.kind === "ref") found ||= term.path.some(({ kind }) => kind === "var");
      return undefined;
    },
  });
  return found;
}

function solutionOf(query: string, body: readonly Literal[], row: Readonly<Record<string, unknown>>): Solution {
  const expressions = body.map((literal, i): Expression => {
    const { row: line, col, offset } = literal.loc;
    const text = query.slice(offset, body[i + 1]?.loc.offset).replace(/[\s;]+$/, "");
    const value = Object.hasOwn(row, `${VALUE}${i}`) ? row[`${VALUE}${i}`] : true;
    return { value, text, location: { row: line, col } };
  });
  const own = Object.entries(row).filter(([name]) => !name.startsWith(VALUE));
  return { expressions, ...(own.length === 0 ? {} : { bindings: Object.fromEntries(own) }) };
}
