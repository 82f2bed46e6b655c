import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelLog, openLevelStore } from "@seneschal/adapters/level";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import type { Vault } from "@seneschal/kernel/ports";
import { afterEach, describe, expect, test } from "vitest";
import { createCredentials } from "../../src/storage/keys/credentials.ts";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { storageSchema } from "../../src/storage/schema.ts";
import { bytesOf, collect, openRig, operator, pattern, type Rig, type RigOptions, switchableVault } from "./rig.ts";

let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

async function rigOf(options: RigOptions = {}): Promise<Rig> {
  const rig = await openRig(options);
  ends.push(() => rig.dispose());
  for (const tenant of ["alpha", "beta"]) await createBucket(rig.node.objects, tenant, `${tenant}-docs`, "us-east-1");
  return rig;
}
/** One tenant has a key service of its own. */
const withService = (own: string, service: Vault, vault: Vault = switchableVault()): RigOptions => ({
  extra: { vault, vaultFor: (tenant) => (tenant === own ? service : vault) },
});
const put = ({ node }: Pick<Rig, "node">, tenant: string, key: string, bytes: Uint8Array) =>
  putObject(node.objects, {
    tenant,
    bucket: `${tenant}-docs`,
    key,
    body: bytesOf(bytes),
    contentType: "",
    headers: {},
    meta: {},
  });
const get = async ({ node }: Pick<Rig, "node">, tenant: string, key: string) =>
  collect(readObject(node.objects, await headObject(node.objects, tenant, `${tenant}-docs`, key)));
const security = (rig: Rig) =>
  rig.node.events.query({ since: 0, limit: 1000, category: "security" }).map((e) => `${e.severity}: ${e.message}`);
const destroyed = "critical: crypto-shred: the tenant's key was destroyed";
const shreds = async (rig: Rig) => (await rig.node.metrics.cryptoShreds.get()).values.reduce((n, { value }) => n + value, 0);
const pass = (rig: Rig, ms: number) => rig.clock.set(rig.clock.now() + ms);

describe("destroyed", () => {
  test("a shredded tenant is unreadable from every file that is left, by who has the unseal key and cuts every log back", async () => {
    const directory = await mkdtemp(join(tmpdir(), "seneschal-shred-"));
    ends.push(() => rm(directory, { recursive: true, force: true }));
    const unseal = { kind: "key", key: systemRandom(32) } as const;
    const schema = { ...storageSchema, collections: { ...storageSchema.collections, ...vaultCollections } };
    const openAt = async (path: string) => {
      const store = await openLevelStore({ ...schema, path });
      return {
        store,
        vault: await openEmbeddedVault({ store, crypto: nodeCrypto, random: systemRandom, clock: systemClock, unseal }),
      };
    };
    const { store, vault } = await openAt(join(directory, "metadata"));
    const clusterLog = await openLevelLog({ path: join(directory, "cluster-log") });
    const rig = await openRig({ extra: { store, vault, clusterLog } });
    await createBucket(rig.node.objects, "alpha", "alpha-docs", "us-east-1");
    await put(rig, "alpha", "inline", pattern(100));
    await put(rig, "alpha", "chunked", pattern(50_000));
    const sealed = (await rig.node.tenants.tenant("alpha")).kek;
    const keyBefore = (await store.get("vault_keys", "storage-tenant-alpha"))?.doc["sealed"] as string;
    await rig.node.tenants.shred("alpha", operator);

    const open = join(directory, "metadata");
    const copy = join(directory, "copy");
    await cp(open, copy, { recursive: true });
    await rig.dispose();
    await store.close();
    // No file holds the sealed key, in whatever state a log is cut back to.
    const journals = (await readdir(copy)).filter((n) => n.endsWith(".log"));
    for (const name of await readdir(copy)) {
      const bytes = await readFile(join(copy, name));
      expect(bytes.includes(keyBefore.slice(0, 40)), name).toBe(false);
      expect(bytes.includes(sealed), name).toBe(false);
    }
    for (const journal of journals) {
      const bytes = await readFile(join(copy, journal));
      for (const cut of [0, 0.25, 0.5, 0.75, 1]) {
        const place = join(directory, `cut-${cut}`);
        await cp(copy, place, { recursive: true });
        await writeFile(join(place, journal), bytes.subarray(0, Math.floor(bytes.length * cut)));
        const left = await openAt(place);
        await expect(left.vault.decrypt("storage-tenant-alpha", sealed)).rejects.toMatchObject({ code: "key_not_found" });
        expect((await left.store.get("storage_tenants", "alpha"))?.doc["kek"]).toBe("");
        await left.store.close();
      }
    }
  });

  test("a shred whose key service is away is a state: cut off at once, repeated over a restart until it is confirmed, and said to be done then", async () => {
    const service = switchableVault();
    const rig = await rigOf(withService("alpha", service));
    await put(rig, "alpha", "k", pattern(9000));
    service.away = true;
    await expect(rig.node.tenants.shred("alpha", operator)).rejects.toMatchObject({ code: "TenantKmsUnreachable" });
    await expect(get(rig, "alpha", "k")).rejects.toMatchObject({ code: "CryptoShredComplete" });
    expect((await rig.node.tenants.tenant("alpha")).state).toBe("shredding");
    expect(security(rig)).not.toContain(destroyed);
    expect(await shreds(rig)).toBe(0);
    await rig.node.tick();
    expect(rig.node.monitor.alerts().map((a) => [a.severity, a.subject])).toContainEqual(["critical", "crypto-shred"]);

    const again = await rig.restart();
    pass(again, 60_000);
    await again.node.tick();
    expect((await again.node.tenants.tenant("alpha")).state).toBe("shredding");
    service.away = false;
    pass(again, 60_000);
    await again.node.tick();
    expect((await again.node.tenants.tenant("alpha")).state).toBe("shredded");
    expect(await service.listKeys()).not.toContain("storage-tenant-alpha");
    expect(security(again)).toContain(destroyed);
    expect(await shreds(again)).toBe(1);
    await again.node.tick();
    expect(again.node.monitor.alerts().map((a) => a.subject)).not.toContain("crypto-shred");
    // Asked for again it is done, not counted again.
    await again.node.tenants.shred("alpha", operator);
    expect(await shreds(again)).toBe(1);
    await again.node.stop();
  });

  test("no load in flight brings a key back: what began before a shred reads nothing after it and commits nothing", async () => {
    const rig = await rigOf();
    await put(rig, "alpha", "k", pattern(9000));
    const decrypt = rig.vault.decrypt.bind(rig.vault);
    let let_go = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      let_go = resolve;
    });
    let asked = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      asked = resolve;
    });
    rig.vault.decrypt = async (name, ...rest) => {
      const answer = await decrypt(name, ...rest);
      if (name === "storage-tenant-alpha") {
        asked();
        await held;
      }
      return answer;
    };
    rig.node.tenants.purge("alpha");
    const reading = get(rig, "alpha", "k").then(
      () => "read",
      (error: { code?: string }) => error.code,
    );
    await begun;
    await rig.node.tenants.shred("alpha", operator);
    let_go();
    expect(await reading).toBe("CryptoShredComplete");
    await expect(get(rig, "alpha", "k")).rejects.toMatchObject({ code: "CryptoShredComplete" });
  });

  test.each([100, 50_000, (4 << 20) + 1])(
    "an upload of %i bytes during which the tenant is shredded elsewhere is refused",
    async (size) => {
      const rig = await rigOf();
      const doc = async () => rig.store.get("storage_tenants", "alpha");
      await put(rig, "alpha", "warm", pattern(10));
      async function* body() {
        yield pattern(size);
        // Another node's shred, of which this one has not heard.
        const found = await doc();
        const puts = [{ coll: "storage_tenants", id: "alpha", doc: { ...found?.doc, state: "shredding", kek: "" } }];
        await rig.store.commit({ commitId: `elsewhere-${size}`, puts });
      }
      const work = putObject(rig.node.objects, {
        tenant: "alpha",
        bucket: "alpha-docs",
        key: "late",
        body: body(),
        contentType: "",
        headers: {},
        meta: {},
      });
      await expect(work).rejects.toMatchObject({ code: "CryptoShredComplete" });
      await expect(headObject(rig.node.objects, "alpha", "alpha-docs", "late")).rejects.toMatchObject({ code: "NotFound" });
    },
  );
});

describe("reachable", () => {
  test("a vault that is silent for hours stops writes, not reads; it is no tenant's failure, and writes go on with its first answer", async () => {
    const rig = await rigOf();
    const credentials = createCredentials(rig.node.context, rig.vault);
    const { access_key } = await credentials.create("alpha", operator);
    await credentials.lookUp(access_key);
    await put(rig, "alpha", "k", pattern(9000));
    await put(rig, "alpha", "i", pattern(90));
    rig.vault.away = true;
    for (const ms of [2000, 15_000, 75_000, 3_600_000]) {
      pass(rig, ms);
      expect(await get(rig, "alpha", "k")).toHaveLength(9000);
      expect(await get(rig, "alpha", "i")).toHaveLength(90);
      expect((await credentials.lookUp(access_key))?.tenant).toBe("alpha");
      await expect(put(rig, "alpha", "new", pattern(9000))).rejects.toMatchObject({ code: "KeyManagerUnavailable" });
    }
    expect(rig.node.tenants.unreachable()).toEqual([]);
    rig.vault.away = false;
    await put(rig, "alpha", "new", pattern(9000));
    // A key that was revoked meanwhile is not served by what is cached.
    rig.vault.away = true;
    await credentials.revoke(access_key, operator);
    expect(await credentials.lookUp(access_key)).toBeUndefined();
  });

  test.each(["another vault under the same address", "a vault that refuses the token"])(
    "%s is not reachable: no write is acknowledged, also of tenants with a key service of their own",
    async (what) => {
      const vault = switchableVault();
      const service = switchableVault();
      const rig = await rigOf(withService("beta", service, vault));
      for (const tenant of ["alpha", "beta"]) await put(rig, tenant, "k", pattern(9000));
      const empty = switchableVault();
      if (what.startsWith("another"))
        Object.assign(vault, { decrypt: empty.decrypt, encrypt: empty.encrypt, keyInfo: empty.keyInfo });
      else
        Object.assign(vault, {
          decrypt: async () => {
            throw new Error("permission denied");
          },
        });
      pass(rig, 1001);
      expect(await rig.node.keys.probe()).toBe(false);
      for (const tenant of ["alpha", "beta"]) {
        await expect(put(rig, tenant, "new", pattern(9000))).rejects.toMatchObject({ code: "KeyManagerUnavailable" });
        expect(await get(rig, tenant, "k")).toHaveLength(9000);
      }
      await rig.node.tick();
      await rig.node.tick();
      expect(rig.node.keys.reachable).toBe(false);
      expect(rig.node.monitor.health()).toBe("degraded");
    },
  );

  test("a key destroyed at the tenant's own service is said to be so, and is no failure of the node's", async () => {
    const service = switchableVault();
    const rig = await rigOf(withService("beta", service));
    await put(rig, "beta", "k", pattern(9000));
    await service.configureKey("storage-tenant-beta", { deletionAllowed: true });
    await service.deleteKey("storage-tenant-beta");
    pass(rig, 400_000);
    await expect(get(rig, "beta", "k")).rejects.toMatchObject({ code: "TenantKmsLost" });
  });
});
