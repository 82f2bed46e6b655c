import { isCoded } from "@seneschal/core";
import type { DocumentStore, StoreErrorCode } from "@seneschal/core/ports";
import { storageError } from "@seneschal/core/storage";
import { settled } from "@seneschal/core/store";

const away: readonly StoreErrorCode[] = ["store_unavailable", "store_failed", "store_closed"];

/**
 * The metadata of the shards: a store that cannot be reached is `ShardUnavailable`, which clients may retry, and so is a commit
 * whose outcome stays unknown.
 */
export function shardStore(given: DocumentStore): DocumentStore {
  const store = settled(given);
  const told = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (isCoded(error, "outcome_unknown"))
        throw storageError("ShardUnavailable", "it is not known whether the change is committed", { outcome: "unknown" }, error);
      throw isCoded(error, ...away) ? storageError("ShardUnavailable", "the metadata cannot be reached", {}, error) : error;
    }
  };
  return {
    ...store,
    get: (coll, id) => told(store.get(coll, id)),
    getMany: (coll, ids) => told(store.getMany(coll, ids)),
    list: (coll, index, prefix, options) => told(store.list(coll, index, prefix, options)),
    count: (coll, index, prefix, range) => told(store.count(coll, index, prefix, range)),
    commit: (draft) => told(store.commit(draft)),
  };
}
