import type { Builtin, BuiltinTable } from "./builtin.ts";
import { define } from "./builtin.ts";
import { collectionBuiltins } from "./collections.ts";
import { coreBuiltins } from "./core.ts";
import { stringBuiltins } from "./strings.ts";

/** Handled by the compiler itself, or with a host effect. */
const special: readonly Builtin[] = [define("walk", "any -> any", () => undefined), define("print", "[any] -> any", () => true)];

/** Builtins that a policy cannot call unless its engine allows them by name. */
export const OFF_BY_DEFAULT: ReadonlySet<string> = new Set([
  "io.jwt.encode_sign",
  "io.jwt.encode_sign_raw",
  "crypto.parse_private_keys",
  "crypto.x509.parse_rsa_private_key",
  "crypto.x509.parse_keypair",
  "opa.runtime",
]);

const ALL: ReadonlyMap<string, Builtin> = new Map(
  [...special, ...coreBuiltins, ...collectionBuiltins, ...stringBuiltins].map((builtin) => [builtin.name, builtin]),
);

/** The builtins of an engine. */
export function builtinTable(options: {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly builtins?: readonly Builtin[];
}): BuiltinTable {
  const allowed = new Set(options.allow);
  const denied = new Set(options.deny);
  const table = new Map<string, Builtin>();
  for (const [name, builtin] of ALL) {
    if (!denied.has(name) && (allowed.has(name) || !OFF_BY_DEFAULT.has(name))) table.set(name, builtin);
  }
  for (const builtin of options.builtins ?? []) table.set(builtin.name, builtin);
  return table;
}
