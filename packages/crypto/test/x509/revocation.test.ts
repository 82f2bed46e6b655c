import { bytesEqual, nobleCrypto } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import {
  certificatePem,
  createOcspResponse,
  createRevocationList,
  encodePem,
  isIssuedBy,
  newSerial,
  ocspError,
  parseOcspRequest,
  parseRevocationList,
  revocationListPem,
  serialText,
  verifyRevocationList,
} from "@seneschal/crypto/x509";
import { describe, expect, test } from "vitest";
import { hasOpenssl, openssl } from "./openssl.ts";
import { DAY, makePki, NOW } from "./pki.ts";

const invalid = expect.objectContaining({ code: "x509_invalid" });
const attime = ["-attime", String(NOW / 1000)];

describe.each(["ed25519", "p256"] as const)("%s", (kind) => {
  const pki = makePki(kind, "crl");
  const spec = { number: 7, thisUpdate: NOW - DAY, nextUpdate: NOW + DAY };

  test.skipIf(!hasOpenssl)(
    "openssl crl verifies the list and openssl verify -crl_check_all refuses the revoked certificate only",
    async () => {
      const { root, ca, leaf } = await pki;
      const [good, bad] = [await leaf(), await leaf()];
      const list = await createRevocationList(ca, {
        ...spec,
        entries: [{ serial: bad.serial, revokedAt: NOW - 3_600_000, reason: "key_compromise" }],
      });
      const rootList = await createRevocationList(root, { ...spec, entries: [] });
      const files = {
        "root.pem": certificatePem(root.certificate),
        "ca.pem": certificatePem(ca.certificate),
        "good.pem": certificatePem(good),
        "bad.pem": certificatePem(bad),
        "crls.pem": revocationListPem(list) + revocationListPem(rootList),
        "crl.pem": revocationListPem(list),
      };
      const shown = openssl(files, "crl", "-in", "crl.pem", "-CAfile", "ca.pem", "-noout", "-text");
      expect(shown.text).toContain("verify OK");
      expect(shown.text).toContain("Key Compromise");
      expect(shown.text).toMatch(/X509v3 CRL Number:\s+7/);
      const check = (name: string) =>
        openssl(
          files,
          "verify",
          ...attime,
          "-x509_strict",
          "-crl_check_all",
          "-CAfile",
          "root.pem",
          "-untrusted",
          "ca.pem",
          "-CRLfile",
          "crls.pem",
          name,
        );
      expect(check("good.pem").text).toContain("good.pem: OK");
      expect(check("bad.pem").ok).toBe(false);
      expect(check("bad.pem").text).toContain("certificate revoked");
    },
  );

  test("our reader gives back what was written, and only the issuer's own key verifies it", async () => {
    const { root, ca, leaf } = await pki;
    const entries = [
      { serial: (await leaf()).serial, revokedAt: NOW - 5000, reason: "superseded" as const },
      { serial: Uint8Array.of(1), revokedAt: NOW - 6000 },
    ];
    const list = parseRevocationList(await createRevocationList(ca, { ...spec, entries }));
    expect([...list.entries.values()]).toEqual(entries);
    expect([...list.entries.keys()]).toEqual(entries.map((e) => serialText(e.serial)));
    expect(list).toMatchObject({ number: 7, thisUpdate: spec.thisUpdate, nextUpdate: spec.nextUpdate });
    expect(verifyRevocationList(nobleCrypto, list, ca.certificate)).toBe(true);
    expect(verifyRevocationList(nobleCrypto, list, root.certificate)).toBe(false);
    expect(verifyRevocationList(nobleCrypto, { ...list, body: list.body.slice(1) }, ca.certificate)).toBe(false);
  });

  test.skipIf(!hasOpenssl)(
    "openssl ocsp accepts good, revoked and unknown, with SHA-1 and SHA-256 and the echoed nonce",
    async () => {
      const { root, ca, leaf } = await pki;
      const [good, bad, foreign] = [await leaf(), await leaf(), await leaf()];
      const files = {
        "root.pem": certificatePem(root.certificate),
        "ca.pem": certificatePem(ca.certificate),
        "good.pem": certificatePem(good),
        "bad.pem": certificatePem(bad),
        "foreign.pem": certificatePem(foreign),
      };
      for (const hash of ["-sha1", "-sha256"]) {
        const asked = openssl(
          files,
          "ocsp",
          hash,
          "-issuer",
          "ca.pem",
          "-cert",
          "good.pem",
          "-cert",
          "bad.pem",
          "-cert",
          "foreign.pem",
          "-nonce",
          "-reqout",
          "out",
        );
        const request = parseOcspRequest(asked.out);
        expect(request.ids.map((id) => isIssuedBy(nobleCrypto, id, ca.certificate))).toEqual([true, true, true]);
        expect(isIssuedBy(nobleCrypto, request.ids[0]!, root.certificate)).toBe(false);
        const response = await createOcspResponse(
          nobleCrypto,
          { signer: ca.signer },
          {
            statuses: request.ids.map((id) => ({
              id,
              status: bytesEqual(id.serial, bad.serial)
                ? { kind: "revoked" as const, revokedAt: NOW - 5000, reason: "key_compromise" as const }
                : { kind: bytesEqual(id.serial, good.serial) ? ("good" as const) : ("unknown" as const) },
            })),
            producedAt: NOW,
            thisUpdate: NOW - 1000,
            nextUpdate: NOW + DAY,
            ...(request.nonce ? { nonce: request.nonce } : {}),
          },
        );
        const judged = openssl(
          { ...files, "req.der": asked.out, "resp.der": response },
          "ocsp",
          hash,
          "-no_nonce",
          "-reqin",
          "req.der",
          "-respin",
          "resp.der",
          "-issuer",
          "ca.pem",
          "-cert",
          "good.pem",
          "-cert",
          "bad.pem",
          "-cert",
          "foreign.pem",
          "-CAfile",
          "root.pem",
          "-verify_other",
          "ca.pem",
          ...attime,
          "-validity_period",
          String(400 * 86400),
          "-status_age",
          String(4000 * 86400),
        );
        expect(judged.text).toContain("Response verify OK");
        expect(judged.text).not.toMatch(/nonce|Nonce/);
        expect(judged.text).toMatch(/good\.pem: (good|WARNING)/);
        expect(judged.text).toMatch(/bad\.pem: (revoked|WARNING)/);
        expect(judged.text).toMatch(/Reason: keyCompromise/);
        expect(judged.text).toMatch(/foreign\.pem: (unknown|WARNING)/);
      }
    },
  );
});

test("a delegated responder's certificate goes along", async () => {
  const { ca, leaf, signer } = await makePki("ed25519", "delegate");
  const delegate = signer();
  const certificate = await leaf({
    publicKey: delegate.publicKey,
    subject: [{ type: "CN", value: "ocsp" }],
    extensions: { keyUsage: ["digitalSignature"], extendedKeyUsage: ["ocspSigning"], ocspNoCheck: true },
  });
  expect(certificate.extensions).toMatchObject({ extendedKeyUsage: ["ocspSigning"], ocspNoCheck: true });
  const response = await createOcspResponse(
    nobleCrypto,
    { signer: delegate, certificate },
    {
      statuses: [],
      producedAt: NOW,
      thisUpdate: NOW,
      nextUpdate: NOW + DAY,
    },
  );
  expect(Buffer.from(response).includes(Buffer.from(certificate.der))).toBe(true);
  expect(ca.certificate.extensions.ca).toBeDefined();
});

test("cut and changed OCSP requests and lists are refused, and nothing else is thrown", async () => {
  const { ca, leaf } = await makePki("ed25519", "fuzz crl");
  const bytes = await createRevocationList(ca, {
    entries: [{ serial: (await leaf()).serial, revokedAt: NOW, reason: "superseded" }],
    number: 1,
    thisUpdate: NOW,
    nextUpdate: NOW + DAY,
  });
  for (let i = 0; i < bytes.length; i++) {
    expect(() => parseRevocationList(bytes.subarray(0, i))).toThrow(invalid);
    const changed = Uint8Array.from(bytes);
    changed[i] = changed[i]! ^ 0x2a;
    let accepted = false;
    try {
      accepted = verifyRevocationList(nobleCrypto, parseRevocationList(changed), ca.certificate);
    } catch (error) {
      expect(error).toEqual(invalid);
    }
    expect(accepted).toBe(false);
  }
  for (const garbage of [new Uint8Array(), Uint8Array.of(0x30, 0x80), new Uint8Array(100).fill(0x30)]) {
    expect(() => parseOcspRequest(garbage)).toThrow(invalid);
  }
  expect(Buffer.from(ocspError("malformed_request")).toString("hex")).toBe("30030a0101");
});

test("a delta list names its base, and pauses come between slices of a big list", async () => {
  const { ca } = await makePki("ed25519", "big");
  const random = seeded("big");
  let pauses = 0;
  const entries = Array.from({ length: 5001 }, () => ({ serial: newSerial(random), revokedAt: NOW }));
  const list = parseRevocationList(
    await createRevocationList(ca, {
      entries,
      number: 9,
      deltaBase: 8,
      thisUpdate: NOW,
      nextUpdate: NOW + DAY,
      pause: async () => {
        pauses++;
      },
    }),
  );
  expect(pauses).toBe(5);
  expect(list.entries.size).toBe(5001);
  expect(list.deltaBase).toBe(8);
  expect(encodePem("X509 CRL", list.der)).toMatch(/^-----BEGIN X509 CRL-----\n[\s\S]+\n-----END X509 CRL-----\n$/);
});

test("who may not sign lists signs none", async () => {
  const { leaf, signer } = await makePki("ed25519", "not ca");
  const key = signer();
  const certificate = await leaf({ publicKey: key.publicKey });
  await expect(
    createRevocationList({ certificate, signer: key }, { entries: [], number: 1, thisUpdate: NOW, nextUpdate: NOW + DAY }),
  ).rejects.toThrow(invalid);
});
