import { CodedError } from "../errors.ts";
import type { Commit, CommitResult, DocumentStore, StoreErrorCode } from "../ports/document-store.ts";

/** What the network did to one commit. */
export type CommitFault = "none" | "request_dropped" | "reply_dropped" | "delayed" | "unreachable";

/**
 * A store behind a network that loses and delays. `pick` draws a fault for every commit that is sent, repeats included:
 *
 * - `request_dropped`, `reply_dropped`: nothing, or everything, happened; the caller gets `outcome_unknown` either way.
 * - `delayed`: the caller gets `outcome_unknown` at once, the commit arrives before the next one that does.
 * - `unreachable`: nothing was sent; the caller gets `store_unavailable`.
 */
export function chaosStore(store: DocumentStore, pick: () => CommitFault): DocumentStore {
  const late: Commit[] = [];
  const unknown = (): CodedError<StoreErrorCode> => new CodedError("outcome_unknown", "the connection was lost");
  const arrive = async (commit: Commit): Promise<CommitResult> => {
    for (const earlier of late.splice(0)) await store.commit(earlier);
    return store.commit(commit);
  };
  const commit = async (draft: Commit): Promise<CommitResult> => {
    const fault = pick();
    switch (fault) {
      case "none":
        return arrive(draft);
      case "request_dropped":
        throw unknown();
      case "reply_dropped":
        await arrive(draft);
        throw unknown();
      case "delayed":
        late.push(draft);
        throw unknown();
      case "unreachable":
        throw new CodedError<StoreErrorCode>("store_unavailable", "the store does not answer");
      default:
        return fault satisfies never;
    }
  };
  return { ...store, commit };
}
