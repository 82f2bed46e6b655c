import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { connectVault, openHttpVault } from "@seneschal/adapters/vault";
import { startVaultEmulator } from "@seneschal/adapters/vault/emulator";
import { vaultSuite } from "@seneschal/kernel/testing";
import { afterAll, describe, expect, test } from "vitest";
import { runner } from "../suite-runner.ts";
import { migrateVaultSuite } from "../vault/migrate-vault-suite.ts";
import { pkiSuite } from "../vault/pki-suite.ts";

const real = process.env["VAULT_ADDR"];

/**
 * A Vault or OpenBao at `VAULT_ADDR`, with the transit engine at `transit` and a `VAULT_TOKEN` that may mount engines and logins; the
 * emulator where none is named, over the same path.
 */
describe(`the HTTP vault against ${real ?? "the emulator (VAULT_ADDR is not set)"}`, () => {
  const emulator =
    real === undefined ? startVaultEmulator({ crypto: nodeCrypto, random: systemRandom, now: Date.now }) : undefined;
  const label = `suite-${Date.now()}`;
  const connect = async () => {
    const started = await emulator;
    const auth = { kind: "token", token: started?.rootToken ?? process.env["VAULT_TOKEN"] ?? "" } as const;
    return connectVault({ address: started?.address ?? real ?? "", auth, now: Date.now });
  };
  afterAll(async () => (await emulator)?.close());

  vaultSuite(runner, { label, open: async () => openHttpVault({ connection: await connect() }) });
  pkiSuite({ open: connect, now: Date.now });
  migrateVaultSuite({ label: `move-${label}`, runs: Number(process.env["FC_RUNS"] ?? 10), open: connect });

  test.skipIf(real === undefined)("AppRole logs in under a mount of its own, and a wrong secret does not", async () => {
    const root = await connect();
    const mount = `approle-${label}`;
    await root.call("POST", `sys/policies/acl/${label}`, {
      policy: `path "transit/*" { capabilities = ["create","read","update","list"] }`,
    });
    await root.call("POST", `sys/auth/${mount}`, { type: "approle" });
    await root.call("POST", `auth/${mount}/role/gateway`, { token_policies: label });
    const { data: role } = await root.call("GET", `auth/${mount}/role/gateway/role-id`);
    const { data: secret } = await root.call("POST", `auth/${mount}/role/gateway/secret-id`);
    const open = (secretId: string) => {
      const auth = { kind: "approle", mount, roleId: String(role["role_id"]), secretId: async () => secretId } as const;
      return openHttpVault({ connection: connectVault({ address: real ?? "", auth, now: Date.now }) });
    };
    expect(await open(String(secret["secret_id"])).listKeys()).toEqual(expect.any(Array));
    await expect(open("wrong").listKeys()).rejects.toThrow(expect.objectContaining({ code: "vault_unavailable" }));
    await root.call("DELETE", `sys/auth/${mount}`);
  });
});
