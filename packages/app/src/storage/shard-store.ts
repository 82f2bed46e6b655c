import { storageError } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { DocumentStore, StoreErrorCode } from "@seneschal/kernel/ports";
import { settled } from "@seneschal/kernel/store";
import type { Damage } from "./watch/watch-damage.ts";

const away: readonly StoreErrorCode[] = ["store_unavailable", "store_failed", "store_closed"];

/** Written also while metadata is damaged: who works, and what is done. */
const bookkeeping = new Set(["jobs", "leases", "storage_counters"]);

/**
 * The metadata of the shards: a store that cannot be reached is `ShardUnavailable`, which clients may retry, and so is a commit
 * whose outcome stays unknown. Once damage is known, nothing but bookkeeping is committed.
 */
export function shardStore(given: DocumentStore, damage: Pick<Damage, "places"> = { places: [] }): DocumentStore {
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
    async commit(draft) {
      // What a damaged index does not name must not be taken for nobody's.
      const writes = [...(draft.puts ?? []), ...(draft.dels ?? [])];
      if (damage.places.length > 0 && writes.some(({ coll }) => !bookkeeping.has(coll)))
        throw storageError("ShardUnavailable", "the metadata is damaged: reads work, nothing is written or collected");
      return told(store.commit(draft));
    },
  };
}
