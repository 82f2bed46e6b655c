import { BuiltinError } from "../errors.ts";
import { termText } from "../value/format.ts";
import { getKey, isObject, RegoSet, sortedKeys, type Value } from "../value/value.ts";
import type { Builtin, BuiltinTable } from "./builtin.ts";
import { define } from "./builtin.ts";
import { collectionBuiltins } from "./collections.ts";
import { coreBuiltins } from "./core.ts";
import { jwtBuiltins } from "./crypto/jwt.ts";
import { x509Builtins } from "./crypto/x509.ts";
import { documentBuiltins } from "./documents.ts";
import { encodingBuiltins } from "./encoding.ts";
import { globBuiltins } from "./glob.ts";
import { hashBuiltins } from "./hashes.ts";
import { schemaBuiltins } from "./json-schema.ts";
import { miscBuiltins } from "./misc.ts";
import { networkBuiltins } from "./network.ts";
import { regexBuiltins } from "./regex.ts";
import { stringBuiltins } from "./strings.ts";
import { timeBuiltins } from "./time.ts";

const HTTP_PARAMETERS: ReadonlySet<string> = new Set(
  (
    "method url body enable_redirect force_json_decode force_yaml_decode headers raw_body tls_use_system_certs " +
    "tls_ca_cert tls_ca_cert_file tls_ca_cert_env_variable tls_client_cert tls_client_cert_file " +
    "tls_client_cert_env_variable tls_client_key tls_client_key_file tls_client_key_env_variable " +
    "tls_insecure_skip_verify tls_server_name timeout cache force_cache force_cache_duration_seconds raise_error " +
    "caching_mode max_retry_attempts cache_ignored_headers"
  ).split(" "),
);

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
  define("opa.runtime", "-> {string: any}", () => ({})),
  define("http.send", "{string: any} -> {any: any}", ([request]) => {
    const object = request as Value;
    const keys = isObject(object) ? sortedKeys(object) : [];
    const list = (names: readonly Value[]): string => termText(RegoSet.of(names));
    const unknown = keys.filter((key) => typeof key !== "string" || !HTTP_PARAMETERS.has(key));
    if (unknown.length > 0)
      throw new BuiltinError(`operand 1 invalid request parameters(s): ${list(unknown)}`, "eval_type_error");
    const missing = ["method", "url"].filter((key) => !isObject(object) || getKey(object, key) === undefined);
    if (missing.length > 0) {
      throw new BuiltinError(`operand 1 missing required request parameters(s): ${list(missing)}`, "eval_type_error");
    }
    throw new BuiltinError("the engine does no I/O");
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
    ...documentBuiltins,
    ...encodingBuiltins,
    ...regexBuiltins,
    ...globBuiltins,
    ...timeBuiltins,
    ...networkBuiltins,
    ...hashBuiltins,
    ...schemaBuiltins,
    ...jwtBuiltins,
    ...x509Builtins,
    ...miscBuiltins,
  ].map((builtin) => [builtin.name, builtin]),
);

/** The names of all builtins this engine has, those off by default included. */
export const builtinNames: readonly string[] = [...ALL.keys()].sort();

let usual: BuiltinTable | undefined;

/** The builtins of an engine. */
export function builtinTable(options: {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly builtins?: readonly Builtin[];
}): BuiltinTable {
  const isUsual = options.allow === undefined && options.deny === undefined && options.builtins === undefined;
  if (isUsual && usual !== undefined) return usual;
  const allowed = new Set(options.allow);
  const denied = new Set(options.deny);
  const table = new Map<string, Builtin>();
  for (const [name, builtin] of ALL) {
    if (!denied.has(name) && (allowed.has(name) || !OFF_BY_DEFAULT.has(name))) table.set(name, builtin);
  }
  for (const builtin of options.builtins ?? []) table.set(builtin.name, builtin);
  if (isUsual) usual = table;
  return table;
}
