import { CodedError, checkArgument } from "@seneschal/kernel";
import type { QuotaErrorCode } from "../errors.ts";
import type { Allocation } from "../state/allocation.ts";

/** The nine terms of the cost function (quota brief, section 10). */
export const TERMS = [
  "priority",
  "wait",
  "fairShare",
  "topology",
  "data",
  "backlog",
  "energy",
  "checkpoint",
  "conformance",
] as const;
export type Term = (typeof TERMS)[number];

/** One weight per term; they sum to 1. */
export type Weights = Readonly<Record<Term, number>>;

const weights = (...w: readonly number[]): Weights => Object.fromEntries(TERMS.map((term, i) => [term, w[i] ?? 0])) as Weights;

/** Ready-made weights. A virtual cluster named like a profile uses it unless configured otherwise. */
export const PROFILES = {
  default: weights(0.2, 0.2, 0.2, 0.15, 0.1, 0.05, 0, 0, 0.1),
  hpc: weights(0.15, 0.2, 0.2, 0.15, 0.1, 0.05, 0, 0.05, 0.1),
  ml: weights(0.1, 0.1, 0.1, 0.25, 0.15, 0.05, 0.05, 0.1, 0.1),
  service: weights(0.15, 0.05, 0.1, 0.05, 0.1, 0.05, 0.1, 0.1, 0.3),
  interactive: weights(0.1, 0.3, 0.1, 0, 0.05, 0.15, 0, 0, 0.3),
  sensitive: weights(0.9, 0, 0, 0, 0, 0, 0, 0, 0.1),
} satisfies Record<string, Weights>;

/** Throws `invalid_weights` unless every weight is in 0..1 and they sum to 1. */
export function checkWeights(name: string, given: Weights): void {
  checkArgument("name", name, "string");
  checkArgument("given", given, "object");
  const sum = TERMS.reduce((total, term) => total + given[term], 0);
  const inRange = TERMS.every((term) => given[term] >= 0 && given[term] <= 1);
  if (!inRange || Math.abs(sum - 1) > 1e-9)
    throw new CodedError<QuotaErrorCode>("invalid_weights", `weights of ${name} must be in 0..1 and sum to 1`, { name, sum });
}

/** What a term counts when its input is not known. */
export const UNKNOWN = 0.5;

/** A score and how it came about: sum of weight x value, times the budget penalty. */
export interface Score {
  readonly score: number;
  readonly penalty: number;
  readonly terms: Readonly<Record<Term, { readonly weight: number; readonly value: number }>>;
}

/** Higher runs first. */
export function scoreOf(values: Readonly<Record<Term, number>>, by: Weights, penalty: number): Score {
  let sum = 0;
  const terms = {} as Record<Term, { weight: number; value: number }>;
  for (const term of TERMS) {
    terms[term] = { weight: by[term], value: values[term] };
    sum += by[term] * values[term];
  }
  return { score: sum * penalty, penalty, terms };
}

/** Ageing, unbounded on purpose: nothing waits for ever. */
export function waitTerm(createdAt: number, now: number): number {
  return Math.log(1 + Math.max(0, now - createdAt) / 1000 / 3600);
}

/** Cheap energy counts more: 1 at the least price of the cluster, 0 at the greatest; unknown where prices tell nothing. */
export function energyTerm(price: number | undefined, prices: { readonly least: number; readonly greatest: number }): number {
  if (price === undefined || prices.greatest <= prices.least) return UNKNOWN;
  return 1 - (price - prices.least) / (prices.greatest - prices.least);
}

export function backlogTerm(queued: number, running: number): number {
  if (running === 0) return queued > 0 ? 1 : 0;
  return Math.min(1, queued / running);
}

const CHECKPOINT: Readonly<Record<Allocation["checkpoint"], number>> = { auto: 1 / 6, manual: 1 / 11, none: 0 };

export function checkpointTerm(checkpoint: Allocation["checkpoint"]): number {
  return CHECKPOINT[checkpoint];
}
