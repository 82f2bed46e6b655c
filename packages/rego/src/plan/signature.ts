import type { Builtin } from "../builtins/builtin.ts";

/** The types of a builtin as a text. */
export function signatureOf({ args, result }: Builtin): string {
  return JSON.stringify([args, result]);
}
