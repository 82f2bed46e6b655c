/** The factor that an exhausted budget leaves: work still starts on an idle cluster. */
export const PENALTY_FLOOR = 0.05;

/**
 * The factor on a score for a budget that is used to the fraction `u`: 1 up to 80 %, then a cosine down to its floor at
 * 100 %. Continuous and non-increasing (specification B, limits 2; quota brief, section 8).
 *
 * @example
 * ```ts
 * import { budgetPenalty } from "@seneschal/quota";
 * console.log(budgetPenalty(0.9).toFixed(3)); // 0.525
 * ```
 */
export function budgetPenalty(u: number): number {
  if (u <= 0.8) return 1;
  if (u >= 1) return PENALTY_FLOOR;
  const fall = (1 + Math.cos((Math.PI * (u - 0.8)) / 0.2)) / 2;
  return Math.min(1, Math.max(PENALTY_FLOOR, PENALTY_FLOOR + (1 - PENALTY_FLOOR) * fall));
}
