import { schedulerCodes } from "@seneschal/contract/scheduler";
import { CodedError, isCoded, type JsonObject } from "@seneschal/kernel";
import { receiptOf } from "@seneschal/quota";
import type { SchedulerServices } from "./services.ts";
import { type Asked, stamp } from "./stamp.ts";

/** What is kept of a request whose work is no command of the quotas. */
type Kept =
  | { readonly kind: "answered"; readonly answer: JsonObject }
  /** A refusal is an answer too. */
  | { readonly kind: "refused"; readonly code: string; readonly message: string; readonly details: JsonObject }
  /** It failed here: the key is free again. */
  | { readonly kind: "released" };

/** So often a key may be released and taken again. */
const ATTEMPTS = 12;
/** Characters of an answer that is kept: it is part of the replicated state. */
const MAX_ANSWER = 65_536;

/**
 * Work that is no command of the quotas, done once for an `Idempotency-Key`, in whatever process and also after a restart: the key is taken in
 * the log before the work begins, and its answer kept there behind it. Without a key it is done. Throws `idempotency_mismatch` for another
 * request under the key, `idempotency_conflict` while the first one runs or where nobody knows whether it was done, and what `work` throws.
 */
export async function once<T extends object>(
  { quotas, random }: Pick<SchedulerServices, "quotas" | "random">,
  operation: string,
  input: Asked,
  work: () => Promise<T>,
): Promise<T> {
  const envelope = stamp(random, operation, input);
  if (envelope.digest === undefined) return work();
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const id = attempt === 0 ? envelope.id : `${envelope.id}:${attempt}`;
    const taker = Buffer.from(random(16)).toString("hex");
    const holder = await quotas.propose({ kind: "answer.keep", ...envelope, id, answer: { taker } });
    const answerId = `${id}:answer`;
    if (holder["taker"] === taker) {
      const keep = async (kept: Kept): Promise<void> => {
        await quotas.propose({ kind: "answer.keep", id: answerId, by: envelope.by, answer: kept as unknown as JsonObject });
      };
      return first(work, keep);
    }
    const receipt = receiptOf(await quotas.read(), answerId);
    const kept = receipt !== undefined && "result" in receipt ? (receipt.result as unknown as Kept) : undefined;
    if (kept?.kind === "answered") return kept.answer as T;
    if (kept?.kind === "refused") throw new CodedError(kept.code, kept.message, kept.details);
    if (kept === undefined)
      throw new CodedError(
        "idempotency_conflict",
        "a request with this idempotency key is still running, or its answer was not kept",
      );
  }
  throw new CodedError("idempotency_conflict", "requests with this idempotency key fail too often: take another");
}

/** Does the work and keeps what it came to. Where that cannot be kept the caller has the answer all the same, and a repeat is a conflict. */
async function first<T extends object>(work: () => Promise<T>, keep: (kept: Kept) => Promise<void>): Promise<T> {
  let answer: T;
  try {
    answer = await work();
  } catch (error) {
    // Who does not know whether it was done leaves the key taken: done twice is worse than refused.
    if (!isCoded(error, "outcome_unknown")) await keep(failureOf(error)).catch(() => undefined);
    throw error;
  }
  if (JSON.stringify(answer).length <= MAX_ANSWER)
    await keep({ kind: "answered", answer: { ...answer } as JsonObject }).catch(() => undefined);
  return answer;
}

function failureOf(error: unknown): Kept {
  const statuses: Readonly<Record<string, number>> = schedulerCodes;
  if (!isCoded(error) || (statuses[error.code] ?? 500) >= 500) return { kind: "released" };
  const { code, message, details } = error;
  return { kind: "refused", code, message, details: { ...details } as JsonObject };
}
