import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { seededRandom, settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { connectVault, openHttpVault, type VaultAuth } from "@seneschal/adapters/vault";
import { startVaultEmulator, type VaultEmulator } from "@seneschal/adapters/vault/emulator";
import { nobleCrypto, utf8 } from "@seneschal/crypto";
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
import { vaultSuite } from "@seneschal/kernel/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runner } from "../suite-runner.ts";
import { pkiSuite } from "./pki-suite.ts";

const clock = settableClock(Date.UTC(2026, 5, 1));
const random = seededRandom(7);
let emulator: VaultEmulator;
const start = (more: object = {}) => startVaultEmulator({ crypto: nodeCrypto, random, now: clock.now, ...more });
const connect = (server: VaultEmulator, auth: VaultAuth = { kind: "token", token: server.rootToken }, more: object = {}) =>
  connectVault({ address: server.address, auth, now: clock.now, ...more });
const unavailable = expect.objectContaining({ code: "vault_unavailable" });

beforeAll(async () => {
  emulator = await start();
});
afterAll(() => emulator.close());

describe("the HTTP vault against the emulator", () => {
  vaultSuite(runner, { label: "http", open: async () => openHttpVault({ connection: connect(emulator) }) });
});

describe("transit over HTTP", () => {
  const call = async (path: string, body?: object, method = "POST") => {
    const response = await fetch(`${emulator.address}/v1/transit/${path}`, {
      method,
      headers: { "x-vault-token": emulator.rootToken },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return {
      status: response.status,
      body: (await response.json().catch(() => ({}))) as { data: Record<string, string>; errors: string[] },
    };
  };
  const b64 = (text: string) => Buffer.from(text).toString("base64");

  test("a batch answers per item, with status as configured, reference and version echoed", async () => {
    await call("keys/batch", {});
    await call("keys/batch/rotate", {});
    const items = [
      { plaintext: b64("a"), reference: "r1", key_version: 1 },
      { reference: "r2" },
      { plaintext: "", reference: "r3" },
      { plaintext: b64("d"), key_version: 9 },
    ];
    const { status, body } = await call("encrypt/batch", { batch_input: items });
    expect(status).toBe(400);
    const results = body.data["batch_results"] as unknown as Record<string, unknown>[];
    expect(results[0]).toMatchObject({ key_version: 1, reference: "r1", ciphertext: expect.stringMatching(/^vault:v1:/) });
    expect(results[1]).toEqual({ error: "missing plaintext to encrypt", reference: "r2" });
    expect(results[2]).toMatchObject({ key_version: 2, reference: "r3" });
    expect(results[3]).toMatchObject({ error: expect.stringMatching(/version/) });
    const lenient = await call("encrypt/batch", { batch_input: items, partial_failure_response_code: 207 });
    expect(lenient.status).toBe(207);
  });

  test("derived keys need their context, and another context opens nothing", async () => {
    await call("keys/derived", { derived: true });
    expect((await call("encrypt/derived", { plaintext: b64("x") })).status).toBe(400);
    const { body } = await call("encrypt/derived", { plaintext: b64("x"), context: b64("c1") });
    const ciphertext = body.data["ciphertext"];
    expect((await call("decrypt/derived", { ciphertext, context: b64("c1") })).body.data["plaintext"]).toBe(b64("x"));
    expect((await call("decrypt/derived", { ciphertext, context: b64("c2") })).status).toBe(400);
    expect((await call("decrypt/derived", { ciphertext })).status).toBe(400);
    expect((await call("decrypt/derived", { ciphertext, context: b64("c1"), associated_data: b64("a") })).status).toBe(400);
  });

  test("convergent encryption is equal for equal input under one context, and needs derivation", async () => {
    expect((await call("keys/bad", { convergent_encryption: true })).status).toBe(400);
    await call("keys/convergent", { derived: true, convergent_encryption: true });
    const seal = async (text: string, context: string) =>
      (await call("encrypt/convergent", { plaintext: b64(text), context: b64(context) })).body.data["ciphertext"];
    expect(await seal("x", "c")).toBe(await seal("x", "c"));
    expect(await seal("x", "c")).not.toBe(await seal("x", "d"));
    expect(await seal("x", "c")).not.toBe(await seal("y", "c"));
  });

  test("encrypting makes a missing key, unless that is switched off", async () => {
    expect((await call("encrypt/upserted", { plaintext: b64("x") })).status).toBe(200);
    await call("config/keys", { disable_upsert: true });
    expect((await call("encrypt/never", { plaintext: b64("x") })).status).toBe(400);
    await call("config/keys", { disable_upsert: false });
    expect((await call("keys/never", undefined, "GET")).status).toBe(404);
  });

  test("a data key comes once in the clear and can be unwrapped again", async () => {
    await call("keys/dk", {});
    const { body } = await call("datakey/plaintext/dk", { bits: 512 });
    expect(Buffer.from(body.data["plaintext"] ?? "", "base64")).toHaveLength(64);
    expect((await call("decrypt/dk", { ciphertext: body.data["ciphertext"] })).body.data["plaintext"]).toBe(
      body.data["plaintext"],
    );
    expect((await call("datakey/wrapped/dk", {})).body.data).not.toHaveProperty("plaintext");
  });

  test("an empty list is a 404 on the wire and an empty list here", async () => {
    const fresh = await start();
    expect(
      (await fetch(`${fresh.address}/v1/transit/keys?list=true`, { headers: { "x-vault-token": fresh.rootToken } })).status,
    ).toBe(404);
    expect(await openHttpVault({ connection: connect(fresh) }).listKeys()).toEqual([]);
    await fresh.close();
  });
});

describe("logins", () => {
  const logins = { approle: { roleId: "r", secretId: "s" }, kubernetes: { role: "gw", jwt: "token-1" }, cert: ["node-1"] };

  test("AppRole and Kubernetes log in, and again when the lease is over or the token was revoked", async () => {
    const server = await start({ logins });
    for (const auth of [
      { kind: "approle", roleId: "r", secretId: async () => "s" },
      { kind: "kubernetes", role: "gw", jwt: async () => "token-1" },
    ] as const) {
      const connection = connect(server, auth);
      const vault = openHttpVault({ connection });
      await vault.createKey(`k-${auth.kind}`);
      clock.advance(3_000_000);
      expect(await vault.keyInfo(`k-${auth.kind}`)).toBeDefined();
      await connection.call("POST", "auth/token/revoke-self");
      expect(await vault.keyInfo(`k-${auth.kind}`)).toBeDefined();
      connection.close();
    }
    await server.close();
  });

  test("a refused login is vault_unavailable and shows no secret", async () => {
    const server = await start({ logins });
    const auth = { kind: "approle", roleId: "r", secretId: async () => "canary-secret" } as const;
    const vault = openHttpVault({ connection: connect(server, auth) });
    const failure = await vault.listKeys().catch((error: Error) => error);
    expect(failure).toEqual(unavailable);
    expect(`${failure}${JSON.stringify(failure)}`).not.toContain("canary");
    const wrongToken = openHttpVault({ connection: connect(server, { kind: "token", token: "canary-token" }) });
    const denied = await wrongToken.listKeys().catch((error: Error) => error);
    expect(denied).toEqual(unavailable);
    expect(`${denied}${JSON.stringify(denied)}`).not.toContain("canary");
    await server.close();
  });

  test("a client certificate logs in over TLS; another name and a foreign CA do not", async () => {
    const now = clock.now();
    const make = async (ca: Awaited<ReturnType<typeof makeCa>>, cn: string) => {
      const key = newPrivateKey(nobleCrypto, "p256", random);
      const certificate = await issueCertificate(nobleCrypto, ca, {
        serial: newSerial(random),
        subject: [{ type: "CN", value: cn }],
        publicKey: localSigner(nobleCrypto, key).publicKey,
        notBefore: Date.now() - 60_000,
        notAfter: Date.now() + 3_600_000,
        extensions: {
          keyUsage: ["digitalSignature"],
          extendedKeyUsage: ["clientAuth", "serverAuth"],
          subjectAltNames: [{ kind: "ip", value: "127.0.0.1" }],
        },
      });
      return { cert: certificatePem(certificate), key: encodePem("PRIVATE KEY", encodePrivateKey(nobleCrypto, key)) };
    };
    const makeCa = async () => {
      const signer = localSigner(nobleCrypto, newPrivateKey(nobleCrypto, "p256", random));
      const certificate = await createRoot(nobleCrypto, signer, {
        serial: newSerial(random),
        subject: [{ type: "CN", value: `CA ${now}` }],
        notBefore: Date.now() - 120_000,
        notAfter: Date.now() + 7_200_000,
      });
      return { certificate, signer };
    };
    const [ca, foreign] = [await makeCa(), await makeCa()];
    const caPem = certificatePem(ca.certificate);
    const server = await start({ logins, tls: { ...(await make(ca, "server")), ca: caPem } });
    const open = (credentials: object, trusted = caPem) =>
      openHttpVault({ connection: connect(server, { kind: "cert", name: "gw" }, { ...credentials, ca: trusted }) });
    expect(await open(await make(ca, "node-1")).listKeys()).toEqual([]);
    await expect(open(await make(ca, "node-2")).listKeys()).rejects.toThrow(unavailable);
    await expect(open(await make(foreign, "node-1")).listKeys()).rejects.toThrow(unavailable);
    await expect(open(await make(ca, "node-1"), certificatePem(foreign.certificate)).listKeys()).rejects.toThrow(unavailable);
    await server.close();
  });

  test("the namespace goes along with every call", async () => {
    const server = await start({ namespace: "team-a" });
    const inside = openHttpVault({ connection: connect(server, undefined, { namespace: "team-a" }) });
    await inside.createKey("k");
    expect(await inside.listKeys()).toEqual(["k"]);
    expect(await openHttpVault({ connection: connect(server) }).keyInfo("k")).toBeUndefined();
    await server.close();
  });
});

describe("a vault that does not answer", () => {
  test("sealed, gone, silent or talking nonsense is vault_unavailable", async () => {
    const server = await start();
    const vault = openHttpVault({ connection: connect(server, undefined, { timeout: 100 }) });
    await vault.createKey("k");
    const ciphertext = await vault.encrypt("k", utf8("x"));
    server.setSealed(true);
    await expect(vault.decrypt("k", ciphertext)).rejects.toThrow(unavailable);
    expect(await vault.health()).toMatchObject({ sealed: true });
    server.setSealed(false);
    expect(await vault.decrypt("k", ciphertext)).toEqual(utf8("x"));
    await server.close();
    await expect(vault.decrypt("k", ciphertext)).rejects.toThrow(unavailable);

    const silent = createServer(() => {});
    const garbage = createServer((_request, response) => response.end("<html>"));
    for (const odd of [silent, garbage]) {
      await new Promise<void>((resolve) => odd.listen(0, "127.0.0.1", resolve));
      const address = `http://127.0.0.1:${(odd.address() as AddressInfo).port}`;
      const client = openHttpVault({
        connection: connectVault({ address, auth: { kind: "token", token: "t" }, now: clock.now, timeout: 100 }),
      });
      await expect(client.keyInfo("k")).rejects.toThrow(unavailable);
      odd.closeAllConnections();
      odd.close();
    }
  });
});

describe("PKI over HTTP", () => {
  pkiSuite({ open: async () => connect(emulator), now: clock.now, advance: clock.advance });
});
