import { type Breaker, openBreaker } from "@seneschal/adapters/http";
import { isCoded } from "@seneschal/core";
import type { Vault } from "@seneschal/core/ports";
import { storageError } from "@seneschal/core/storage";
import { type Actor, commit, type StorageContext } from "../context.ts";
import type { TenantDoc } from "../documents.ts";
import { within } from "../within.ts";

/** What a tenant's chunks are named and wrapped with. */
interface TenantKey {
  readonly kek: Uint8Array;
  /** Its chunks are shared with other tenants that hold equal ones. */
  readonly dedup: boolean;
}

/**
 * The tenants' key-encryption keys (KEKs). A KEK is 32 random bytes sealed by the tenant's own key service; it is
 * cached for its TTL (+-10 %), then the service must open it again. Destroying the service's key shreds the tenant.
 */
export interface TenantKeys {
  create(tenant: string, options: { readonly dedup: boolean }, actor: Actor): Promise<void>;
  tenant(tenant: string): Promise<TenantDoc>;
  list(): Promise<readonly TenantDoc[]>;
  /** Throws `TenantKmsUnreachable`, `TenantKmsLost`, `CryptoShredComplete`, `NotFound`. */
  key(tenant: string): Promise<TenantKey>;
  /** Destroys the tenant's key: what it wrapped can never be opened again, anywhere, once caches expire. */
  shred(tenant: string, actor: Actor): Promise<void>;
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
  /** The tenant's key service. */
  readonly vaultFor: (tenant: string) => Vault;
  /** Tells every node to purge the tenant's key; does not wait for them. */
  readonly onShred: (tenant: string, actor: Actor) => Promise<void>;
  /** Seconds, 5-300; default 60. */
  readonly ttlSeconds?: number;
}

const timeoutMs = 2000;

export function createTenantKeys(context: StorageContext, options: TenantKeyOptions): TenantKeys {
  const ttl = Math.min(300, Math.max(5, options.ttlSeconds ?? 60)) * 1000;
  const cache = new Map<string, { readonly key: TenantKey; readonly until: number }>();
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

  const ask = async <T>(tenant: string, work: (vault: Vault) => Promise<T>): Promise<T> => {
    const answer = await breakerOf(tenant).run(async () => {
      try {
        return { value: await within(timeoutMs, "the tenant's key service", work(options.vaultFor(tenant))) };
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

  const read = async (tenant: string): Promise<TenantDoc> => {
    const found = await context.store.get("storage_tenants", tenant);
    if (found === undefined) throw storageError("NotFound", `no such tenant: ${tenant}`, { field: "tenant_id" });
    return found.doc as TenantDoc;
  };

  const load = async (tenant: string): Promise<TenantKey> => {
    const doc = await read(tenant);
    if (doc.state === "shredded") throw storageError("CryptoShredComplete", "the tenant's key was destroyed", { tenant });
    const kek = await ask(tenant, (vault) => vault.decrypt(keyName(tenant), doc.kek, aad(tenant)));
    const [jitter = 0] = context.random(1);
    const key = { kek, dedup: doc.dedup };
    cache.set(tenant, { key, until: context.clock.now() + ttl * (0.9 + (0.2 * jitter) / 255) });
    return key;
  };

  // Not wiped: a write under way would wrap with zeros, which everybody knows.
  const purge = (tenant: string): void => void cache.delete(tenant);

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
      const doc: TenantDoc = { id: tenant, state: "active", kek, dedup, created_at: context.clock.now() };
      const result = await commit(context.store, {
        puts: [{ coll: "storage_tenants", id: tenant, doc, ifVersion: 0 }],
        audit: [{ stream: "storage", event: { action: "tenant.create", tenant, actor: actor.id, source: actor.source } }],
      });
      if (!result.ok) throw storageError("AlreadyExists", `tenant ${tenant} exists`, { field: "tenant_id" });
      context.emit("info", "tenant", "tenant created", { tenant, by: actor.id });
    },
    tenant: read,
    async list() {
      const page = await context.store.list("storage_tenants", "by_id", [], { limit: 1000 });
      return page.items.map((i) => i.doc as TenantDoc);
    },
    async key(tenant) {
      const cached = cache.get(tenant);
      if (cached !== undefined && cached.until > context.clock.now()) return cached.key;
      cache.delete(tenant);
      // One call per tenant at a time: a slow service holds up its own tenant only.
      const running = loading.get(tenant) ?? load(tenant).finally(() => loading.delete(tenant));
      loading.set(tenant, running);
      return running;
    },
    async rotate(tenant, actor) {
      const found = await context.store.get("storage_tenants", tenant);
      const doc = await read(tenant);
      if (doc.state === "shredded") throw storageError("CryptoShredComplete", "the tenant's key was destroyed", { tenant });
      const kek = await ask(tenant, async (vault) => {
        await vault.rotateKey(keyName(tenant));
        return vault.rewrap(keyName(tenant), doc.kek, aad(tenant));
      });
      const result = await commit(context.store, {
        puts: [{ coll: "storage_tenants", id: tenant, doc: { ...doc, kek }, ifVersion: found?.version ?? 0 }],
        audit: [{ stream: "storage", event: { action: "tenant.rotate_key", tenant, actor: actor.id, source: actor.source } }],
      });
      if (!result.ok) throw storageError("ShardUnavailable", "the tenant changed meanwhile, try again", { tenant });
    },
    async check(tenant) {
      const { kek, state } = await read(tenant);
      if (state === "active") await ask(tenant, (vault) => vault.decrypt(keyName(tenant), kek, aad(tenant)));
    },
    async shred(tenant, actor) {
      const found = await context.store.get("storage_tenants", tenant);
      if (found === undefined) throw storageError("NotFound", `no such tenant: ${tenant}`, { field: "tenant_id" });
      const result = await commit(context.store, {
        puts: [
          {
            coll: "storage_tenants",
            id: tenant,
            doc: { ...(found.doc as TenantDoc), state: "shredded", kek: "" },
            ifVersion: found.version,
          },
        ],
        audit: [{ stream: "storage", event: { action: "tenant.crypto_shred", tenant, actor: actor.id, source: actor.source } }],
      });
      if (!result.ok) throw storageError("ShardUnavailable", "the tenant changed meanwhile, try again", { tenant });
      purge(tenant);
      context.metrics.cryptoShreds.inc();
      await options.onShred(tenant, actor);
      await ask(tenant, async (vault) => {
        if ((await vault.keyInfo(keyName(tenant))) === undefined) return;
        await vault.configureKey(keyName(tenant), { deletionAllowed: true });
        await vault.deleteKey(keyName(tenant));
      });
    },
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
