import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { startVaultEmulator, type VaultEmulator } from "@seneschal/adapters/vault/emulator";
import {
  certificatePem,
  createRoot,
  encodePem,
  encodePrivateKey,
  issueCertificate,
  localSigner,
  newPrivateKey,
  newSerial,
} from "@seneschal/crypto/x509";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openVaultServer } from "../../src/compose/open-vault.ts";
import { vaultSettings } from "../../src/compose/storage-settings.ts";

describe("a vault server, as it is configured", () => {
  const directory = mkdtempSync(join(tmpdir(), "seneschal-vault-"));
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  let emulator: VaultEmulator;
  let common: object;
  let client: { readonly cert_file: string; readonly key_file: string };
  beforeAll(async () => {
    const caKey = localSigner(nodeCrypto, newPrivateKey(nodeCrypto, "p256", systemRandom));
    const valid = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
    const root = { serial: newSerial(systemRandom), subject: [{ type: "CN", value: "CA" }], ...valid };
    const ca = { signer: caKey, certificate: await createRoot(nodeCrypto, caKey, root) };
    const make = async (name: string) => {
      const key = newPrivateKey(nodeCrypto, "p256", systemRandom);
      const certificate = await issueCertificate(nodeCrypto, ca, {
        serial: newSerial(systemRandom),
        subject: [{ type: "CN", value: name }],
        ...valid,
        publicKey: localSigner(nodeCrypto, key).publicKey,
        extensions: {
          keyUsage: ["digitalSignature"],
          extendedKeyUsage: ["clientAuth", "serverAuth"],
          subjectAltNames: [{ kind: "ip", value: "127.0.0.1" }],
        },
      });
      return { cert: certificatePem(certificate), key: encodePem("PRIVATE KEY", encodePrivateKey(nodeCrypto, key)) };
    };
    const caPem = certificatePem(ca.certificate);
    emulator = await startVaultEmulator({
      crypto: nodeCrypto,
      random: systemRandom,
      now: Date.now,
      namespace: "team/a",
      logins: { approle: { roleId: "r", secretId: "s" }, kubernetes: { role: "gw", jwt: "account-token" }, cert: ["gateway"] },
      tls: { ...(await make("vault")), ca: caPem },
    });
    const own = await make("gateway");
    client = { cert_file: file("cert.pem", own.cert), key_file: file("key.pem", own.key) };
    common = { kind: "http", address: emulator.address, ca_file: file("ca.pem", caPem), namespace: "team/a" };
  });
  afterAll(async () => {
    await emulator.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const open = (given: object) => {
    return openVaultServer(vaultSettings.parse({ ...common, ...given }), systemClock);
  };

  it("is reached by token, AppRole, service account and certificate, in its namespace", async () => {
    const logins: readonly object[] = [
      { token: emulator.rootToken },
      { approle: { role_id: "r", secret_id_file: file("secret-id", "s\n") } },
      { kubernetes: { role: "gw", jwt_file: file("jwt", "account-token\n") } },
      { cert: { ...client, name: "gateway" } },
    ];
    for (const [i, login] of logins.entries()) {
      const vault = await open(login);
      await vault.createKey(`k${i}`);
      const sealed = await vault.encrypt(`k${i}`, Uint8Array.of(1, 2), Uint8Array.of(3));
      expect(await vault.decrypt(`k${i}`, sealed, Uint8Array.of(3))).toEqual(Uint8Array.of(1, 2));
    }
    const elsewhere = await open({ token: emulator.rootToken, namespace: "team/b" });
    expect(await elsewhere.keyInfo("k0")).toBeUndefined();
  });

  it("a secret that is replaced in its file is used at the next login", async () => {
    const secret_id_file = file("rotating", "wrong");
    const vault = await open({ approle: { role_id: "r", secret_id_file } });
    await expect(vault.listKeys()).rejects.toMatchObject({ code: "vault_unavailable" });
    file("rotating", "s");
    expect(await vault.listKeys()).toBeDefined();
  });

  it("none or two ways to log in, a missing file and a missing address are refused by name", async () => {
    const reasons = (given: object) => vaultSettings.safeParse({ ...common, ...given }).error?.issues[0]?.message;
    expect(reasons({})).toContain("exactly one of token, approle, kubernetes, cert");
    expect(reasons({ token: "t", cert: client })).toContain("exactly one of");
    expect(reasons({ address: undefined, token: "t" })).toBe("http needs address");
    await expect(open({ cert: { ...client, key_file: join(directory, "gone") } })).rejects.toThrow(/vault\.cert\.key_file/);
  });
});
