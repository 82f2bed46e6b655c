import { asField } from "./call.ts";
import { s3Error } from "./errors.ts";
import { closedValues, everywhere, type Operation, operations, significantHeader } from "./operations.ts";

/** A request as far as its operation depends on it. Header names in lower case. */
export interface Asked {
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** It is a form. */
  readonly form?: boolean;
}

/** The request's query by name, and its headers with those that a presigned URL carries in its query. */
export interface Understood {
  readonly operation: Operation;
  readonly query: ReadonlyMap<string, string>;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/**
 * What a request asks for: the operation whose names it has all of, and the most of. Anything that is not on the operation's
 * lists is refused by its name, so that no request is ever carried out as another one. Throws `MethodNotAllowed`,
 * `NotImplemented`, `InvalidArgument` for a name given twice, for a value that the name cannot have, and for characters that no store keeps.
 */
export function findOperation(asked: Asked): Understood {
  const { method, bucket, key } = asked;
  const { query, headers } = unhoist(asked);
  const on = bucket === "" ? "service" : key === "" ? "bucket" : "object";
  const possible = operations.filter((o) => o.on === on && o.method === method && (o.form === true) === (asked.form === true));
  if (possible.length === 0) throw s3Error("MethodNotAllowed", `${method} is not for a ${on}`);
  const says = (name: string) => query.has(name) || headers[name] !== undefined;
  const operation = possible
    .filter(({ asks = [] }) => asks.every(says))
    .sort((a, b) => (b.asks?.length ?? 0) - (a.asks?.length ?? 0))[0];
  const { name = `${method} of a ${on}`, asks = [], query: names = [], headers: fields = [] } = operation ?? {};
  for (const word of query.keys())
    if (![...everywhere.query, ...names, ...asks].includes(word)) throw notImplemented("query parameter", word, name);
  for (const field of Object.keys(headers))
    if (headers[field] !== undefined && significantHeader(field) && !understands([...fields, ...asks], field))
      throw notImplemented("header", field, name);
  // Nothing unknown was said, and yet it is not enough for any operation.
  if (operation === undefined) throw s3Error("MethodNotAllowed", `${method} is not for a ${on}`);
  const repeated = query.get("x-id");
  if (repeated !== undefined && repeated !== name) throw notImplemented("operation", repeated, name);
  for (const [field, allowed] of Object.entries(closedValues)) {
    const value = query.get(field) ?? headers[field];
    if (value !== undefined && !allowed.test(value))
      throw s3Error("InvalidArgument", `${JSON.stringify(value.slice(0, 64))} is no value of ${field}`, {
        elements: { ArgumentName: field, ArgumentValue: value },
      });
  }
  return { operation, query, headers };
}

function understands(fields: readonly string[], name: string): boolean {
  if ([...everywhere.headers, ...fields].includes(name)) return true;
  return fields.some((field) => field.endsWith("*") && name.startsWith(field.slice(0, -1)));
}

function notImplemented(what: string, name: string, operation: string): Error {
  return s3Error("NotImplemented", `The ${what} ${JSON.stringify(name)} is not implemented here (${operation}).`, {
    elements: { ArgumentName: name },
  });
}

/** Signers of URLs move `x-amz-*` headers into the query; they mean there what they mean as headers. */
function unhoist({ query, headers }: Asked): Pick<Understood, "query" | "headers"> {
  const names = new Map<string, string>();
  const moved: Record<string, string> = {};
  const presigned = query.some(([name]) => name === "X-Amz-Algorithm");
  for (const [name, value] of query) {
    if (/\0|\p{Surrogate}/u.test(name + value))
      throw s3Error("InvalidArgument", `the query parameter ${JSON.stringify(name)} holds a character that is not allowed`);
    const field = name.toLowerCase();
    const said = field.startsWith("x-amz-meta-") ? asField(value) : value;
    const hoisted = presigned && field.startsWith("x-amz-") && !(everywhere.query as readonly string[]).includes(name);
    if (names.has(name) || (hoisted && (field in moved || (headers[field] ?? said) !== said)))
      throw s3Error("InvalidArgument", `${name} is given twice`);
    if (hoisted) moved[field] = said;
    else names.set(name, value);
  }
  return { query: names, headers: { ...headers, ...moved } };
}
