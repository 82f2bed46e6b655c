import { isCoded } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { base64 } from "../bytes.ts";
import { openPackage } from "./ceremony-package.ts";
import { holds } from "./dealing.ts";
import { sealedFor, type TranscriptView, transportKey } from "./transcript-view.ts";

/**
 * The value that seat `from` sealed to seat `to`, opened with the secret of `to`'s transport key; `undefined` when it does not open or
 * its value is not what was committed to. The receiver and everybody who checks its complaint ask this one function.
 */
export function dealtValue(
  provider: CryptoProvider,
  view: TranscriptView,
  from: number,
  to: number,
  transportSecret: Uint8Array,
): Uint8Array | undefined {
  const sent = sealedFor(view, from, to);
  const { ceremony, round } = view;
  if (sent === undefined || round === undefined) return undefined;
  try {
    const value = openPackage(provider, { ceremony, from, to, transcript: round }, transportSecret, sent.sealed);
    return value.length === 32 && holds(view, from, to, value) ? value : undefined;
  } catch (error) {
    // Nothing else: a machine that failed is no evidence against the dealer.
    if (isCoded(error, "decryption_failed")) return undefined;
    throw error;
  }
}

/** Whether a complaint of seat `by` shows that what seat `against` sealed to it does not hold. */
export function complaintHolds(
  provider: CryptoProvider,
  view: TranscriptView,
  complaint: { readonly by: number; readonly against: number; readonly transportSecret: Uint8Array },
): boolean {
  const { by, against, transportSecret } = complaint;
  // The secret must be that of the key to which the package was sealed: with another nothing opens, whoever sealed it.
  if (base64(provider.x25519PublicKey(transportSecret)) !== transportKey(view, against, by)) return false;
  return dealtValue(provider, view, against, by, transportSecret) === undefined;
}
