import type { Route } from "./route.ts";
import type { WireResponse } from "./wire.ts";

/** A response in one piece, as it is kept for replay. */
export interface StoredResponse extends WireResponse {
  readonly body: Uint8Array;
  /** Shows a secret: that it was given is remembered, the answer itself is not. */
  readonly secret?: boolean;
}

/** Whose request it is and what it asked. */
export interface IdempotentRequest {
  readonly principal: string;
  readonly routeId: string;
  /** The `Idempotency-Key` header. */
  readonly key: string;
  /** Path and body as received: another request under the same key is a mistake of the caller. */
  readonly path: string;
  readonly body: Uint8Array;
  readonly now: number;
}

/**
 * Remembers answers by `Idempotency-Key`, per principal and route.
 *
 * Laws:
 * - one key, one work: of any number of equal requests, at once or later, on one process or several, one runs `work`; a later
 *   one with equal path and body gets the same answer.
 * - another path or body under the key throws `idempotency_mismatch`; one still running, or lost with its process, throws
 *   `idempotency_conflict`.
 * - a failure of ours (5xx, or `work` throws) is forgotten, so that the caller may retry.
 * - a failure that leaves open whether `work` was done (`outcome_unknown`) keeps the key taken.
 * - a `secret` answer is not kept: a later request throws `reply_not_kept`. Others are kept sealed.
 */
export interface Idempotency {
  run(request: IdempotentRequest, work: () => Promise<StoredResponse>): Promise<StoredResponse>;
}

/**
 * Whether a service that keeps answers by `Idempotency-Key` keeps those of a route. A file is made anew at each call: it may be longer than what is kept, and making
 * it changes nothing. Whose request it is must be known.
 */
export function keepsAnswers({ method, auth, produces, streamed, safe }: Route): boolean {
  return method === "POST" && auth !== "public" && produces === undefined && streamed !== true && safe !== true;
}
