import { nobleCrypto } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import {
  type Certificate,
  type CertificateSpec,
  createRoot,
  type Issuer,
  issueCertificate,
  localSigner,
  newPrivateKey,
  newSerial,
} from "@seneschal/crypto/x509";

export const NOW = Date.UTC(2026, 5, 1, 12);
export const DAY = 86_400_000;

/** A root, an intermediate and a way to issue leaves, all of one kind of key. */
export async function makePki(kind: "ed25519" | "p256", label = "pki") {
  const random = seeded(`${label}/${kind}`);
  const signer = () => localSigner(nobleCrypto, newPrivateKey(nobleCrypto, kind, random));
  const rootSigner = signer();
  const root: Issuer = {
    signer: rootSigner,
    certificate: await createRoot(nobleCrypto, rootSigner, {
      serial: newSerial(random),
      subject: [
        { type: "O", value: "Acme" },
        { type: "CN", value: `Acme Root ${label}` },
      ],
      notBefore: NOW - 30 * DAY,
      notAfter: Date.UTC(2056, 0, 1),
      pathLength: 1,
    }),
  };
  const caSigner = signer();
  const ca: Issuer = {
    signer: caSigner,
    certificate: await issueCertificate(nobleCrypto, root, {
      serial: newSerial(random),
      subject: [
        { type: "O", value: "Acme" },
        { type: "CN", value: "Acme Issuing" },
      ],
      publicKey: caSigner.publicKey,
      notBefore: NOW - 20 * DAY,
      notAfter: Date.UTC(2036, 0, 1),
      extensions: { ca: { pathLength: 0 }, keyUsage: ["keyCertSign", "cRLSign"] },
    }),
  };
  const leaf = async (changes: Partial<CertificateSpec> = {}, issuer = ca): Promise<Certificate> =>
    issueCertificate(nobleCrypto, issuer, {
      serial: newSerial(random),
      subject: [
        { type: "C", value: "DE" },
        { type: "O", value: "acme" },
        { type: "CN", value: "billing.internal.local" },
      ],
      publicKey: signer().publicKey,
      notBefore: NOW - DAY,
      notAfter: NOW + 90 * DAY,
      extensions: {
        keyUsage: ["digitalSignature"],
        extendedKeyUsage: ["clientAuth", "serverAuth"],
        subjectAltNames: [
          { kind: "dns", value: "billing.internal.local" },
          { kind: "ip", value: "10.1.2.3" },
          { kind: "ip", value: "2001:db8::1" },
          { kind: "uri", value: "spiffe://acme/billing" },
        ],
        crlUrls: ["http://pki.example/crl"],
        ocspUrls: ["http://pki.example/ocsp"],
        issuerUrls: ["http://pki.example/ca.crt"],
      },
      ...changes,
    });
  return { random, signer, root, ca, leaf };
}
