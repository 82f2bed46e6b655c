import "reflect-metadata";
import { generateKeyPairSync, webcrypto } from "node:crypto";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:tls";
import * as x509 from "@peculiar/x509";
import { beforeAll, describe, expect, test } from "vitest";
import { keyProblem } from "../../src/platform/index.ts";

const DAY = 86_400_000;
const kinds = {
  "EC P-256": { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  "EC P-384": { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" },
  RSA: { name: "RSASSA-PKCS1-v1_5", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" },
  Ed25519: { name: "Ed25519" },
} as const;
type Kind = keyof typeof kinds;

interface Own {
  readonly cert: string;
  readonly key: string;
}

/** A certificate of a key of its own, and one above it, by an implementation that is not ours. */
async function chainOf(kind: Kind, to = DAY): Promise<{ readonly leaf: Own; readonly above: Own }> {
  const algorithm = kinds[kind] as never;
  const pair = async () => (await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as CryptoKeyPair;
  const pem = async ({ privateKey }: CryptoKeyPair) => {
    const bytes = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", privateKey as never));
    return `-----BEGIN PRIVATE KEY-----\n${bytes.toString("base64")}\n-----END PRIVATE KEY-----\n`;
  };
  const [authority, own] = [await pair(), await pair()];
  const common = { notBefore: new Date(Date.now() - 2 * DAY), signingAlgorithm: algorithm };
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...common,
    serialNumber: "01",
    name: `CN=${kind}`,
    notAfter: new Date(Date.now() + DAY),
    keys: authority,
    extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
  });
  const leaf = await x509.X509CertificateGenerator.create({
    ...common,
    serialNumber: "02",
    subject: "CN=localhost",
    issuer: root.subject,
    notAfter: new Date(Date.now() + to),
    publicKey: own.publicKey,
    signingKey: authority.privateKey,
  });
  return {
    leaf: { cert: `${leaf.toString("pem")}\n`, key: await pem(own) },
    above: { cert: `${root.toString("pem")}\n`, key: await pem(authority) },
  };
}

/** Whether TLS connects to a port that has them, and it shows the first of the certificates. */
async function serves(cert: string, key: string): Promise<boolean> {
  try {
    const server = createServer({ cert, key }, (socket) => socket.end());
    server.on("tlsClientError", () => undefined);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    try {
      return await new Promise<boolean>((resolve) => {
        const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
          socket.destroy();
          resolve(true);
        });
        socket.on("error", () => resolve(false));
      });
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  } catch {
    return false;
  }
}

describe("a key beside the certificates of a port", () => {
  const chains = new Map<Kind, Awaited<ReturnType<typeof chainOf>>>();
  beforeAll(async () => {
    x509.cryptoProvider.set(webcrypto as never);
    for (const kind of Object.keys(kinds) as Kind[]) chains.set(kind, await chainOf(kind));
  });

  test("is judged as a handshake goes: of every kind beside every other, alone, in a chain, and in a chain in the wrong order", async () => {
    for (const [kind, { leaf, above }] of chains) {
      const files = { alone: leaf.cert, chain: leaf.cert + above.cert, turned: above.cert + leaf.cert };
      for (const [file, cert] of Object.entries(files))
        for (const [other, { leaf: its }] of chains) {
          const fits = kind === other && file !== "turned";
          const where = `${kind} ${file} beside a key of ${other}`;
          expect(await serves(cert, its.key), where).toBe(fits);
          expect(keyProblem(cert, its.key) === undefined, where).toBe(fits);
        }
      expect(keyProblem(files.turned, leaf.key)).toMatch(/is not the key of the first certificate, but of one behind it/);
    }
  });

  test("of the same kind and another certificate is not its key", async () => {
    for (const [kind, { leaf, above }] of chains) {
      expect(keyProblem(leaf.cert, above.key), kind).toBe("is not the key of the certificate");
      expect(await serves(leaf.cert, above.key), kind).toBe(false);
    }
  });

  test("is its key also when the certificate has ended, and beside words that tools write around it", async () => {
    const { leaf } = await chainOf("EC P-256", -DAY);
    expect(keyProblem(leaf.cert, leaf.key)).toBeUndefined();
    expect(await serves(leaf.cert, leaf.key)).toBe(true);
    const told = (text: string) => `Bag Attributes\r\n    friendlyName: own\r\n${text.replaceAll("\n", "\r\n")}`;
    expect(keyProblem(told(leaf.cert), told(leaf.key))).toBeUndefined();
  });

  test("that cannot be read, or stands beside what is no certificate, is refused and not thrown", () => {
    const { leaf } = chains.get("EC P-256") as { leaf: Own };
    const locked = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
      type: "pkcs8",
      format: "pem",
      cipher: "aes-256-cbc",
      passphrase: "p",
    });
    for (const key of ["", leaf.cert, leaf.key.slice(0, 90), String(locked)])
      expect(keyProblem(leaf.cert, key)).toBe("is no private key that can be read");
    const torn = leaf.cert.replace(/\n[^\n]{20}/, "\n");
    for (const cert of ["", leaf.key, torn]) expect(keyProblem(cert, leaf.key), cert).toBeTypeOf("string");
  });
});
