import { BuiltinError } from "../errors.ts";
import { isObject, type Value } from "../value/value.ts";
import { type Builtin, define, operandError } from "./builtin.ts";
import { type Node, readNode } from "./graphql/node.ts";
import { parseQuery, parseSchema } from "./graphql/parse.ts";
import { makeSchema } from "./graphql/schema.ts";
import { validateQuery } from "./graphql/validate.ts";

/** A document as text or as the tree that `parse_query` and `parse_schema` give. */
function load(value: Value, position: number, struct: string, parse: (source: string) => Node): Node {
  if (typeof value === "string") return parse(value);
  if (isObject(value)) return readNode(struct, value);
  throw operandError(position, value, "string", "object");
}

function loadQuery(value: Value): Node {
  return load(value, 1, "QueryDocument", parseQuery);
}

function loadSchema(value: Value, position: number): Node {
  return load(value, position, "SchemaDocument", parseSchema);
}

/** The trees of a query and a schema that fit each other. Throws {@link BuiltinError}. */
function verified(query: Value, schema: Value): readonly [Node, Node] {
  const trees = [loadQuery(query), loadSchema(schema, 2)] as const;
  validateQuery(makeSchema(trees[1]), trees[0]);
  return trees;
}

/** The answer, or another one where a document is not good. */
function otherwise<T>(answer: () => T, none: T): T {
  try {
    return answer();
  } catch (error) {
    if (error instanceof BuiltinError) return none;
    throw error;
  }
}

const DOCUMENT = "string|{any: any}";

/** GraphQL documents, as trees of the Go structs that OPA's library has. */
export const graphqlBuiltins: readonly Builtin[] = [
  define("graphql.parse_query", "string -> {any: any}", ([query]) => parseQuery(query as string)),
  define("graphql.parse_schema", "string -> {any: any}", ([schema]) => parseSchema(schema as string)),
  define("graphql.parse", `${DOCUMENT}, ${DOCUMENT} -> [{any: any}, {any: any}]`, ([query, schema]) =>
    verified(query as Value, schema as Value),
  ),
  ...[
    define("graphql.parse_and_verify", `${DOCUMENT}, ${DOCUMENT} -> [boolean, {any: any}, {any: any}]`, ([query, schema]) =>
      otherwise<Value>(() => [true, ...verified(query as Value, schema as Value)], [false, {}, {}]),
    ),
    define("graphql.is_valid", `${DOCUMENT}, ${DOCUMENT} -> boolean`, ([query, schema]) =>
      otherwise(() => verified(query as Value, schema as Value).length === 2, false),
    ),
    define("graphql.schema_is_valid", `${DOCUMENT} -> boolean`, ([schema]) =>
      otherwise(() => makeSchema(loadSchema(schema as Value, 1)).types.size >= 0, false),
    ),
    // what is no document is an answer, not an error
  ].map((builtin) => ({ ...builtin, accepts: builtin.args.map(() => undefined) })),
];
