import { isCoded } from "@seneschal/core";
import type { Commit, CommitResult, DocumentStore } from "@seneschal/core/ports";

/** Commits. A lost reply is settled by repeating the commit under its id; what stays unknown is thrown. */
export async function settle(store: DocumentStore, commit: Commit): Promise<CommitResult> {
  try {
    return await store.commit(commit);
  } catch (error) {
    if (!isCoded(error, "outcome_unknown")) throw error;
    return await store.commit(commit);
  }
}
