import { checkArgument } from "@seneschal/kernel";

/** Operators who unseal a vault together: begun by the first share, over when it opens, when a wrong share comes, or after {@link UNSEAL_ATTEMPT_MS}. */
export interface UnsealAttempt {
  /** Whoever gives a share names it: shares of different attempts never count together. */
  readonly nonce: string;
  readonly startedAt: number;
  /** Of the shares that came. Shown to nobody: progress is their number. */
  readonly indexes: readonly number[];
}

/** What a share was found to be. `foreign`: none of this seal (of an older one, of another vault, not a share at all). */
export type ShareVerdict = "right" | "wrong" | "foreign";

/** One share, as it is given. */
export interface GivenShare {
  /** Of the attempt that it is for; none begins one. */
  readonly nonce: string | undefined;
  /** 0 for what is not a share. */
  readonly index: number;
  readonly verdict: ShareVerdict;
}

/** What became of a share. `attempt` is the one under way from then on. */
export type ShareGiven =
  /** To be kept with those before it. */
  | { readonly result: "kept"; readonly attempt: UnsealAttempt }
  /** It was here already: nothing changes, so that whoever got no answer may ask again. */
  | { readonly result: "repeated"; readonly attempt: UnsealAttempt }
  /** With those before it, it opens the vault; the attempt is over. */
  | { readonly result: "complete"; readonly attempt: undefined }
  | {
      readonly result: "refused";
      readonly reason: "other_attempt" | "foreign" | "wrong";
      readonly attempt: UnsealAttempt | undefined;
    };

/** How long shares are kept for the others to come. */
export const UNSEAL_ATTEMPT_MS = 3_600_000;

/**
 * The attempt that is still under way.
 *
 * @example
 * ```ts
 * import { attemptAt } from "@seneschal/core/keys";
 * const attempt = { nonce: "n", startedAt: 0, indexes: [1] };
 * console.log(attemptAt(attempt, 1)?.indexes, attemptAt(attempt, 86_400_000)); // [ 1 ] undefined
 * ```
 */
export function attemptAt(attempt: UnsealAttempt | undefined, now: number): UnsealAttempt | undefined {
  checkArgument("now", now, "number");
  return attempt !== undefined && now - attempt.startedAt < UNSEAL_ATTEMPT_MS ? attempt : undefined;
}

/**
 * Judges a share that an operator gives. A wrong one of this seal ends the attempt, and what came before counts no more. What is none of
 * this seal is refused and costs nothing: it shows nobody to be an operator, and a stranger could keep the vault sealed by it.
 *
 * @example
 * ```ts
 * import { giveShare } from "@seneschal/core/keys";
 * const first = giveShare(undefined, { nonce: undefined, index: 3, verdict: "right" }, { threshold: 2, nonce: "a1", now: 0 });
 * const second = giveShare(first.attempt, { nonce: "a1", index: 1, verdict: "right" }, { threshold: 2, nonce: "b2", now: 5 });
 * console.log(first.result, second.result); // kept complete
 * ```
 */
export function giveShare(
  known: UnsealAttempt | undefined,
  share: GivenShare,
  /** `nonce`: of the attempt that this share may begin. */
  facts: { readonly threshold: number; readonly nonce: string; readonly now: number },
): ShareGiven {
  checkArgument("share", share, "object");
  checkArgument("facts", facts, "object");
  const { nonce, index, verdict } = share;
  const attempt = attemptAt(known, facts.now);
  if (nonce !== attempt?.nonce) return { result: "refused", reason: "other_attempt", attempt };
  if (verdict === "foreign") return { result: "refused", reason: "foreign", attempt };
  if (verdict === "wrong") return { result: "refused", reason: "wrong", attempt: undefined };
  if (attempt?.indexes.includes(index) === true) return { result: "repeated", attempt };
  const indexes = [...(attempt?.indexes ?? []), index];
  if (indexes.length >= facts.threshold) return { result: "complete", attempt: undefined };
  return {
    result: "kept",
    attempt: attempt === undefined ? { nonce: facts.nonce, startedAt: facts.now, indexes } : { ...attempt, indexes },
  };
}
