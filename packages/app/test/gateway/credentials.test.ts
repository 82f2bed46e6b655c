import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import {
  certificatePem,
  createRoot,
  encodePem,
  encodePrivateKey,
  issueCertificate,
  localSigner,
  newPrivateKey,
  newSerial,
  publicKeyOf,
} from "@seneschal/crypto/x509";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { devIssuer, systemCall } from "../../src/gateway/index.ts";
import { revokeCertificate } from "../../src/gateway/people/certificates.ts";
import { openRig, type Rig } from "./rig.ts";

const verdict = (answer: { status: number; body: { error?: { code: string; message: string } } }) => [
  answer.status,
  answer.body.error?.code,
  answer.body.error?.message,
];

describe("credentials", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  it("a revoked certificate is refused on the next request, on the connection that is open", async () => {
    const auditor = rig.admin("acme", "auditor");
    expect((await auditor("GET", "/api/v1/audit")).status).toBe(200);
    const serial = rig.dev.organizations["acme"]?.admins.auditor.serial_number ?? "";
    await rig.gateway.services.transact(systemCall("system:test", "acme", rig.clock.now()), async (unit) => {
      await revokeCertificate(unit, serial);
    });
    const refused = await auditor("GET", "/api/v1/audit");
    expect(verdict(refused)).toEqual([401, "CERT_UNTRUSTED", "untrusted certificate"]);
    expect(refused.body.error.details.reason).toBe("revoked");
  });

  it("a certificate past its time is refused, also on a connection that was opened in time", async () => {
    const operations = rig.admin("acme", "operations_admin");
    expect((await operations("GET", "/api/v1/workspaces")).status).toBe(200);
    rig.clock.advance(91 * 86_400_000);
    expect(verdict(await operations("GET", "/api/v1/workspaces"))).toEqual([401, "CERT_EXPIRED", "certificate expired"]);
    rig.clock.advance(-91 * 86_400_000);
  });

  it("a certificate of another CA is refused, whatever organisation and serial it names", async () => {
    const admin = rig.dev.organizations["acme"]?.admins.super_admin;
    const ca = localSigner(nodeCrypto, newPrivateKey(nodeCrypto, "p256", systemRandom));
    const times = { notBefore: Date.now() - 1000, notAfter: Date.now() + 1_000_000 };
    const root = await createRoot(nodeCrypto, ca, {
      serial: newSerial(systemRandom),
      subject: [{ type: "CN", value: "Evil" }],
      ...times,
    });
    const key = newPrivateKey(nodeCrypto, "p256", systemRandom);
    const forged = await issueCertificate(
      nodeCrypto,
      { certificate: root, signer: ca },
      {
        serial: Uint8Array.from((admin?.serial_number ?? "").split(":"), (byte) => Number.parseInt(byte, 16)),
        subject: [
          { type: "O", value: "acme" },
          { type: "CN", value: admin?.email ?? "" },
        ],
        publicKey: publicKeyOf(nodeCrypto, key),
        ...times,
        extensions: { keyUsage: ["digitalSignature"], extendedKeyUsage: ["clientAuth"] },
      },
    );
    const eve = rig.with({ cert: certificatePem(forged), key: encodePem("PRIVATE KEY", encodePrivateKey(nodeCrypto, key)) });
    expect(verdict(await eve("GET", "/api/v1/workspaces"))).toEqual([401, "CERT_UNTRUSTED", "untrusted certificate"]);
  });

  it("tokens: garbage, a foreign key, a foreign issuer and an old one have the texts of the interface", async () => {
    const ask = (token: string, scheme = "Bearer") =>
      rig.anonymous("GET", "/api/v1/workspaces", undefined, { authorization: `${scheme} ${token}` });
    const claims = { sub: "x", org: "acme", roles: ["auditor"] };
    const now = rig.clock.now();
    const good = rig.issuer.token(claims, now);
    expect((await ask(good)).status).toBe(200);
    expect(verdict(await ask("x.y.z"))).toEqual([401, "INVALID_TOKEN", "invalid token"]);
    expect(verdict(await ask(good, "Basic"))).toEqual([401, "INVALID_TOKEN", "invalid token"]);
    expect(verdict(await ask(devIssuer().token(claims, now)))).toEqual([401, "INVALID_TOKEN", "invalid token"]);
    expect(verdict(await ask(rig.issuer.token(claims, now - 3_600_000)))).toEqual([401, "TOKEN_EXPIRED", "token expired"]);
    const other = devIssuer(rig.issuer.privateKey, "https://evil.example");
    expect(verdict(await ask(other.token(claims, now)))).toEqual([401, "INVALID_ISSUER", "invalid issuer"]);
    for (const org of ["", "a/b", "a".repeat(129)]) {
      expect(verdict(await ask(rig.issuer.token({ ...claims, org }, now)))).toEqual([401, "INVALID_TOKEN", "invalid token"]);
    }
  });

  it.each(["a\0b", "a\u001fb", "a\ud800", "\udc00b"])("a claim that no store can hold is no claim: %j", async (text) => {
    const good = { sub: "x", org: "acme", roles: ["super_admin"], email: "x@acme.test", email_verified: true };
    for (const bad of [{ sub: text }, { email: text }, { org: text }, { roles: ["super_admin", text] }, { scope: text }]) {
      const caller = rig.bearer({ ...good, ...bad });
      for (const [method, path, body] of [
        ["GET", "/api/v1/workspaces"],
        ["POST", "/api/v1/emergency-access/request", { reason: "fire" }],
      ] as const)
        expect([bad, ...verdict(await caller(method, path, body))]).toEqual([bad, 401, "INVALID_TOKEN", "invalid token"]);
    }
  });

  it("failed authentication is audited, in nobody's organisation", async () => {
    await rig.anonymous("GET", "/api/v1/workspaces", undefined, { authorization: "Bearer x.y.z" });
    const { items } = await rig.store.list("audit", "by_type", ["/instance", "auth.failure"], { limit: 10 });
    expect(items.length).toBeGreaterThan(0);
  });
});
