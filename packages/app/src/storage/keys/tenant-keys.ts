import { type Breaker, openBreaker } from "@seneschal/adapters/http";
import { requireKey, stepTenant, storageError, type Tenant, type TenantCommand } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { Vault } from "@seneschal/kernel/ports";
import { everyDocument } from "../../platform/index.ts";
import { type Actor, commit, nodeActor, type StorageContext } from "../context.ts";
import type { TenantDoc } from "../schema.ts";
import { within } from "../within.ts";

/** What a tenant's chunks are named and wrapped with. */
interface TenantKey {
  readonly kek: Uint8Array;
  /** Of the tenant's record: a commit that checks it stands before every shred. */
  readonly version: number;
  /** Its chunks are shared with other tenants that hold equal ones. */
  readonly dedup: boolean;
}

/**
 * The tenants' key-encryption keys (KEKs). A KEK is 32 random bytes sealed by the tenant's own key service; it is
 * cached for its TTL (+-10 %), then the service must open it again. Destroying the service's key shreds the tenant.
 *
 * A tenant without a key service of its own has its KEK sealed by the vault that all share. Such a KEK is asked for once: after the
 * TTL the tenant's record alone says whether it may still be used, so that reads go on while the vault is silent.
 */
export interface TenantKeys {
  create(tenant: string, options: { readonly dedup: boolean }, actor: Actor): Promise<void>;
  tenant(tenant: string): Promise<TenantDoc>;
  list(): Promise<readonly TenantDoc[]>;
  /** Throws `TenantKmsUnreachable`, `TenantKmsLost`, `CryptoShredComplete`, `KeyManagerUnavailable`, `NotFound`. */
  key(tenant: string): Promise<TenantKey>;
  /**
   * Cuts the tenant off at once, and destroys its key: what it wrapped can never be opened again. While its key service does not confirm that
   * (`TenantKmsUnreachable`, `KeyManagerUnavailable`) the tenant is `shredding`, and it is asked again by `finishShreds`.
   */
  shred(tenant: string, actor: Actor): Promise<void>;
  /** Asks the key services of tenants that are `shredding` once more. */
  finishShreds(): Promise<void>;
  /** How many tenants are `shredding`. */
  shredding(): Promise<number>;
  /** Makes a new version of the tenant's key at its key service and seals the KEK with it; what the KEK wraps stays as it is. */
  rotate(tenant: string, actor: Actor): Promise<void>;
  /** Asks the tenant's key service now. Throws `TenantKmsUnreachable`, `TenantKmsLost`. */
  check(tenant: string): Promise<void>;
  /** Forgets what is cached of a tenant's key. */
  purge(tenant: string): void;
  /** Tenants whose key service did not answer last time. */
  unreachable(): readonly string[];
}

interface TenantKeyOptions {
  /** The vault of the node, which seals the keys of tenants without a service of their own. */
  readonly shared: Vault;
  /** The tenant's key service. */
  readonly vaultFor: (tenant: string) => Vault;
  /** Tells every node to purge the tenant's key, or that it is destroyed; does not wait for them. */
  readonly onShred: (tenant: string, actor: Actor, done: boolean) => Promise<void>;
  /** Seconds, 5-300; default 60. */
  readonly ttlSeconds?: number;
}

const timeoutMs = 2000;
/** An embedded vault rewrites its store when it destroys a key. */
const destroyMs = 60_000;

export function createTenantKeys(context: StorageContext, options: TenantKeyOptions): TenantKeys {
  const ttl = Math.min(300, Math.max(5, options.ttlSeconds ?? 60)) * 1000;
  const cache = new Map<string, { readonly key: TenantKey; readonly sealed: string; readonly until: number }>();
  /** Grows with every purge: what began before it brings nothing back. */
  const generations = new Map<string, number>();
  const loading = new Map<string, Promise<TenantKey>>();
  const breakers = new Map<string, Breaker>();
  const away = new Set<string>();

  const breakerOf = (tenant: string): Breaker => {
    const known = breakers.get(tenant);
    if (known !== undefined) return known;
    const refuse = () => storageError("TenantKmsUnreachable", "the tenant's key service does not answer", { tenant });
    const fresh = openBreaker({ failures: 5, probeMs: 30_000, now: () => context.clock.now(), refuse });
    breakers.set(tenant, fresh);
    return fresh;
  };

  const note = (tenant: string, answered: boolean): void => {
    context.metrics.tenantKmsReachable.set({ tenant }, answered ? 1 : 0);
    if (answered === !away.has(tenant)) return;
    if (answered) away.delete(tenant);
    else away.add(tenant);
    const message = answered ? "tenant key service reachable again" : "tenant key service unreachable";
    context.emit(answered ? "info" : "error", "security", message, { tenant });
  };

  /** The vault that all share is no tenant's: what it does not answer is nobody's failure but its own. */
  const askShared = async <T>(tenant: string, work: (vault: Vault) => Promise<T>, ms: number): Promise<T> => {
    try {
      const value = await within(ms, "the key manager", work(options.shared));
      context.metrics.tenantKmsReachable.set({ tenant }, 1);
      return value;
    } catch (error) {
      if (isCoded(error, "key_not_found", "decryption_failed"))
        throw storageError("TenantKmsLost", "the key manager no longer holds the tenant's key", { tenant }, error);
      context.metrics.tenantKmsReachable.set({ tenant }, 0);
      throw storageError("KeyManagerUnavailable", "the key manager does not answer", {}, error);
    }
  };

  const ask = async <T>(tenant: string, work: (vault: Vault) => Promise<T>, ms = timeoutMs): Promise<T> => {
    if (options.vaultFor(tenant) === options.shared) return askShared(tenant, work, ms);
    const answer = await breakerOf(tenant).run(async () => {
      try {
        return { value: await within(ms, "the tenant's key service", work(options.vaultFor(tenant))) };
      } catch (error) {
        // A definite answer is contact.
        if (isCoded(error, "key_not_found", "decryption_failed")) return { lost: error };
        note(tenant, false);
        throw storageError("TenantKmsUnreachable", "the tenant's key service does not answer", { tenant }, error);
      }
    });
    if ("lost" in answer)
      throw storageError("TenantKmsLost", "the tenant's key service no longer holds the key", { tenant }, answer.lost);
    note(tenant, true);
    return answer.value;
  };

  const stored = async (tenant: string): Promise<{ readonly doc: TenantDoc; readonly version: number }> => {
    const found = await context.store.get("storage_tenants", tenant);
    if (found === undefined) throw storageError("NotFound", `no such tenant: ${tenant}`, { field: "tenant_id" });
    return { doc: found.doc as TenantDoc, version: found.version };
  };

  /** Commits a step of a tenant with what the audit log calls it; `undefined`: it is so already, `false`: the tenant changed meanwhile. */
  const step = async (
    { doc, version }: { readonly doc: Tenant | undefined; readonly version: number },
    command: TenantCommand,
    actor: Actor,
  ): Promise<boolean | undefined> => {
    const next = stepTenant(doc, command, context.clock.now());
    if (next === undefined) return undefined;
    const { tenant, action } = next;
    const { ok } = await commit(context.store, {
      puts: [{ coll: "storage_tenants", id: tenant.id, doc: { ...tenant }, ifVersion: version }],
      audit: [{ stream: "storage", event: { action, tenant: tenant.id, actor: actor.id, source: actor.source } }],
    });
    return ok;
  };
  const changedMeanwhile = (tenant: string) =>
    storageError("ShardUnavailable", "the tenant changed meanwhile, try again", { tenant });

  const load = async (tenant: string): Promise<TenantKey> => {
    for (;;) {
      const generation = generations.get(tenant) ?? 0;
      const { doc, version } = await stored(tenant);
      requireKey(doc);
      const known = cache.get(tenant);
      const kept = options.vaultFor(tenant) === options.shared && known?.sealed === doc.kek ? known.key.kek : undefined;
      const kek = kept ?? (await ask(tenant, (vault) => vault.decrypt(keyName(tenant), doc.kek, aad(tenant))));
      // INVARIANT: purged meanwhile, it is neither kept nor used: its record is read again.
      if ((generations.get(tenant) ?? 0) !== generation) continue;
      const [jitter = 0] = context.random(1);
      const key = { kek, version, dedup: doc.dedup };
      cache.set(tenant, { key, sealed: doc.kek, until: context.clock.now() + ttl * (0.9 + (0.2 * jitter) / 255) });
      return key;
    }
  };

  // Not wiped: a write under way would wrap with zeros, which everybody knows.
  const purge = (tenant: string): void => {
    generations.set(tenant, (generations.get(tenant) ?? 0) + 1);
    cache.delete(tenant);
  };

  /** Has the key destroyed by its service, and says so once, when that has confirmed. */
  const finish = async (tenant: string, actor: Actor): Promise<void> => {
    await ask(
      tenant,
      async (vault) => {
        try {
          await vault.configureKey(keyName(tenant), { deletionAllowed: true });
        } catch (error) {
          if (!isCoded(error, "key_not_found")) throw error;
        }
        // Also where it is gone: an earlier call may have got no further than that.
        await vault.deleteKey(keyName(tenant)).catch((error: unknown) => {
          if (!isCoded(error, "key_not_found")) throw error;
        });
      },
      destroyMs,
    );
    // Otherwise another node was faster: it has said so.
    if ((await step(await stored(tenant), { kind: "confirm_shred" }, actor)) !== true) return;
    context.metrics.cryptoShreds.inc();
    await options.onShred(tenant, actor, true);
  };

  return {
    async create(tenant, { dedup }, actor) {
      if ((await context.store.get("storage_tenants", tenant)) !== undefined)
        throw storageError("AlreadyExists", `tenant ${tenant} exists`, { field: "tenant_id" });
      const bytes = context.random(32);
      const kek = await ask(tenant, async (vault) => {
        if ((await vault.keyInfo(keyName(tenant))) === undefined) await vault.createKey(keyName(tenant));
        const sealed = await vault.encrypt(keyName(tenant), bytes, aad(tenant));
        // A key service that cannot open what it sealed must never be activated.
        if (!Buffer.from(await vault.decrypt(keyName(tenant), sealed, aad(tenant))).equals(bytes))
          throw new Error("round trip failed");
        return sealed;
      });
      const created = await step({ doc: undefined, version: 0 }, { kind: "create", id: tenant, kek, dedup }, actor);
      if (created !== true) throw storageError("AlreadyExists", `tenant ${tenant} exists`, { field: "tenant_id" });
      context.emit("info", "tenant", "tenant created", { tenant, by: actor.id });
    },
    tenant: async (tenant) => (await stored(tenant)).doc,
    async list() {
      const tenants: TenantDoc[] = [];
      for await (const { doc } of everyDocument(context.store, "storage_tenants", "by_id")) tenants.push(doc as TenantDoc);
      return tenants;
    },
    async key(tenant) {
      const cached = cache.get(tenant);
      if (cached !== undefined && cached.until > context.clock.now()) return cached.key;
      // One call per tenant at a time: a slow service holds up its own tenant only.
      const running = loading.get(tenant) ?? load(tenant).finally(() => loading.delete(tenant));
      loading.set(tenant, running);
      return running;
    },
    async rotate(tenant, actor) {
      const found = await stored(tenant);
      requireKey(found.doc);
      const kek = await ask(tenant, async (vault) => {
        await vault.rotateKey(keyName(tenant));
        return vault.rewrap(keyName(tenant), found.doc.kek, aad(tenant));
      });
      if ((await step(found, { kind: "rotate", kek }, actor)) === false) throw changedMeanwhile(tenant);
    },
    async check(tenant) {
      const { kek, state } = (await stored(tenant)).doc;
      if (state === "active") await ask(tenant, (vault) => vault.decrypt(keyName(tenant), kek, aad(tenant)));
    },
    async shred(tenant, actor) {
      const found = await stored(tenant);
      if (found.doc.state === "shredded") return;
      const cut = await step(found, { kind: "shred" }, actor);
      if (cut === false) throw changedMeanwhile(tenant);
      if (cut === true) {
        purge(tenant);
        await options.onShred(tenant, actor, false);
      }
      await finish(tenant, actor);
    },
    async finishShreds() {
      for await (const { id } of everyDocument(context.store, "storage_tenants", "shredding"))
        await finish(id, nodeActor).catch((error: unknown) => {
          if (!isCoded(error, "TenantKmsUnreachable", "KeyManagerUnavailable", "TenantKmsLost")) throw error;
        });
    },
    shredding: () => context.store.count("storage_tenants", "shredding", []),
    purge,
    unreachable: () => [...away],
  };
}

function keyName(tenant: string): string {
  return `storage-tenant-${tenant}`;
}

function aad(tenant: string): Uint8Array {
  return Buffer.from(`seneschal/storage/kek/v1/${tenant}`);
}
