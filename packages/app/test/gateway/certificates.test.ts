import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import {
  certificatePem,
  encodePem,
  encodePrivateKey,
  issueCertificate,
  newPrivateKey,
  parseCertificate,
  publicKeyOf,
} from "@seneschal/crypto/x509";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authorities } from "../../src/gateway/ground/pki/collections.ts";
import { systemCall } from "../../src/gateway/index.ts";
import { ensureIdentity } from "../../src/gateway/partners/federation/identity.ts";
import { openTestStore } from "./backend.ts";
import { memoryVault, openRig, type Rig } from "./rig.ts";
import { handshake } from "./tls-handshake.ts";

const PUBLIC = "https://gateway.acme.example/keys/";
const settings = {
  pki: { public_url: PUBLIC, server_names: { acme: [".acme.example", "192.0.2.7", "localhost"], globex: ["globex.example"] } },
};
const ISSUE = "/api/v1/certificates/issue";

describe("trust is narrow", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig({ settings });
  });
  afterAll(() => rig.close());
  const issue = (body: object, org = "acme") => rig.admin(org, "operations_admin")("POST", ISSUE, body);

  it("no certificate from an organisation's CA makes a server in the eyes of a client of the instance", async () => {
    const { body } = await issue({ common_name: "www.acme.example", alt_names: ["other.example", "192.0.2.1"] });
    const leaf = parseCertificate(body.certificate);
    expect(leaf.extensions.extendedKeyUsage).toEqual(["clientAuth"]);
    for (const ca of [rig.dev.ca, rig.dev.clientCa, rig.dev.ca + rig.dev.clientCa]) {
      for (const name of ["www.acme.example", "other.example"]) {
        const verdict = await handshake(
          { cert: body.certificate + body.issuing_ca, key: body.private_key },
          { ca, servername: name },
        );
        expect(verdict, name).toMatch(/UNABLE_TO|INVALID_PURPOSE|SELF_SIGNED/);
      }
    }
  });

  it("every certificate of an organisation, whatever asked for it, is a client's, and its CA can sign nothing else", async () => {
    const acme = rig.admin("acme");
    const service = await acme("POST", "/api/v1/identities/services", { name: "billing", auth_method: "cert" });
    expect(service.status, service.text).toBe(201);
    const { services } = rig.gateway;
    await services.transact(systemCall("system:test", "acme", rig.clock.now()), (unit) => ensureIdentity(services, unit, "acme"));
    await issue({ common_name: "sensor" });
    const { certificates } = (await acme("GET", "/api/v1/certificates?limit=1000")).body;
    expect(certificates.length).toBeGreaterThan(5);
    for (const { certificate, issuing_ca } of certificates) {
      const [leaf, ca] = [parseCertificate(certificate), parseCertificate(issuing_ca)];
      if (ca.subjectDer.toString() === parseCertificate(rig.dev.ca).subjectDer.toString()) continue;
      expect(leaf.extensions.extendedKeyUsage).toEqual(["clientAuth"]);
      expect(ca.extensions).toMatchObject({ ca: { pathLength: 0 }, extendedKeyUsage: ["clientAuth"] });
    }
    const wrong = rig.gateway.services.transact(systemCall("system:test", "acme", rig.clock.now()), async (unit) => {
      const issuer = await rig.gateway.services.pki.issuer(unit, "acme");
      const { notBefore, notAfter, publicKey } = issuer.certificate;
      await issueCertificate(nodeCrypto, issuer, {
        serial: Uint8Array.of(1),
        subject: [{ type: "CN", value: "x" }],
        publicKey,
        notBefore,
        notAfter,
        extensions: { extendedKeyUsage: ["serverAuth"] },
      });
    });
    await expect(wrong).rejects.toThrow("purposes beyond the issuer's");
  });

  it.each(["client", "server"])("a name of the instance is nobody's, %s", async (usage) => {
    const names = [
      "localhost",
      "LOCALHOST.",
      "a.localhost",
      "127.0.0.1",
      "127.9.9.9",
      "::1",
      "0:0:0:0:0:0:0:1",
      "::ffff:127.0.0.1",
    ];
    for (const name of [...names, "gateway.acme.example", "*.acme.example"]) {
      for (const [field, body] of [
        ["common_name", { common_name: name }],
        ["alt_names.0", { common_name: "www.acme.example", alt_names: [name] }],
      ] as const) {
        const { status, body: said } = await issue({ ...body, usage });
        // A trailing dot is no host name in a certificate.
        if (status === 400) expect(name).toMatch(/\.$/);
        else expect([status, said.error.code, said.error.details.field], `${field} ${name}`).toEqual([403, "FORBIDDEN", field]);
      }
    }
  });

  it("a server certificate holds names that the operator gave the organisation, and holds towards those who pin the instance's servers", async () => {
    const { status, body } = await issue({
      common_name: "www.acme.example",
      alt_names: ["192.0.2.7", "*.eu.acme.example"],
      usage: "server",
    });
    expect(status).toBe(200);
    expect(parseCertificate(body.certificate).extensions).toMatchObject({
      extendedKeyUsage: ["serverAuth"],
      subjectAltNames: [
        { kind: "dns", value: "www.acme.example" },
        { kind: "ip", value: "192.0.2.7" },
        { kind: "dns", value: "*.eu.acme.example" },
      ],
    });
    const identity = { cert: body.certificate, key: body.private_key };
    expect(await handshake(identity, { ca: rig.dev.ca, servername: "www.acme.example" })).toBe("accepted");
    expect(await handshake(identity, { ca: rig.dev.ca })).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
    // It speaks for nobody as a client.
    expect((await rig.with(identity)("GET", "/api/v1/workspaces")).status).toBe(401);
    for (const [org, name] of [
      ["globex", "www.acme.example"],
      ["globex", "www.globex.example"],
      ["acme", "acme.example"],
      ["acme", "evilacme.example"],
      ["acme", "globex.example"],
      ["acme", "192.0.2.8"],
    ] as const) {
      const refused = await issue({ common_name: name, usage: "server" }, org);
      expect([refused.status, refused.body.error.code], name).toEqual([403, "FORBIDDEN"]);
    }
    expect((await issue({ common_name: "not a host", usage: "server" })).status).toBe(400);
  });

  it("a certificate says where its revocation is asked, there it is answered, by GET as by POST", async () => {
    const [client, server] = [
      (await issue({ common_name: "asked" })).body,
      (await issue({ common_name: "asked.acme.example", usage: "server" })).body,
    ];
    const places = [client, server].map(({ certificate }) => parseCertificate(certificate).extensions);
    expect(places).toMatchObject([
      { crlUrls: [`${PUBLIC}api/v1/crl/acme`], ocspUrls: [`${PUBLIC}api/v1/ocsp/acme`] },
      { crlUrls: [`${PUBLIC}api/v1/pki/servers/crl`], ocspUrls: [`${PUBLIC}api/v1/pki/servers/ocsp`] },
    ]);
    expect(parseCertificate(client.issuing_ca).extensions.crlUrls).toEqual([`${PUBLIC}api/v1/pki/clients/crl`]);
    for (const { serial_number } of [client, server]) {
      expect((await rig.admin("acme")("POST", "/api/v1/certificates/revoke", { serial_number })).status).toBe(204);
    }
    for (const authority of ["servers", "clients"] as const) {
      const { text } = await rig.anonymous("GET", `/api/v1/pki/${authority}/ca`);
      expect(text).toBe(authority === "servers" ? rig.dev.ca : rig.dev.clientCa);
      expect((await rig.anonymous("GET", `/api/v1/pki/${authority}/crl`)).headers.get("content-type")).toContain("pkix-crl");
    }
  });
  it("without a public address certificates name no place to ask", async () => {
    const plain = await openRig();
    try {
      const { body } = await plain.admin("acme")("POST", ISSUE, { common_name: "sensor" });
      const { extensions } = parseCertificate(body.certificate);
      expect([extensions.crlUrls, extensions.ocspUrls]).toEqual([undefined, undefined]);
    } finally {
      await plain.close();
    }
  });

  it("the common name is an alternative name in the form that fits it", async () => {
    const names = async (common_name: string) =>
      parseCertificate((await issue({ common_name })).body.certificate).extensions.subjectAltNames;
    expect(await names("WWW.other.example")).toEqual([{ kind: "dns", value: "WWW.other.example" }]);
    expect(await names("2001:DB8::0:1")).toEqual([{ kind: "ip", value: "2001:db8::1" }]);
    expect(await names("ada@acme.example")).toEqual([{ kind: "email", value: "ada@acme.example" }]);
    expect(await names("Ada of Acme")).toBeUndefined();
  });

  it("a store of 0.1, whose root signed clients and servers, gets its server CA at the start; its clients stay good, its servers end", async () => {
    const store = await openTestStore();
    const vault = await memoryVault();
    const before = await openRig({ store, vault });
    const { pki, transact } = before.gateway.services;
    const now = before.clock.now();
    const call = systemCall("system:test", "acme", now);
    const key = newPrivateKey(nodeCrypto, "p256", systemRandom);
    // The CA of an organisation as 0.1 made it: without purposes and constraints, so that it signs anything.
    const old = await transact(call, async (unit) => {
      const [root, ca] = [await pki.issuer(unit, "/root"), await pki.issuer(unit, "acme")];
      const { subject, publicKey, notBefore, notAfter } = ca.certificate;
      const certificate = await issueCertificate(nodeCrypto, root, {
        serial: Uint8Array.of(7),
        subject,
        publicKey,
        notBefore,
        notAfter,
        extensions: { ca: { pathLength: 0 }, keyUsage: ["keyCertSign", "cRLSign"] },
      });
      const stored = await unit.get(authorities, "acme");
      if (stored === undefined) throw new Error("no authority");
      unit.put(authorities, "acme", { ...stored, certificate: certificatePem(certificate) });
      unit.delete(authorities, "/servers");
      const leaf = await issueCertificate(
        nodeCrypto,
        { certificate, signer: ca.signer },
        {
          serial: Uint8Array.of(8),
          subject: [{ type: "CN", value: "localhost" }],
          publicKey: publicKeyOf(nodeCrypto, key),
          notBefore: now - 1000,
          notAfter: now + 3_600_000,
          extensions: {
            extendedKeyUsage: ["clientAuth", "serverAuth"],
            subjectAltNames: [{ kind: "dns", value: "localhost" }],
          },
        },
      );
      return { cert: certificatePem(leaf) + certificatePem(certificate), root: certificatePem(root.certificate) };
    });
    const auditor = before.dev.organizations["acme"]?.admins.auditor;
    await before.close();
    const after = await openRig({ store, vault });
    try {
      expect(after.dev.clientCa).toBe(old.root);
      expect(after.dev.ca).not.toBe(before.dev.ca);
      const identity = { cert: auditor?.certificate ?? "", key: auditor?.private_key ?? "" };
      expect((await after.with(identity)("GET", "/api/v1/audit")).status).toBe(200);
      const server = { cert: old.cert, key: encodePem("PRIVATE KEY", encodePrivateKey(nodeCrypto, key)) };
      expect(await handshake(server, { ca: old.root }), "what pinned the old root was open to this").toBe("accepted");
      expect(await handshake(server, { ca: after.dev.ca })).toMatch(/UNABLE_TO|SELF_SIGNED/);
      const { body } = await after.admin("acme")("POST", ISSUE, { common_name: "sensor" });
      expect(parseCertificate(body.certificate).extensions.extendedKeyUsage).toEqual(["clientAuth"]);
    } finally {
      await after.close();
      await store.close();
    }
  });
});
