import { nobleCrypto } from "@seneschal/crypto";
import {
  createRoot,
  issueCertificate,
  localSigner,
  type NameConstraints,
  newPrivateKey,
  newSerial,
  type SubjectAltName,
  verifyChain,
} from "@seneschal/crypto/x509";
import { expect, it } from "vitest";

const random = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));
const NOW = Date.UTC(2026, 5, 1);
const times = { notBefore: NOW - 1000, notAfter: NOW + 1000_000 };

/** What a chain comes to whose intermediate CA has these constraints and whose leaf these names. */
async function verdict(nameConstraints: NameConstraints, names: readonly SubjectAltName[]): Promise<string> {
  const signer = () => localSigner(nobleCrypto, newPrivateKey(nobleCrypto, "ed25519", random));
  const [rootSigner, caSigner] = [signer(), signer()];
  const subject = (value: string) => ({ serial: newSerial(random), subject: [{ type: "CN", value }], ...times });
  const root = await createRoot(nobleCrypto, rootSigner, subject("root"));
  const ca = await issueCertificate(
    nobleCrypto,
    { certificate: root, signer: rootSigner },
    { ...subject("ca"), publicKey: caSigner.publicKey, extensions: { ca: {}, keyUsage: ["keyCertSign"], nameConstraints } },
  );
  expect(ca.extensions.nameConstraints).toEqual(nameConstraints);
  const leaf = await issueCertificate(
    nobleCrypto,
    { certificate: ca, signer: caSigner },
    {
      ...subject("leaf"),
      publicKey: signer().publicKey,
      extensions: { extendedKeyUsage: ["clientAuth"], subjectAltNames: names },
    },
  );
  const decision = verifyChain(nobleCrypto, leaf, { roots: [root], intermediates: [ca], now: NOW, purpose: "clientAuth" });
  return decision.valid ? "valid" : decision.reason;
}

const dns = (value: string): SubjectAltName => ({ kind: "dns", value });
const ip = (value: string): SubjectAltName => ({ kind: "ip", value });

it.each<[string, NameConstraints, SubjectAltName, boolean]>([
  ["a name within", { permitted: [{ kind: "dns", value: "good.example" }] }, dns("a.good.example"), true],
  ["the name itself, in capitals", { permitted: [{ kind: "dns", value: "good.example" }] }, dns("GOOD.example"), true],
  ["a name without", { permitted: [{ kind: "dns", value: "good.example" }] }, dns("evil.example"), false],
  ["a name that only ends alike", { permitted: [{ kind: "dns", value: "good.example" }] }, dns("verygood.example"), false],
  ["another form", { permitted: [{ kind: "dns", value: "good.example" }] }, ip("192.0.2.1"), true],
  ["an excluded name", { excluded: [{ kind: "dns", value: "localhost" }] }, dns("a.localhost"), false],
  [
    "a wildcard that reaches into what is excluded",
    { excluded: [{ kind: "dns", value: "bad.example" }] },
    dns("*.example"),
    false,
  ],
  ["a wildcard wider than what is permitted", { permitted: [{ kind: "dns", value: "a.example" }] }, dns("*.example"), false],
  ["an address within", { permitted: [{ kind: "ip", value: "192.0.2.0/25" }] }, ip("192.0.2.127"), true],
  ["an address just without", { permitted: [{ kind: "ip", value: "192.0.2.0/25" }] }, ip("192.0.2.128"), false],
  ["an excluded address", { excluded: [{ kind: "ip", value: "::1/128" }] }, ip("::1"), false],
  ["mail of the host", { permitted: [{ kind: "email", value: "a.example" }] }, { kind: "email", value: "x@A.example" }, true],
  [
    "mail of a host below",
    { permitted: [{ kind: "email", value: "a.example" }] },
    { kind: "email", value: "x@b.a.example" },
    false,
  ],
  [
    "a URI below",
    { permitted: [{ kind: "uri", value: ".a.example" }] },
    { kind: "uri", value: "https://u@b.a.example:1/x" },
    true,
  ],
  ["a URI without a host", { permitted: [{ kind: "uri", value: "a.example" }] }, { kind: "uri", value: "urn:a.example" }, false],
])("name constraints and %s", async (_, constraints, name, valid) => {
  expect(await verdict(constraints, [name])).toBe(valid ? "valid" : "name_not_permitted");
});
