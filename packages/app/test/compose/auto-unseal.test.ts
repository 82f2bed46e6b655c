import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { startVaultEmulator, type VaultEmulator } from "@seneschal/adapters/vault/emulator";
import { serve } from "@seneschal/server-fastify";
import { serveS3 } from "@seneschal/server-s3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { checkConfig } from "../../src/compose/check-config.ts";
import { rekeyServiceVault } from "../../src/compose/operate-vault.ts";
import { prepareData } from "../../src/compose/prepare-data.ts";
import { processSettings } from "../../src/compose/process-settings.ts";
import { startProcess } from "../../src/compose/start-process.ts";

const log = openLogger({ level: "silent" });
let dir: string;
let other: VaultEmulator;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "seneschal-auto-"));
  other = await startVaultEmulator({
    crypto: nodeCrypto,
    random: systemRandom,
    now: Date.now,
    rootToken: "t",
    logins: { approle: { roleId: "r", secretId: "s" } },
  });
});
afterAll(async () => {
  await other.close();
  await rm(dir, { recursive: true, force: true });
});

const configured = (vault: object) =>
  processSettings.parse({ services: ["gateway"], data_dir: dir, start_timeout: "0s", gateway: { server: { port: 0 }, vault } });
const transit = async (keyName = "autounseal") => {
  const secret_id_file = join(dir, "secret-id");
  await writeFile(secret_id_file, "s\n");
  return configured({
    seal: { kind: "transit", address: other.address, key_name: keyName, approle: { role_id: "r", secret_id_file } },
  });
};
const starts = async (config: Parameters<typeof startProcess>[0]): Promise<string> => {
  const running = await startProcess(config, { serve, serveS3, log, version: "test" });
  const [service] = running.services;
  const answer = await fetch(`${service?.url}/sys/seal-status`);
  const { type, sealed } = (await answer.json()) as { type: string; sealed: boolean };
  await running.stop();
  return `${type} ${sealed ? "sealed" : "open"}`;
};
const nobody = { shares: 5, threshold: 3, bring: () => Promise.reject(new Error("nobody is asked")) };

it("a vault that is rekeyed to another's transit key opens by itself while that vault has the key, and not by its file any more", async () => {
  const byFile = configured({});
  await prepareData(dir, systemRandom);
  expect(await starts(byFile)).toBe("key_file open");
  const config = await transit();
  // The key is not made by use: a mistyped name would make another.
  await expect(rekeyServiceVault(byFile, "gateway", config, nobody)).rejects.toMatchObject({ code: "key_not_found" });
  expect(await starts(byFile)).toBe("key_file open");
  await fetch(`${other.address}/v1/transit/keys/autounseal`, { method: "POST", headers: { "x-vault-token": "t" }, body: "{}" });
  await rekeyServiceVault(byFile, "gateway", config, nobody);
  expect(await starts(config)).toBe("transit open");
  await expect(starts(byFile)).rejects.toMatchObject({ code: "vault_unavailable" });
  await expect(starts(await transit("another"))).rejects.toMatchObject({ code: "vault_unavailable" });

  // Rotated there, it opens what it wrapped before.
  await fetch(`${other.address}/v1/transit/keys/autounseal/rotate`, {
    method: "POST",
    headers: { "x-vault-token": "t" },
    body: "{}",
  });
  expect(await starts(config)).toBe("transit open");
  other.setSealed(true);
  await expect(starts(config)).rejects.toMatchObject({ code: "vault_unavailable" });
  other.setSealed(false);
  const back = configured({ seal: { kind: "key_file", key_file: join(dir, "second.key") } });
  await rekeyServiceVault(config, "gateway", back, nobody);
  expect(await starts(back)).toBe("key_file open");
});

it("a seal is written one way, completely, and the check of the configuration asks for whom it needs", async () => {
  const reasons = (vault: object) =>
    processSettings.safeParse({ gateway: { vault } }).error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  expect(reasons({ seal: { kind: "transit", address: "http://127.0.0.1:1", key_name: "k" } })).toEqual([
    "gateway.vault.seal: transit needs exactly one of token, approle, kubernetes, cert",
  ]);
  expect(reasons({ passphrase: "p", seal: { kind: "shamir" } })?.[0]).toContain(
    "seal stands in place of key_file and passphrase",
  );
  expect(reasons({ seal: { kind: "shamir", pin: "1" } })?.[0]).toContain("gateway.vault.seal");
  const now = systemClock.now();
  const config = await transit();
  expect((await checkConfig(config, { now })).filter(({ setting }) => setting.includes("vault"))).toEqual([]);
  const approle = { role_id: "r", secret_id_file: join(dir, "gone") };
  const gone = configured({ seal: { kind: "transit", address: "http://127.0.0.1:1", key_name: "k", approle } });
  const found = (await checkConfig(gone, { now })).filter(({ setting }) => setting.includes("vault"));
  expect(found.map(({ setting }) => setting).sort()).toEqual([
    "gateway.vault.seal.address",
    "gateway.vault.seal.approle.secret_id_file",
  ]);
});
