import type { Builtin, BuiltinTable } from "./builtin.ts";
import { deprecatedBuiltins } from "./deprecated.ts";
import * as onLibraries from "./on-libraries.ts";
import { guarded } from "./own.ts";
import * as plain from "./plain.ts";

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
  [...Object.values(plain), ...Object.values(onLibraries)]
    .filter((group) => group !== deprecatedBuiltins)
    .flat()
    .map((builtin) => [builtin.name, builtin]),
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
