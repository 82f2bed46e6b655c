import { type Bucket, storageError } from "@seneschal/core/storage";
import type { Commit, CommitResult, DocumentStore, FailedCondition } from "@seneschal/kernel/ports";
import { commit } from "../context.ts";
import { countChange, inTurn } from "./bucket-usage.ts";

/** What one commit does. */
export interface ObjectsDraft extends Omit<Commit, "commitId"> {
  /** The bucket whose objects it changes, as `checks` holds it to; absent: it changes no object. */
  readonly of?: Bucket;
}

const isUsage = ({ coll }: FailedCondition): boolean => coll === "storage_usage";

/**
 * Commits a change of a bucket's objects. Where the bucket has a quota, what it holds moves in the same commit: such commits go one after
 * another in one process, and those that meet another process's are tried again. Throws `QuotaExceeded` for what would be too much, before
 * anything is committed.
 */
export async function commitObjects(store: DocumentStore, { of, ...draft }: ObjectsDraft): Promise<CommitResult> {
  if (of?.quota === undefined) return commit(store, draft);
  return inTurn(of.name, async () => {
    for (let attempt = 0; attempt < 500; attempt++) {
      const counted = await countChange(store, of, draft);
      const result = await commit(store, counted);
      if (result.ok) return result;
      const failed = result.failed.filter((condition) => !isUsage(condition));
      const ofOthers = failed.length > 0 || result.unique.length > 0 || result.moved !== undefined;
      if (ofOthers) return { ...result, failed };
    }
    throw storageError("ShardUnavailable", "too many writers of one bucket, try again");
  });
}
