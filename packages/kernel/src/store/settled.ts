import { isCoded } from "../errors.ts";
import type { Commit, CommitResult, DocumentStore } from "../ports/document-store.ts";

const known = new WeakSet<DocumentStore>();

/** So often a commit is sent before its outcome is said to be unknown. */
const attempts = 3;

/**
 * A store whose unknown outcomes are asked for again: a commit that may have been applied is repeated under its id until the store
 * answers it. What stays open is thrown as `outcome_unknown`, whatever the repeats met: one that never reached the store says
 * nothing about the first. Who catches it must undo nothing and promise nothing.
 *
 * @example
 * ```ts
 * import { settled } from "@seneschal/kernel/store";
 * import { openMemoryStore } from "@seneschal/adapters/memory";
 * const store = settled(openMemoryStore({ collections: { notes: { indexes: {} } } }));
 * console.log((await store.commit({ commitId: "c1", puts: [{ coll: "notes", id: "n1", doc: {} }] })).ok); // true
 * ```
 */
export function settled(store: DocumentStore): DocumentStore {
  const settle = async (commit: Commit): Promise<CommitResult> => {
    let unknown: unknown;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await store.commit(commit);
      } catch (error) {
        if (isCoded(error, "outcome_unknown")) unknown = error;
        if (unknown === undefined) throw error;
        if (attempt === attempts) throw unknown;
      }
    }
  };
  if (known.has(store)) return store;
  const made = Object.assign({}, store, { commit: settle });
  known.add(made);
  return made;
}
