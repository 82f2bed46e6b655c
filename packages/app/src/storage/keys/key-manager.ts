import { lostAfter, storageError } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { Vault } from "@seneschal/kernel/ports";
import { everyDocument } from "../../platform/index.ts";
import { type Actor, commit, nodeActor, type StorageContext } from "../context.ts";
import { within } from "../within.ts";

/** A master key of one epoch. Never logged, never stored but sealed by the vault. */
export interface MasterKey {
  readonly epoch: number;
  readonly bytes: Uint8Array;
}

/**
 * Keeps the master keys, one per epoch. Cached epochs serve reads while the vault is away; every write needs the vault to
 * have opened the newest one within the last second, so that a key manager which is silent, refuses, or has lost the keys stops all
 * chunk writes of the cluster: what it cannot open could not be read after a restart.
 */
export interface KeyManager {
  /** Not silent for as many rounds as make a device lost: one call without an answer may be a moment's. */
  readonly reachable: boolean;
  /** Throws `KeyManagerUnavailable`. */
  forWrite(): Promise<MasterKey>;
  /** Throws `KeyManagerUnavailable` when the epoch is not cached and the vault is away. */
  forRead(epoch: number): Promise<MasterKey>;
  /** Makes the next epoch; old ones stay readable. */
  rotate(actor: Actor): Promise<number>;
  /** Has the vault open the newest master key, and compares; tells whether it did. */
  probe(): Promise<boolean>;
  /** Probes once a round; emits an event when it has become unreachable. */
  watch(): Promise<void>;
  /** Epochs that serve reads without the vault. */
  cachedEpochs(): readonly number[];
}

const keyName = "storage-masters";
const freshMs = 1000;
const timeoutMs = 2000;

/** `clusterEpoch`: the newest epoch that any node has made, as the cluster agreed. */
export function createKeyManager(context: StorageContext, vault: Vault, clusterEpoch: () => number): KeyManager {
  const cache = new Map<number, { readonly sealed: string; readonly bytes: Uint8Array }>();
  let newest = 0;
  let lastContact = Number.NEGATIVE_INFINITY;
  /** Rounds in a row in which it did not answer. */
  let silent = 0;
  let probing: Promise<boolean> | undefined;

  const note = (answered: boolean): void => {
    lastContact = answered ? context.clock.now() : Number.NEGATIVE_INFINITY;
    context.metrics.keyManagerReachable.set(answered ? 1 : 0);
    if (!answered) return;
    if (silent >= lostAfter) context.emit("info", "security", "key manager reachable again");
    silent = 0;
  };

  const ask = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      const value = await within(timeoutMs, "the key manager", work());
      note(true);
      return value;
    } catch (error) {
      note(false);
      const refused = isCoded(error, "key_not_found", "decryption_failed");
      const why = refused ? "the key manager does not open the master keys" : "the key manager does not answer";
      throw storageError("KeyManagerUnavailable", why, {}, error);
    }
  };

  const probe = (): Promise<boolean> => {
    probing ??= ask(async () => {
      const sealed = await refresh();
      if (sealed === undefined) {
        if ((await vault.health()).sealed) throw new Error("the vault is sealed");
        return true;
      }
      const bytes = await vault.decrypt(keyName, sealed, aad(newest));
      const known = cache.get(newest);
      if (known !== undefined && !Buffer.from(known.bytes).equals(bytes)) throw new Error("the vault opens another key");
      cache.set(newest, { sealed, bytes });
      return true;
    })
      .catch(() => false)
      .finally(() => {
        probing = undefined;
      });
    return probing;
  };

  /**
   * Another node may have made an epoch, and a restore replaces those of the empty cluster it began with. Gives the newest epoch's key as
   * the vault sealed it, `undefined` while there is none.
   */
  const refresh = async (): Promise<string | undefined> => {
    let sealed: string | undefined;
    for await (const { doc } of everyDocument(context.store, "storage_masters", "by_epoch")) {
      const epoch = doc["epoch"] as number;
      sealed = doc["sealed"] as string;
      newest = Math.max(newest, epoch);
      if (cache.get(epoch)?.sealed !== sealed) cache.delete(epoch);
    }
    return sealed;
  };

  const unseal = async (epoch: number, sealed: string): Promise<Uint8Array> => {
    const bytes = await ask(() => vault.decrypt(keyName, sealed, aad(epoch)));
    cache.set(epoch, { sealed, bytes });
    return bytes;
  };

  const load = async (epoch: number): Promise<Uint8Array> => {
    const cached = cache.get(epoch);
    if (cached !== undefined) return cached.bytes;
    const found = await context.store.get("storage_masters", String(epoch));
    if (found === undefined) throw storageError("InvariantViolation", `no master key of epoch ${epoch}`);
    return unseal(epoch, found.doc["sealed"] as string);
  };

  const latest = async (): Promise<number> => {
    const page = await context.store.list("storage_masters", "by_epoch", [], { limit: 1, reverse: true });
    return (page.items[0]?.doc["epoch"] as number | undefined) ?? 0;
  };

  const create = async (epoch: number, actor: Actor): Promise<number> => {
    await ask(async () => {
      if ((await vault.keyInfo(keyName)) === undefined) await vault.createKey(keyName);
    });
    const bytes = context.random(32);
    const sealed = await ask(() => vault.encrypt(keyName, bytes, aad(epoch)));
    const doc = { epoch, sealed, created_at: context.clock.now() };
    const event = { action: "master_key.create", epoch, actor: actor.id, source: actor.source };
    const result = await commit(context.store, {
      puts: [{ coll: "storage_masters", id: String(epoch), doc, ifVersion: 0 }],
      audit: [{ stream: "storage", event }],
    });
    // Another node made this epoch first: its key is the one.
    if (result.ok) cache.set(epoch, { sealed, bytes });
    return epoch;
  };

  return {
    get reachable() {
      return silent < lostAfter;
    },
    async forWrite() {
      if (context.clock.now() - lastContact >= freshMs && !(await probe()))
        throw storageError("KeyManagerUnavailable", "the key manager does not answer");
      newest = Math.max(newest, clusterEpoch());
      if (newest === 0) newest = (await latest()) || (await create(1, nodeActor));
      return { epoch: newest, bytes: await load(newest) };
    },
    async forRead(epoch) {
      return { epoch, bytes: await load(epoch) };
    },
    async rotate(actor) {
      newest = await create((await latest()) + 1, actor);
      context.metrics.keyRotations.inc();
      return newest;
    },
    probe,
    async watch() {
      if (await probe()) return;
      silent += 1;
      if (silent === lostAfter)
        context.emit("critical", "security", "key manager unreachable: chunk writes fail, cached master keys serve reads");
    },
    cachedEpochs: () => [...cache.keys()].sort((a, b) => a - b),
  };
}

function aad(epoch: number): Uint8Array {
  return Buffer.from(`seneschal/storage/master/v1/${epoch}`);
}
