import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDataChannel, openObjectClient } from "@seneschal/adapters/grpc-storage";
import { openLogger } from "@seneschal/adapters/logging";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { connectVault, openHttpVault } from "@seneschal/adapters/vault";
import { startVaultEmulator } from "@seneschal/adapters/vault/emulator";
import { serve } from "@seneschal/server-fastify";
import { serveGrpc } from "@seneschal/server-grpc";
import { serveS3 } from "@seneschal/server-s3";
import { expect, test } from "vitest";
import { storageServiceSettings } from "../../src/compose/service-settings.ts";
import { startService } from "../../src/platform/index.ts";
import { storageService } from "../../src/storage/service.ts";
import { refusal } from "../storage/grpc-rig.ts";
import { startStorage } from "../storage/harness.ts";
import { bytesOf, collect } from "../storage/rig.ts";

const admin = "seneschal.storage.v1.TenantKeyService";

test("a tenant's own key service holds its key; without it only that tenant fails, once its cache is gone", async () => {
  const directory = await mkdtemp(join(tmpdir(), "seneschal-tenant-vaults-"));
  await writeFile(join(directory, "unseal.key"), randomBytes(32).toString("base64"), { mode: 0o600 });
  const emulator = await startVaultEmulator({ crypto: nodeCrypto, random: systemRandom, now: Date.now });
  let now = Date.now();
  const config = storageServiceSettings.parse({
    database: { kind: "memory" },
    cluster: { kind: "memory", peer_address: "127.0.0.1:0" },
    grpc: { address: "127.0.0.1:0", insecure: true },
    s3: { port: 0 },
    tenant_vaults: { alpha: { kind: "http", address: emulator.address, token: emulator.rootToken } },
  });
  const clock = { ...systemClock, now: () => now };
  const service = await startService(storageService(directory, { serveS3, serveGrpc }), config, {
    serve,
    listen: { port: 0 },
    clock,
    random: systemRandom,
    log: openLogger({ level: "silent" }),
    version: "test",
  });
  const address = service.listeners["data"] ?? "";
  const keys = openDataChannel(admin, { address });
  const client = openObjectClient({ address });
  const names = ["alpha", "beta"] as const;
  try {
    const built = openDataChannel("seneschal.storage.v1.ObjectService", { address });
    for (const tenant of names) {
      await keys.ask("Create", { tenant });
      await built.ask("CreateBucket", { tenant, bucket: `of-${tenant}` });
      await client.put({ tenant, bucket: `of-${tenant}`, key: "k" }, bytesOf(Buffer.from(tenant)));
    }
    built.close();
    const connection = connectVault({
      address: emulator.address,
      auth: { kind: "token", token: emulator.rootToken },
      now: Date.now,
    });
    expect(await openHttpVault({ connection }).listKeys()).toEqual(["storage-tenant-alpha"]);

    emulator.setSealed(true);
    const read = async (tenant: string) => (await collect(client.get({ tenant, bucket: `of-${tenant}`, key: "k" }))).toString();
    expect(await Promise.all(names.map(read))).toEqual([...names]);
    now += 90_000;
    expect(await refusal(read("alpha"))).toMatchObject({
      code: "TenantKmsUnreachable",
      details: { status: 14, retriable: true },
    });
    expect(await read("beta")).toBe("beta");
    expect((await keys.ask("CheckKmsHealth", { tenant: "beta" }))["reachable"]).toBe(true);
    emulator.setSealed(false);
    expect(await read("alpha")).toBe("alpha");

    await keys.ask("CryptoShred", { tenant: "alpha", confirm: "alpha" });
    expect(await openHttpVault({ connection }).listKeys()).toEqual([]);
    expect(await refusal(read("alpha"))).toMatchObject({ code: "CryptoShredComplete" });
  } finally {
    keys.close();
    client.close();
    await service.stop();
    await emulator.close();
    await rm(directory, { recursive: true, force: true });
  }
});

test("nodes over etcd without a shared database, or without TLS between them, do not start", async () => {
  const cluster = { kind: "etcd", endpoints: ["http://127.0.0.1:1"] };
  expect(() => storageServiceSettings.parse({ cluster })).toThrow("database.kind must be postgres");
  await expect(startStorage(serve, { cluster })).rejects.toThrow("mutual TLS");
});

test("a tenant's own key service is a server, not a file", () => {
  expect(() => storageServiceSettings.parse({ tenant_vaults: { alpha: { kind: "embedded" } } })).toThrow("over http");
});
