/** What still tells readings of one value apart when check digits, context and country do not. */
export interface Reading {
  /** How often the entity is meant when rules cannot decide, 0..1. */
  readonly prior: number;
  /** How much the form alone says, 0..1; 0 for all that have a right check digit. */
  readonly form: number;
}

/**
 * Weights as logarithms of odds: a multinomial logistic regression on generated identifiers of 64 kinds that can be read in several ways (bare, beside
 * their names, beside a word that does for many such as `passport`, under a hint at their country).
 * `npm run conformance -- --only classification/generated-odds` measures accuracy and calibration on others.
 */
const WEIGHTS = { prior: 2.32, form: 2.7 };

/** Readings less likely than this are left out. */
export const TOLD_FROM = 0.1;
/** Readings so likely count with the one that a value is called by. */
export const COUNTS_FROM = 0.25;

/** How likely each reading of one value is, given that one of them is right. The sum is 1. */
export function oddsOf(readings: readonly Reading[]): readonly number[] {
  const weights = readings.map(({ prior, form }) => Math.exp(WEIGHTS.prior * logit(prior) + WEIGHTS.form * logit(form)));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}

function logit(p: number): number {
  const inside = Math.min(0.99, Math.max(0.01, p));
  return Math.log(inside / (1 - inside));
}
