import type { OwnerCosts } from "./owner-costs.ts";

/**
 * Whether an owner may have work on a thread, by whose work that one and the others have in hand: an owner may be on all of `workers` but one,
 * and owners who cost much may together be on all but one; whoever is on the thread already may have more there.
 */
export function leavesOne(
  owner: string,
  here: readonly string[],
  others: readonly (readonly string[])[],
  workers: number,
  costs: Pick<OwnerCosts, "isDear">,
): boolean {
  if (workers < 2) return true;
  const among = (other: string): boolean => other === owner || (costs.isDear(owner) && costs.isDear(other));
  return here.some(among) || others.filter((owners) => owners.some(among)).length < workers - 1;
}
