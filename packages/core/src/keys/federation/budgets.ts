import { checkArgument } from "@seneschal/kernel";
import { refusal } from "../codes.ts";
import type { Message } from "../message/step.ts";

/** What a partner has had us keep, that nobody here asked for or has looked at yet; or how much of it there may be. */
export interface PartnerUse {
  /** Invitations that wait for an answer. */
  readonly offers: number;
  /** All workspaces of the partner that are known here, offered ones too. */
  readonly workspaces: number;
  /** Of messages that were not read, rounded up. */
  readonly message_bytes: number;
}

/** When it is worth trying again: somebody must answer or read first. */
const RETRY_SECONDS = 900;

/**
 * Throws `RATE_LIMITED` for the first budget that is used up, of those that `use` speaks of.
 *
 * @example
 * ```ts
 * import { requireWithinBudgets } from "@seneschal/core/keys";
 * const budgets = { offers: 2, workspaces: 10, message_bytes: 1 << 20 };
 * requireWithinBudgets({ offers: 1, workspaces: 3 }, budgets); // there is room for one more
 * ```
 */
export function requireWithinBudgets(use: Partial<PartnerUse>, budgets: PartnerUse): void {
  checkArgument("use", use, "object");
  checkArgument("budgets", budgets, "object");
  for (const budget of ["offers", "workspaces", "message_bytes"] as const) {
    const limit = budgets[budget];
    if (!((use[budget] ?? Number.NEGATIVE_INFINITY) >= limit)) continue;
    const details = { budget, limit, retry_after: RETRY_SECONDS };
    throw refusal("RATE_LIMITED", `the partner's budget of ${budget.replace("_", " ")} is used up`, details);
  }
}

/** The sizes by which messages that wait are counted, in bytes, ascending: each counts as the smallest that holds it. The last holds any. */
export const countedSizes: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128].map((kib) => kib << 10);

/** What a message that waits counts as: one of {@link countedSizes}. */
export function countedSize(message: Pick<Message, "body" | "subject">): number {
  checkArgument("message", message, "object");
  const { body, subject } = message;
  return countedSizes.find((bytes) => body.length + subject.length <= bytes) ?? (countedSizes.at(-1) as number);
}
