import { checkArgument, isCoded } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";

/** So many of the newest changes a service keeps: a process that was stopped for longer reads the documents anew. */
const KEPT_CHANGES = 1_000_000;

/** The newest change: they are dense, so that doubling and halving finds it. */
export async function newestChange(store: DocumentStore): Promise<number> {
  checkArgument("store", store, "object");
  const isThere = async (seq: number): Promise<boolean> => {
    try {
      return (await store.changes(seq - 1, 1)).length > 0;
    } catch (error) {
      // It was there: the newest is never forgotten.
      if (isCoded(error, "changes_compacted")) return true;
      throw error;
    }
  };
  let [there, not] = [0, 1];
  for (; await isThere(not); not *= 2) there = not;
  while (not - there > 1) {
    const middle = there + Math.floor((not - there) / 2);
    if (await isThere(middle)) there = middle;
    else not = middle;
  }
  return there;
}

/** Forgets changes but for the newest, and but for those behind `heard`, which somebody still follows from. */
export async function forgetChanges(
  store: DocumentStore,
  given: { readonly keep?: number; readonly heard?: number } = {},
): Promise<void> {
  checkArgument("store", store, "object");
  const { keep = KEPT_CHANGES, heard = Number.MAX_SAFE_INTEGER } = given;
  const changes = Math.min((await newestChange(store)) - keep, heard);
  if (changes > 0) await store.compact({ changes });
}
