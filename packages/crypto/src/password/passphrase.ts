import { checkArgument } from "@seneschal/kernel";
import { cryptoError } from "../errors.ts";

const LEAST = 12;
const DIFFERENT = 5;

/** The rule, for whoever asks for a passphrase. */
export const PASSPHRASE_RULE = `a passphrase has at least ${LEAST} characters, ${DIFFERENT} of them different`;

/**
 * Refuses a passphrase that guards a file for good, where nothing slows down who guesses but its own cost: characters are the code points of its
 * NFKC form, as it is stretched. Throws `crypto_invalid` with `PASSPHRASE_RULE`. What was sealed before is opened by any.
 *
 * @example
 * ```ts
 * import { assertPassphrase } from "@seneschal/crypto";
 * assertPassphrase("correct horse");
 * ```
 */
export function assertPassphrase(passphrase: string): void {
  checkArgument("passphrase", passphrase, "string");
  const characters = [...passphrase.normalize("NFKC")];
  if (characters.length < LEAST || new Set(characters).size < DIFFERENT) throw cryptoError("crypto_invalid", PASSPHRASE_RULE);
}
