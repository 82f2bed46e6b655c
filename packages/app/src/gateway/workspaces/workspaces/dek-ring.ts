import { refusal } from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import type { DocumentStore, Random, Vault } from "@seneschal/kernel/ports";
import { kekName, type OrganizationKeys, transact, utf8 } from "../../ground/index.ts";
import { dekUseId, dekUseRecords, type Participation } from "../collections.ts";

/** Makes, wraps and unwraps the keys of workspaces. A wrapped key is bound to its workspace, organisation and version. */
export interface DekRing {
  /** 32 fresh bytes; the caller zeroes them. */
  mint(): Uint8Array;
  wrap(dek: Uint8Array, workspace: string, org: string, version: number): Promise<string>;
  /** A version of an organisation's key, `undefined` when its participation has none. The caller may zero it. */
  open(participation: Participation, version: number): Promise<Uint8Array | undefined>;
  /** Forgets what is in memory of a workspace. */
  forget(workspace: string): void;
}

/**
 * A ring over the vault. Unwrapped keys stay in memory for a bounded time and number, and are zeroed when they leave it;
 * whether a caller may use a key is decided on every request, before the ring is asked.
 */
export function dekRing(
  vault: Vault,
  organizationKeys: OrganizationKeys,
  random: Random,
  cache: { readonly entries: number; readonly ttl: number; readonly now: () => number },
): DekRing {
  const kept = new Map<string, { readonly workspace: string; readonly dek: Uint8Array; readonly until: number }>();
  const aad = (workspace: string, org: string, version: number): Uint8Array =>
    utf8(`seneschal/workspace-dek/v1\0${canonicalJson({ workspace, org, version })}`);

  const drop = (key: string): void => {
    kept.get(key)?.dek.fill(0);
    kept.delete(key);
  };

  return {
    mint: () => random(32),

    async wrap(dek, workspace, org, version) {
      return vault.encrypt(await organizationKeys.ensureKek(org), dek, aad(workspace, org, version));
    },

    async open({ workspace_id: workspace, org_id: org, deks }, version) {
      const wrapped = Object.hasOwn(deks, String(version)) ? deks[String(version)] : undefined;
      if (wrapped === undefined) return undefined;
      // The wrapped text is part of the key: what was re-wrapped or swapped is not served from memory.
      const key = `${version} ${wrapped} ${workspace} ${org}`;
      const now = cache.now();
      const known = kept.get(key);
      // A copy, because the kept one may be zeroed while the caller still uses it.
      if (known !== undefined && known.until > now) return known.dek.slice();
      drop(key);
      const dek = await vault.decrypt(kekName(org), wrapped, aad(workspace, org, version));
      if (cache.entries > 0) {
        kept.set(key, { workspace, dek: dek.slice(), until: now + cache.ttl });
        for (const [oldest, entry] of kept) {
          if (kept.size <= cache.entries && entry.until > now) break;
          drop(oldest);
        }
      }
      return dek;
    },

    forget(workspace) {
      for (const [key, entry] of kept) if (entry.workspace === workspace) drop(key);
    },
  };
}

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
