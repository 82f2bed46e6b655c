import { checkArgument } from "@seneschal/kernel";
import { refusal } from "./codes.ts";
import { lifetimes } from "./lifetimes.ts";
import { isPast, type Timestamp, timestamp } from "./time.ts";

/** A person's second factor. The secret itself is sealed elsewhere. */
export interface Mfa {
  /** Counts only after the first verified code. */
  readonly verified: boolean;
  /** The newest time step that was accepted: it and older ones are refused from then on. */
  readonly last_step: number;
  readonly failures: number;
  readonly locked_until: Timestamp | null;
}

/** Failures in a row that lock the factor. */
export const mfaFailureLimit = 5;

export const freshMfa: Mfa = { verified: false, last_step: -1, failures: 0, locked_until: null };

/**
 * Judges a code. `matchedStep` is the TOTP time step (RFC 6238) that the code fits, if any. A replayed step counts as a
 * failure; five failures lock for a while.
 *
 * @example
 * ```ts
 * import { freshMfa, verifyMfa } from "@seneschal/core/keys";
 * const { mfa, accepted } = verifyMfa(freshMfa, 1000, 30_000_000);
 * console.log(accepted, verifyMfa(mfa, 1000, 30_000_000).accepted); // true false
 * ```
 */
export function verifyMfa(
  mfa: Mfa,
  matchedStep: number | undefined,
  now: number,
): { readonly mfa: Mfa; readonly accepted: boolean } {
  checkArgument("mfa", mfa, "object");
  checkArgument("now", now, "number");
  if (mfa.locked_until !== null && !isPast(mfa.locked_until, now)) {
    throw refusal("RATE_LIMITED", "too many wrong codes: locked for a while", {
      locked_until: mfa.locked_until,
      retry_after: Math.ceil((Date.parse(mfa.locked_until) - now) / 1000),
    });
  }
  if (matchedStep !== undefined && matchedStep > mfa.last_step) {
    return { mfa: { verified: true, last_step: matchedStep, failures: 0, locked_until: null }, accepted: true };
  }
  const failures = mfa.failures + 1;
  const locked = failures >= mfaFailureLimit;
  return {
    mfa: {
      ...mfa,
      failures: locked ? 0 : failures,
      locked_until: locked ? timestamp(now + lifetimes.mfaLock) : null,
    },
    accepted: false,
  };
}

/** A factor with what recovers it: the hashes of the codes that are left. */
export interface Factor extends Mfa {
  readonly recovery_hashes: readonly string[];
}

/**
 * Judges a code of either kind: `hash` is that of the code as a recovery code, `step` the time step that it fits. A recovery code is good once, for a factor
 * that is on, and does not move the steps; `turnedOn`: this is the first code, so that the factor gets its recovery codes now. Throws as {@link verifyMfa}.
 *
 * @example
 * ```ts
 * import { freshMfa, judgeFactor } from "@seneschal/core/keys";
 * const factor = { ...freshMfa, recovery_hashes: ["ab"] };
 * const judged = judgeFactor(factor, { hash: "00", step: 1000 }, 30_000_000);
 * console.log(judged.accepted, judged.turnedOn); // true true
 * ```
 */
export function judgeFactor<F extends Factor>(
  factor: F,
  code: { readonly hash: string; readonly step: number | undefined },
  now: number,
): { readonly factor: F; readonly accepted: boolean; readonly turnedOn: boolean } {
  checkArgument("factor", factor, "object");
  checkArgument("code", code, "object");
  checkArgument("now", now, "number");
  const recovers = factor.verified && factor.recovery_hashes.includes(code.hash);
  const { mfa, accepted } = verifyMfa(factor, recovers ? factor.last_step + 1 : code.step, now);
  const judged = { ...factor, ...mfa, recovery_hashes: factor.recovery_hashes };
  if (!recovers) return { factor: judged, accepted, turnedOn: accepted && !factor.verified };
  const recovery_hashes = factor.recovery_hashes.filter((known) => known !== code.hash);
  return { factor: { ...judged, last_step: factor.last_step, recovery_hashes }, accepted, turnedOn: false };
}
