import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import {
  certificatePem,
  createRoot,
  encodePem,
  encodePrivateKey,
  issueCertificate,
  localSigner,
  newPrivateKey,
  newSerial,
  type Purpose,
  publicKeyOf,
  type SubjectAltName,
} from "@seneschal/crypto/x509";
import type { Random } from "@seneschal/kernel/ports";

/** PEM. */
export interface DevCertificate {
  readonly cert: string;
  readonly key: string;
}

const DAY = 86_400_000;
const names: readonly SubjectAltName[] = [
  { kind: "dns", value: "localhost" },
  { kind: "ip", value: "127.0.0.1" },
  { kind: "ip", value: "::1" },
];

/**
 * A certificate authority of a storage cluster for development, with a node's certificate and a cluster admin's. The authority's
 * key is forgotten: what it issued is all that it will.
 */
export async function devStorageCertificates(
  node: string,
  { random, now }: { readonly random: Random; readonly now: number },
): Promise<{ readonly ca: string; readonly node: DevCertificate; readonly admin: DevCertificate }> {
  const signer = localSigner(nodeCrypto, newPrivateKey(nodeCrypto, "p256", random));
  const certificate = await createRoot(nodeCrypto, signer, {
    serial: newSerial(random),
    subject: [{ type: "CN", value: "Seneschal development storage cluster" }],
    notBefore: now - DAY,
    notAfter: now + 366 * DAY,
    pathLength: 0,
  });
  const issue = async (name: string, unit: string, purposes: readonly Purpose[]): Promise<DevCertificate> => {
    const key = newPrivateKey(nodeCrypto, "p256", random);
    const issued = await issueCertificate(
      nodeCrypto,
      { certificate, signer },
      {
        serial: newSerial(random),
        subject: [
          { type: "OU", value: unit },
          { type: "CN", value: name },
        ],
        publicKey: publicKeyOf(nodeCrypto, key),
        notBefore: now - DAY,
        notAfter: now + 365 * DAY,
        extensions: {
          keyUsage: ["digitalSignature"],
          extendedKeyUsage: purposes,
          ...(purposes.includes("serverAuth") ? { subjectAltNames: names } : {}),
        },
      },
    );
    return { cert: certificatePem(issued), key: encodePem("PRIVATE KEY", encodePrivateKey(nodeCrypto, key)) };
  };
  return {
    ca: certificatePem(certificate),
    node: await issue(node, "store-server", ["serverAuth", "clientAuth"]),
    admin: await issue("dev", "storage-admin", ["clientAuth"]),
  };
}
