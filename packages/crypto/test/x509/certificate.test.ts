import { createPrivateKey, generateKeyPairSync, sign as nodeSign, X509Certificate } from "node:crypto";
import "reflect-metadata";
import * as peculiar from "@peculiar/x509";
import { nobleCrypto, utf8 } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import { dealCrk, signWithShares } from "@seneschal/crypto/threshold";
import {
  certificatePem,
  createRequest,
  createRoot,
  decodePrivateKey,
  encodePem,
  encodePrivateKey,
  encodePublicKey,
  isSignedBy,
  issueCertificate,
  localSigner,
  nameText,
  nameValue,
  newPrivateKey,
  newSerial,
  parseCertificate,
  parseCertificates,
  parsePublicKey,
  parseRequest,
  parseSerial,
  requestPem,
  serialText,
  verifyChain,
  verifyRequest,
} from "@seneschal/crypto/x509";
import { describe, expect, test } from "vitest";
import { submit } from "../submit.ts";
import { hasOpenssl, openssl } from "./openssl.ts";
import { DAY, makePki, NOW } from "./pki.ts";

const invalid = expect.objectContaining({ code: "x509_invalid" });
const attime = ["-attime", String(NOW / 1000)];

describe.each(["ed25519", "p256"] as const)("%s", (kind) => {
  const pki = makePki(kind);

  test.skipIf(!hasOpenssl)("the chain holds under openssl verify -x509_strict for client and server", async () => {
    const { root, ca, leaf } = await pki;
    const files = {
      "root.pem": certificatePem(root.certificate),
      "ca.pem": certificatePem(ca.certificate),
      "leaf.pem": certificatePem(await leaf()),
    };
    for (const purpose of ["sslclient", "sslserver"]) {
      const args = [
        "-x509_strict",
        "-check_ss_sig",
        "-purpose",
        purpose,
        "-CAfile",
        "root.pem",
        "-untrusted",
        "ca.pem",
        "leaf.pem",
      ];
      const result = openssl(files, "verify", ...attime, ...args);
      expect(result.text).toContain("leaf.pem: OK");
    }
  });

  test("our reading agrees with node and with @peculiar/x509", async () => {
    const { ca, leaf } = await pki;
    const certificate = await leaf();
    const node = new X509Certificate(certificate.der);
    expect(node.verify(new X509Certificate(ca.certificate.der).publicKey)).toBe(true);
    expect(node.serialNumber.toLowerCase()).toBe(certificate.serialText.replace(/:/g, ""));
    expect(Date.parse(node.validFrom)).toBe(certificate.notBefore);
    expect(Date.parse(node.validTo)).toBe(certificate.notAfter);
    expect(node.subject.split("\n")).toEqual(["C=DE", "O=acme", "CN=billing.internal.local"]);
    expect(node.subjectAltName).toBe(
      "DNS:billing.internal.local, IP Address:10.1.2.3, IP Address:2001:DB8:0:0:0:0:0:1, URI:spiffe://acme/billing",
    );
    expect(certificate.extensions.subjectAltNames).toEqual([
      { kind: "dns", value: "billing.internal.local" },
      { kind: "ip", value: "10.1.2.3" },
      { kind: "ip", value: "2001:db8::1" },
      { kind: "uri", value: "spiffe://acme/billing" },
    ]);
    const other = new peculiar.X509Certificate(Uint8Array.from(certificate.der));
    expect(other.subject).toBe("C=DE, O=acme, CN=billing.internal.local");
    expect(nameText(certificate.subject)).toBe("CN=billing.internal.local, O=acme, C=DE");
    expect(other.getExtension(peculiar.KeyUsagesExtension)?.usages).toBe(peculiar.KeyUsageFlags.digitalSignature);
    expect(other.getExtension(peculiar.ExtendedKeyUsageExtension)?.usages).toEqual(["1.3.6.1.5.5.7.3.2", "1.3.6.1.5.5.7.3.1"]);
    expect(certificate.extensions).toMatchObject({
      keyUsage: ["digitalSignature"],
      extendedKeyUsage: ["clientAuth", "serverAuth"],
      crlUrls: ["http://pki.example/crl"],
      ocspUrls: ["http://pki.example/ocsp"],
      issuerUrls: ["http://pki.example/ca.crt"],
      unknownCritical: [],
    });
    expect(nameValue(certificate.subject, "O")).toBe("acme");
  });

  test("we read and verify what @peculiar/x509 and node make", async () => {
    const keys = kind === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pkcs8 = keys.privateKey.export({ format: "der", type: "pkcs8" });
    const algorithm = kind === "ed25519" ? { name: "Ed25519" } : { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
    const privateKey = await crypto.subtle.importKey("pkcs8", pkcs8, algorithm, true, ["sign"]);
    const spki = keys.publicKey.export({ format: "der", type: "spki" });
    const publicKey = await crypto.subtle.importKey("spki", spki, algorithm, true, ["verify"]);
    const theirs = await peculiar.X509CertificateGenerator.createSelfSigned({
      name: "CN=theirs, O=acme",
      keys: { privateKey, publicKey },
      notBefore: new Date(NOW),
      notAfter: new Date(NOW + DAY),
      signingAlgorithm: algorithm,
    });
    const parsed = parseCertificate(new Uint8Array(theirs.rawData));
    expect(nameText(parsed.subject)).toBe("O=acme, CN=theirs");
    expect(isSignedBy(nobleCrypto, parsed, parsed.publicKey)).toBe(true);
    expect(decodePrivateKey(new Uint8Array(pkcs8)).kind).toBe(kind);
  });

  test("a private key goes to node and openssl and comes back", async () => {
    const key = newPrivateKey(nobleCrypto, kind, seeded("key"));
    const pem = encodePem("PRIVATE KEY", encodePrivateKey(nobleCrypto, key));
    expect(decodePrivateKey(pem)).toEqual(key);
    const signature: Uint8Array = nodeSign(kind === "ed25519" ? null : "sha256", utf8("m"), {
      key: createPrivateKey(pem),
      dsaEncoding: "ieee-p1363",
    });
    const { publicKey } = localSigner(nobleCrypto, key);
    const check = kind === "ed25519" ? nobleCrypto.ed25519Verify : nobleCrypto.p256Verify;
    expect(check(publicKey.bits, utf8("m"), new Uint8Array(signature))).toBe(true);
  });

  test.skipIf(!hasOpenssl)("openssl req -verify accepts our request, and we accept openssl's", async () => {
    const { signer } = await pki;
    const request = await createRequest(signer(), {
      subject: [
        { type: "O", value: "acme" },
        { type: "CN", value: "node-1" },
      ],
      subjectAltNames: [{ kind: "dns", value: "node-1.acme" }],
      ca: { pathLength: 1 },
      keyUsage: ["keyCertSign"],
      subjectKeyId: Uint8Array.of(0xab, 0xcd),
    });
    expect(verifyRequest(nobleCrypto, request)).toBe(true);
    const result = openssl({ "r.pem": requestPem(request) }, "req", "-verify", "-noout", "-text", "-in", "r.pem");
    expect(result.text).toMatch(/verify OK/);
    for (const wish of ["DNS:node-1.acme", "CA:TRUE, pathlen:1", "Certificate Sign", "AB:CD"])
      expect(result.text).toContain(wish);
    const key = kind === "ed25519" ? ["-newkey", "ed25519"] : ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"];
    const made = openssl(
      {},
      "req",
      "-new",
      ...key,
      "-nodes",
      "-keyout",
      "k.pem",
      "-subj",
      "/O=acme/CN=n",
      "-addext",
      "subjectAltName=IP:10.0.0.1",
    );
    const theirs = parseRequest(made.stdout);
    expect(verifyRequest(nobleCrypto, theirs)).toBe(true);
    expect(theirs.subjectAltNames).toEqual([{ kind: "ip", value: "10.0.0.1" }]);
    expect(theirs.publicKey.kind).toBe(kind);
  });

  test("a request with any changed byte proves nothing", async () => {
    const { signer } = await pki;
    const request = await createRequest(signer(), { subject: [{ type: "CN", value: "node-1" }] });
    for (let i = 0; i < request.der.length; i += 3) {
      const changed = Uint8Array.from(request.der);
      changed[i] = changed[i]! ^ 1;
      let proven = false;
      try {
        proven = verifyRequest(nobleCrypto, parseRequest(changed));
      } catch (error) {
        expect(error).toEqual(invalid);
      }
      expect(proven).toBe(false);
    }
  });
});

describe.skipIf(!hasOpenssl)("RSA", () => {
  test.each(["sha256", "sha384", "sha512"])(
    "requests and certificates signed with RSA and %s verify, changed ones do not",
    (hash) => {
      const made = openssl(
        {},
        "req",
        "-new",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        "k.pem",
        `-${hash}`,
        "-subj",
        "/CN=rsa",
      );
      const certificate = parseCertificate(made.stdout);
      expect(certificate.publicKey.kind).toBe("rsa");
      expect(isSignedBy(nobleCrypto, certificate, certificate.publicKey)).toBe(true);
      const signature = Uint8Array.from(certificate.signature);
      signature[100] = signature[100]! ^ 1;
      expect(isSignedBy(nobleCrypto, { ...certificate, signature }, certificate.publicKey)).toBe(false);
      const request = openssl(
        {},
        "req",
        "-new",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        "k.pem",
        `-${hash}`,
        "-subj",
        "/CN=rsa",
      );
      expect(verifyRequest(nobleCrypto, parseRequest(request.stdout))).toBe(true);
    },
  );

  test("a CA with an RSA key in an HSM issues through the signing hook, for RSA and P-384 keys too", async () => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const publicKey = parsePublicKey(new Uint8Array(rsa.publicKey.export({ format: "der", type: "spki" })));
    const signer = { publicKey, sign: async (m: Uint8Array) => new Uint8Array(nodeSign("sha256", m, rsa.privateKey)) };
    const root = await createRoot(nobleCrypto, signer, {
      serial: newSerial(seeded("rsa")),
      subject: [{ type: "CN", value: "RSA root" }],
      notBefore: NOW - DAY,
      notAfter: NOW + 900 * DAY,
    });
    const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" });
    const leaf = await issueCertificate(
      nobleCrypto,
      { certificate: root, signer },
      {
        serial: newSerial(seeded("leaf")),
        subject: [{ type: "CN", value: "p384" }],
        publicKey: parsePublicKey(new Uint8Array(p384.publicKey.export({ format: "der", type: "spki" }))),
        notBefore: NOW,
        notAfter: NOW + DAY,
        extensions: { keyUsage: ["digitalSignature"] },
      },
    );
    const files = { "root.pem": certificatePem(root), "leaf.pem": certificatePem(leaf) };
    expect(openssl(files, "verify", ...attime, "-x509_strict", "-CAfile", "root.pem", "leaf.pem").text).toContain("OK");
    expect(verifyChain(nobleCrypto, leaf, { roots: [root], now: NOW }).valid).toBe(true);
    const p384Made = openssl(
      {},
      "req",
      "-new",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-384",
      "-nodes",
      "-keyout",
      "k",
      "-sha384",
      "-subj",
      "/CN=x",
    );
    expect(verifyRequest(nobleCrypto, parseRequest(p384Made.stdout))).toBe(true);
  });
});

test.skipIf(!hasOpenssl)("a root key that was never assembled signs certificates: 2 of 3 custodians by FROST", async () => {
  const random = seeded("frost root");
  const { crk, shares } = dealCrk({ threshold: 2, total: 3, random });
  const signer = {
    publicKey: encodePublicKey("ed25519", crk.publicKey),
    sign: (message: Uint8Array) => signWithShares(crk, submit(shares.slice(1)), message, random),
  };
  const root = await createRoot(nobleCrypto, signer, {
    serial: newSerial(random),
    subject: [{ type: "CN", value: "Threshold root" }],
    notBefore: NOW,
    notAfter: NOW + 3650 * DAY,
  });
  const files = { "root.pem": certificatePem(root) };
  expect(openssl(files, "verify", ...attime, "-x509_strict", "-check_ss_sig", "-CAfile", "root.pem", "root.pem").text).toContain(
    "OK",
  );
});

describe("verifyChain", () => {
  const pki = makePki("ed25519", "chain");
  const decide = async (certificate: Parameters<typeof verifyChain>[1], changes: object = {}) => {
    const { root, ca } = await pki;
    return verifyChain(nobleCrypto, certificate, {
      roots: [root.certificate],
      intermediates: [ca.certificate],
      now: NOW,
      purpose: "clientAuth",
      ...changes,
    });
  };

  test("gives the chain from the leaf to the root", async () => {
    const { root, ca, leaf } = await pki;
    const certificate = await leaf();
    const decision = await decide(certificate);
    expect(decision).toMatchObject({ valid: true });
    expect(decision.valid && decision.chain.map((c) => c.serialText)).toEqual(
      [certificate, ca.certificate, root.certificate].map((c) => c.serialText),
    );
  });

  test("refuses by the first reason that holds, naming the certificate", async () => {
    const { root, ca, leaf } = await pki;
    const good = await leaf();
    const other = await makePki("ed25519", "other");
    const serverOnly = await leaf({ extensions: { keyUsage: ["digitalSignature"], extendedKeyUsage: ["serverAuth"] } });
    const reason = async (c: typeof good, changes: object = {}) => {
      const decision = await decide(c, changes);
      return decision.valid ? "valid" : decision.reason;
    };
    expect(await reason(good, { now: NOW + 91 * DAY })).toBe("expired");
    expect(await reason(good, { now: NOW - 2 * DAY })).toBe("not_yet_valid");
    expect(await reason(good, { intermediates: [] })).toBe("untrusted");
    expect(await reason(await other.leaf())).toBe("untrusted");
    expect(await reason(other.root.certificate)).toBe("not_an_end_entity");
    expect(await reason(serverOnly)).toBe("wrong_purpose");
    expect(await reason(serverOnly, { purpose: "serverAuth" })).toBe("valid");
    expect(await reason(good, { isRevoked: (c: typeof good) => c.serialText === good.serialText })).toBe("revoked");
    expect(await decide(good, { isRevoked: (c: typeof good) => c.serialText === ca.certificate.serialText })).toEqual({
      valid: false,
      reason: "revoked",
      serial: ca.certificate.serialText,
    });
    expect(await reason(good, { roots: [ca.certificate], intermediates: [] })).toBe("valid");
    // An issuer of the right name with another key.
    const impostor = await makePki("ed25519", "chain/impostor");
    const forged = { ...ca.certificate, publicKey: impostor.ca.certificate.publicKey };
    expect(await reason(good, { intermediates: [forged] })).toBe("signature_invalid");
    // A leaf cannot issue.
    const rogueSigner = impostor.signer();
    const notCa = await leaf({ publicKey: rogueSigner.publicKey, subject: [{ type: "CN", value: "rogue" }] });
    await expect(leaf({}, { certificate: notCa, signer: rogueSigner })).rejects.toThrow(invalid);
    const child = await leaf({}, {
      certificate: { ...notCa, extensions: { ...notCa.extensions, ca: {}, keyUsage: ["keyCertSign"] } },
      signer: rogueSigner,
    } as never);
    expect(await reason(child, { intermediates: [notCa, ca.certificate] })).toBe("not_a_ca");
    expect(root.certificate.extensions.ca).toEqual({ pathLength: 1 });
  });

  test("a CA below a CA that forbids it is refused when issuing and when verifying", async () => {
    const { ca, leaf } = await pki;
    const subSigner = (await pki).signer();
    const spec = {
      subject: [{ type: "CN", value: "sub CA" }],
      publicKey: subSigner.publicKey,
      extensions: { ca: {}, keyUsage: ["keyCertSign"] as const },
    };
    await expect(leaf(spec)).rejects.toThrow(invalid);
    const lax = { ...ca, certificate: { ...ca.certificate, extensions: { ...ca.certificate.extensions, ca: {} } } };
    const sub = await leaf(spec, lax);
    const below = await leaf({}, { certificate: sub, signer: subSigner });
    const decision = await decide(below, { intermediates: [sub, ca.certificate] });
    expect(decision).toMatchObject({ valid: false, reason: "path_too_long" });
  });

  test("a mesh of intermediates that all sign each other is given up on, not searched through", async () => {
    const { leaf } = await pki;
    const mesh = await makePki("ed25519", "mesh");
    const members = [];
    for (let i = 0; i < 12; i++) {
      members.push(
        await mesh.leaf(
          {
            subject: mesh.ca.certificate.subject,
            publicKey: mesh.ca.signer.publicKey,
            extensions: { ca: {}, keyUsage: ["keyCertSign"] },
          },
          { ...mesh.ca, certificate: { ...mesh.ca.certificate, extensions: { ...mesh.ca.certificate.extensions, ca: {} } } },
        ),
      );
    }
    const lost = await mesh.leaf();
    let checks = 0;
    const counting = {
      ...nobleCrypto,
      ed25519Verify: (...args: Parameters<typeof nobleCrypto.ed25519Verify>) => {
        checks++;
        return nobleCrypto.ed25519Verify(...args);
      },
    };
    const { root } = await pki;
    expect(verifyChain(counting, lost, { roots: [root.certificate], intermediates: members, now: NOW }).valid).toBe(false);
    expect(checks).toBeLessThanOrEqual(50);
    expect((await decide(await leaf())).valid).toBe(true);
  });

  test("an unknown critical extension refuses the chain", async () => {
    const { leaf } = await pki;
    const certificate = await leaf();
    const odd = { ...certificate, extensions: { ...certificate.extensions, unknownCritical: ["1.2.3"] } };
    expect(await decide(odd)).toMatchObject({ valid: false, reason: "critical_extension" });
  });
});

test("issuing refuses what would not hold: lifetime, serial, names", async () => {
  const { ca, leaf } = await makePki("ed25519", "refuse");
  const refused = (changes: object) => expect(leaf(changes)).rejects.toThrow(invalid);
  await refused({ notAfter: ca.certificate.notAfter + 1000 });
  await refused({ notBefore: ca.certificate.notBefore - 1000 });
  await refused({ notBefore: NOW, notAfter: NOW });
  await refused({ serial: Uint8Array.of(0) });
  await refused({ serial: Uint8Array.of(0x80) });
  await refused({ serial: new Uint8Array(21).fill(1) });
  await refused({ subject: [{ type: "C", value: "Germany" }] });
  await refused({ subject: [{ type: "CN", value: "" }] });
  await refused({ extensions: { subjectAltNames: [{ kind: "dns", value: "a b" }] } });
  await refused({ extensions: { subjectAltNames: [{ kind: "ip", value: "10.0.0.256" }] } });
  await refused({ extensions: { ca: {}, keyUsage: ["digitalSignature"] } });
  // The very second of the issuer's end is allowed, also with milliseconds.
  expect((await leaf({ notAfter: ca.certificate.notAfter + 999 })).notAfter).toBe(ca.certificate.notAfter);
});

test("times are UTCTime before 2050 and GeneralizedTime without fraction from then on", async () => {
  const { root } = await makePki("ed25519", "time");
  const text = Buffer.from(root.certificate.der).toString("latin1");
  expect(text).toContain("\x17\x0d260502120000Z");
  expect(text).toContain("\x18\x0f20560101000000Z");
});

test("serials are positive with at least 64 random bits, and their text forms are one", () => {
  const random = seeded("serial");
  for (let i = 0; i < 200; i++) {
    const serial = newSerial(random);
    expect(serial[0]! >= 0x40 && serial[0]! < 0x80).toBe(true);
    expect(serial).toHaveLength(16);
    expect(parseSerial(serialText(serial))).toEqual(serial);
    expect(parseSerial(serialText(serial).replace(/:/g, "").toUpperCase())).toEqual(serial);
  }
  expect(parseSerial("0a")).toEqual(Uint8Array.of(10));
  expect(parseSerial("00:0a")).toEqual(Uint8Array.of(10));
  expect(() => parseSerial("xyz")).toThrow(invalid);
  expect(() => parseSerial("")).toThrow(invalid);
});

test("PEM blocks join to a chain and come apart again; text around them is ignored", async () => {
  const { root, ca, leaf } = await makePki("ed25519", "pem");
  const chain = [await leaf(), ca.certificate, root.certificate];
  const text = `comment\n${chain.map(certificatePem).join("")}trailing`;
  expect(parseCertificates(text).map((c) => c.serialText)).toEqual(chain.map((c) => c.serialText));
  expect(() => parseCertificate(text)).toThrow(invalid);
  expect(() => parseCertificate("no pem")).toThrow(invalid);
  expect(() => parseCertificate("-----BEGIN CERTIFICATE-----\nAAAA")).toThrow(invalid);
});

test("cut and changed certificates are refused or do not verify, and nothing else is thrown", async () => {
  const { ca, leaf } = await makePki("ed25519", "fuzz");
  const { der } = await leaf();
  for (let i = 0; i < der.length; i++) {
    expect(() => parseCertificate(der.subarray(0, i))).toThrow(invalid);
    const changed = Uint8Array.from(der);
    changed[i] = changed[i]! ^ 0x55;
    let accepted = false;
    try {
      accepted = isSignedBy(nobleCrypto, parseCertificate(changed), ca.certificate.publicKey);
    } catch (error) {
      expect(error).toEqual(invalid);
    }
    expect(accepted).toBe(false);
  }
});
