import { isCoded } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { base64, fromBase64 } from "../bytes.ts";
import { onPolynomial } from "../threshold/on-polynomial.ts";
import { openPackage } from "./ceremony-package.ts";
import { packageFor, type TranscriptView } from "./transcript-view.ts";

/**
 * The value that seat `from` dealt to seat `to`, opened with the secret of `to`'s transport key; `undefined` when the package does not
 * open or its value is not on the committed polynomial. The receiver and everybody who checks its complaint ask this one function.
 */
export function dealtValue(
  provider: CryptoProvider,
  view: TranscriptView,
  from: number,
  to: number,
  transportSecret: Uint8Array,
): Uint8Array | undefined {
  const sealed = packageFor(view, from, to);
  const { ceremony, round } = view;
  if (sealed === undefined || round === undefined) return undefined;
  try {
    const value = openPackage(provider, { ceremony, from, to, transcript: round }, transportSecret, sealed);
    const commitments = view.committed.get(from)?.commitments.map(fromBase64) ?? [];
    return value.length === 32 && onPolynomial(commitments, to, value) ? value : undefined;
  } catch (error) {
    // Nothing else: a machine that failed is no evidence against the dealer.
    if (isCoded(error, "decryption_failed")) return undefined;
    throw error;
  }
}

/** Whether a complaint of seat `by` shows that the package of seat `against` does not hold. */
export function complaintHolds(
  provider: CryptoProvider,
  view: TranscriptView,
  complaint: { readonly by: number; readonly against: number; readonly transportSecret: Uint8Array },
): boolean {
  const { by, against, transportSecret } = complaint;
  // The secret must be that of the key to which the package was sealed: with another nothing opens, whoever sealed it.
  if (base64(provider.x25519PublicKey(transportSecret)) !== view.joined.get(by)) return false;
  return dealtValue(provider, view, against, by, transportSecret) === undefined;
}
