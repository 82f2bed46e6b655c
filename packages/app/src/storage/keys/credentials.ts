import { isDeepStrictEqual } from "node:util";
import { type KeyAccess, type S3Credential, storageError } from "@seneschal/core/storage";
import { checkArgument, type JsonObject } from "@seneschal/kernel";
import type { Vault } from "@seneschal/kernel/ports";
import { type Actor, commit, type StorageContext } from "../context.ts";

/** What is told of an access key once its secret was shown. */
interface IssuedCredential {
  readonly access_key: string;
  readonly created_at: number;
  /** Absent: all that the tenant may. */
  readonly access?: KeyAccess;
}

/** Access keys of tenants. Secret keys are stored sealed by the vault, shown once, and opened once: each minute the record says whether it is still good. */
export interface Credentials {
  /** `access`: less than all that the tenant may. */
  create(tenant: string, actor: Actor, access?: KeyAccess): Promise<{ readonly access_key: string; readonly secret_key: string }>;
  revoke(accessKey: string, actor: Actor): Promise<void>;
  /** A page of a tenant's keys in the order of their names, without their secrets. Throws `NotFound` for a tenant that there is not. */
  list(tenant: string, page: { readonly limit: number; readonly offset: number }): Promise<readonly IssuedCredential[]>;
  lookUp(accessKey: string): Promise<S3Credential | undefined>;
}

const keyName = "storage-credentials";
const cacheMs = 60_000;

/** The same text for the same access, in whatever order a store gives its members back. */
function canonicalAccess({ mode, resources }: KeyAccess): string {
  return JSON.stringify([mode, resources?.map(({ bucket, prefix }) => [bucket, prefix])]);
}

export function createCredentials(context: StorageContext, vault: Vault): Credentials {
  checkArgument("context", context, "object");
  checkArgument("vault", vault, "object");
  const { store, clock, random } = context;
  const cache = new Map<string, { readonly credential: S3Credential; readonly sealed: string; readonly until: number }>();
  // The secret opens under what the key may alone: with another access in its record, or read by a release that knows of none, it is no key.
  const aad = (accessKey: string, access: KeyAccess | undefined) =>
    Buffer.from(
      access === undefined
        ? `seneschal/storage/credential/v1/${accessKey}`
        : `seneschal/storage/credential/v2/${accessKey}/${canonicalAccess(access)}`,
    );
  const ask = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw storageError("KeyManagerUnavailable", "the key manager does not answer", {}, error);
    }
  };
  const needTenant = async (tenant: string): Promise<void> => {
    if ((await store.get("storage_tenants", tenant)) === undefined)
      throw storageError("NotFound", `no such tenant: ${tenant}`, { field: "tenant_id" });
  };
  return {
    async create(tenant, actor, access) {
      await needTenant(tenant);
      const accessKey = `SN${Buffer.from(random(12)).toString("hex").toUpperCase().slice(0, 18)}`;
      const secretKey = Buffer.from(random(30)).toString("base64url");
      const sealed = await ask(async () => {
        if ((await vault.keyInfo(keyName)) === undefined) await vault.createKey(keyName);
        return vault.encrypt(keyName, Buffer.from(secretKey), aad(accessKey, access));
      });
      const limits = access && { access: { ...access } as unknown as JsonObject };
      const doc = { tenant, sealed, created_at: clock.now(), ...limits };
      const event = {
        action: "credential.create",
        tenant,
        access_key: accessKey,
        ...limits,
        actor: actor.id,
        source: actor.source,
      };
      const result = await commit(store, {
        puts: [{ coll: "storage_credentials", id: accessKey, doc, ifVersion: 0 }],
        audit: [{ stream: "storage", event }],
      });
      if (!result.ok) throw storageError("AlreadyExists", "the access key exists");
      context.emit("info", "security", "S3 credential created", { tenant, access_key: accessKey, by: actor.id });
      return { access_key: accessKey, secret_key: secretKey };
    },
    async revoke(accessKey, actor) {
      const found = await store.get("storage_credentials", accessKey);
      if (found === undefined) throw storageError("NotFound", "no such access key", { field: "access_key" });
      await commit(store, {
        dels: [{ coll: "storage_credentials", id: accessKey }],
        audit: [
          {
            stream: "storage",
            event: { action: "credential.revoke", access_key: accessKey, actor: actor.id, source: actor.source },
          },
        ],
      });
      cache.delete(accessKey);
      context.emit("info", "security", "S3 credential revoked", { access_key: accessKey, by: actor.id });
    },
    async list(tenant, page) {
      await needTenant(tenant);
      const { items } = await store.list("storage_credentials", "by_tenant", [tenant], page);
      return items.map(({ id, doc }) => {
        const access = doc["access"] as unknown as KeyAccess | undefined;
        return { access_key: id, created_at: doc["created_at"] as number, ...(access && { access }) };
      });
    },
    async lookUp(accessKey) {
      if (!/^[A-Za-z0-9]{1,128}$/.test(accessKey)) return undefined;
      const cached = cache.get(accessKey);
      if (cached !== undefined && cached.until > clock.now()) return cached.credential;
      const found = await store.get("storage_credentials", accessKey);
      if (found === undefined) {
        cache.delete(accessKey);
        return undefined;
      }
      const sealed = found.doc["sealed"] as string;
      const tenant = found.doc["tenant"] as string;
      const access = found.doc["access"] as unknown as KeyAccess | undefined;
      // The record says whether the key is still good; the vault need not open again what it has opened, and may be away.
      const secretKey =
        cached?.sealed === sealed && isDeepStrictEqual(cached.credential.access, access)
          ? cached.credential.secretKey
          : Buffer.from(await ask(() => vault.decrypt(keyName, sealed, aad(accessKey, access)))).toString("utf8");
      const credential = { tenant, secretKey, access };
      cache.set(accessKey, { credential, sealed, until: clock.now() + cacheMs });
      return credential;
    },
  };
}
