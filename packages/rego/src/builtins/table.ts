import { EvaluationError } from "../errors.ts";
import { termText } from "../value/format.ts";
import type { RegoSet, Value } from "../value/value.ts";
import { awsBuiltins } from "./aws.ts";
import type { Builtin, BuiltinTable } from "./builtin.ts";
import { define } from "./builtin.ts";
import { collectionBuiltins } from "./collections.ts";
import { coreBuiltins } from "./core.ts";
import { jwtBuiltins } from "./crypto/jwt.ts";
import { x509Builtins } from "./crypto/x509.ts";
import { deprecatedBuiltins } from "./deprecated.ts";
import { documentBuiltins } from "./documents.ts";
import { encodingBuiltins } from "./encoding.ts";
import { globBuiltins } from "./glob.ts";
import { graphqlBuiltins } from "./graphql.ts";
import { hashBuiltins } from "./hashes.ts";
import { checkRequest } from "./http-request.ts";
import { schemaBuiltins } from "./json-schema.ts";
import { miscBuiltins } from "./misc.ts";
import { networkBuiltins } from "./network.ts";
import { guarded } from "./own.ts";
import { regexBuiltins } from "./regex.ts";
import { stringBuiltins } from "./strings.ts";
import { templateBuiltins } from "./template.ts";
import { timeBuiltins } from "./time.ts";

/** Handled by the compiler itself, or here only to be replaced by `with`. */
const specialBuiltins: readonly Builtin[] = [
  define("walk", "any -> [[any], any]", () => undefined),
  define("print", "[any] -> boolean", ([parts], context) => {
    if (context.print === undefined) return true;
    let lines: readonly string[] = [""];
    (parts as readonly RegoSet[]).forEach((part, i) => {
      const texts = part.sorted().map((v) => (typeof v === "string" ? v : termText(v)));
      const choices = texts.length === 0 ? ["<undefined>"] : texts;
      lines = lines.flatMap((line) => choices.map((text) => (i === 0 ? text : `${line} ${text}`)));
    });
    for (const line of lines) context.print(line);
    return true;
  }),
  define("internal.test_case", "[any] -> boolean", ([keys], context) => {
    context.testCase?.(keys as Value);
    return true;
  }),
  define("opa.runtime", "-> {string: any}", () => ({})),
  define("http.send", "{string: any} -> {any: any}", ([request]) => {
    checkRequest(request as Value);
    throw new EvaluationError("eval_builtin_error", "http.send: the engine does no I/O");
  }),
];

/** Builtins that a policy cannot call unless its engine allows them by name. */
export const OFF_BY_DEFAULT: ReadonlySet<string> = new Set([
  "http.send",
  "io.jwt.encode_sign",
  "io.jwt.encode_sign_raw",
  "crypto.parse_private_keys",
  "crypto.x509.parse_rsa_private_key",
  "crypto.x509.parse_keypair",
  "opa.runtime",
]);

const ALL: ReadonlyMap<string, Builtin> = new Map(
  [
    ...specialBuiltins,
    ...coreBuiltins,
    ...collectionBuiltins,
    ...stringBuiltins,
    ...templateBuiltins,
    ...documentBuiltins,
    ...encodingBuiltins,
    ...regexBuiltins,
    ...globBuiltins,
    ...timeBuiltins,
    ...networkBuiltins,
    ...hashBuiltins,
    ...schemaBuiltins,
    ...graphqlBuiltins,
    ...jwtBuiltins,
    ...x509Builtins,
    ...awsBuiltins,
    ...miscBuiltins,
  ].map((builtin) => [builtin.name, builtin]),
);

/** The names of all builtins this engine has, those off by default included. */
export const builtinNames: readonly string[] = [...ALL.keys()].sort();

let usual: BuiltinTable | undefined;

/** Which builtins an engine has. */
export interface TableOptions {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly builtins?: readonly Builtin[];
  readonly capabilities?: { readonly builtins: ReadonlySet<string> };
}

/** The builtins of an engine. */
export function builtinTable(options: TableOptions): BuiltinTable {
  const { allow, deny, builtins, capabilities } = options;
  const isUsual = allow === undefined && deny === undefined && builtins === undefined && capabilities === undefined;
  if (isUsual && usual !== undefined) return usual;
  const allowed = new Set(allow);
  const denied = new Set(deny);
  const listed = (name: string): boolean =>
    capabilities === undefined ? !OFF_BY_DEFAULT.has(name) : capabilities.builtins.has(name) || name === "internal.test_case";
  const table = new Map<string, Builtin>();
  for (const [name, builtin] of ALL) {
    if (!denied.has(name) && (allowed.has(name) || listed(name))) table.set(name, builtin);
  }
  const declared = new Set<string>();
  for (const builtin of builtins ?? []) {
    if (declared.has(builtin.name)) throw new TypeError(`builtins: ${builtin.name} is declared twice`);
    declared.add(builtin.name);
    table.set(builtin.name, guarded(builtin));
  }
  if (isUsual) usual = table;
  return table;
}

/** The same with what v0 may still call, unless it is denied, not listed, or there is an own builtin of that name. */
export function withDeprecated(table: BuiltinTable, { deny = [], capabilities }: TableOptions): BuiltinTable {
  const listed = deprecatedBuiltins.filter(({ name }) => capabilities?.builtins.has(name) ?? true);
  const all = new Map(listed.map((builtin) => [builtin.name, builtin]));
  for (const name of deny) all.delete(name);
  for (const [name, builtin] of table) all.set(name, builtin);
  return all;
}
