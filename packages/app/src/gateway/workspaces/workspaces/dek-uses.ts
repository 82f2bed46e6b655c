import { refusal } from "@seneschal/core/keys";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { collection, transact } from "../../ground/index.ts";

/** How many uses of a key version are reserved; what a process reserved and did not use is given up. */
interface Uses {
  readonly reserved: number;
}

export const dekUseRecords = collection<Uses>("dek_uses");

export const dekUseId = (workspace: string, version: number): string => `${workspace}/${version}`;

/** Counts the uses of each key version: with random nonces AES-GCM is safe for fewer than 2^32 (NIST SP 800-38D, 8.3). */
export interface DekUses {
  /** Takes `count` uses of the `limit` that this instance has. Throws `STATE_CONFLICT` when none are left: the key must be rotated. */
  take(workspace: string, version: number, count: number, limit: number): Promise<void>;
}

/** Reserves uses in blocks, so that counting costs a write once in a block and survives a crash on the safe side. */
export function dekUses(store: DocumentStore, commitId: () => string, block = 65_536): DekUses {
  const left = new Map<string, number>();

  const reserving = new Map<string, Promise<void>>();

  const reserve = (id: string, limit: number): Promise<void> =>
    transact(store, commitId, async (unit) => {
      const reserved = (await unit.get(dekUseRecords, id))?.reserved ?? 0;
      if (reserved + block > limit) throw refusal("STATE_CONFLICT", "the key version is used up: rotate the workspace's key");
      unit.put(dekUseRecords, id, { reserved: reserved + block });
    }).then(() => {
      left.set(id, (left.get(id) ?? 0) + block);
    });

  /** One reservation at a time: calls that come together share it, instead of racing for the same record. */
  const reserveOnce = (id: string, limit: number): Promise<void> => {
    const known = reserving.get(id);
    if (known !== undefined) return known;
    const fresh = reserve(id, limit).finally(() => reserving.delete(id));
    reserving.set(id, fresh);
    return fresh;
  };

  return {
    async take(workspace, version, count, limit) {
      const id = dekUseId(workspace, version);
      while ((left.get(id) ?? 0) < count) await reserveOnce(id, limit);
      left.set(id, (left.get(id) ?? 0) - count);
    },
  };
}
