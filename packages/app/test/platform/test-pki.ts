import "reflect-metadata";
import { randomBytes, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

x509.cryptoProvider.set(webcrypto as never);
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
const DAY = 86_400_000;

/** PEM. */
export interface Issued {
  readonly cert: string;
  readonly key: string;
  /** Lower-case hex with colons. */
  readonly serial: string;
}

export interface TestCa {
  readonly pem: string;
  issue(
    subject: string,
    more?: { readonly from?: number; readonly to?: number; readonly usage?: "client" | "server" },
  ): Promise<Issued>;
}

async function keyPair(): Promise<CryptoKeyPair> {
  return (await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as CryptoKeyPair;
}

async function privatePem(keys: CryptoKeyPair): Promise<string> {
  const bytes = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey as never));
  return `-----BEGIN PRIVATE KEY-----\n${bytes.toString("base64")}\n-----END PRIVATE KEY-----\n`;
}

/** A certificate authority by an implementation that is not ours. */
export async function testCa(name: string): Promise<TestCa> {
  const keys = await keyPair();
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: "01",
    name: `CN=${name}`,
    notBefore: new Date(Date.now() - 400 * DAY),
    notAfter: new Date(Date.now() + 400 * DAY),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 1, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  return {
    pem: root.toString("pem"),
    async issue(subject, { from = -DAY, to = DAY, usage = "client" } = {}) {
      const own = await keyPair();
      const serial = `5a${randomBytes(7).toString("hex")}`;
      const cert = await x509.X509CertificateGenerator.create({
        serialNumber: serial,
        subject,
        issuer: root.subject,
        notBefore: new Date(Date.now() + from),
        notAfter: new Date(Date.now() + to),
        signingAlgorithm: algorithm,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.ExtendedKeyUsageExtension([usage === "client" ? CLIENT_AUTH : SERVER_AUTH]),
          ...(usage === "server" ? [new x509.SubjectAlternativeNameExtension([{ type: "dns", value: "localhost" }])] : []),
        ],
      });
      return { cert: cert.toString("pem"), key: await privatePem(own), serial: (serial.match(/../g) ?? []).join(":") };
    },
  };
}

/** A certificate that signed itself. */
export async function selfSigned(name: string): Promise<Issued> {
  const keys = await keyPair();
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: "07",
    name,
    notBefore: new Date(Date.now() - DAY),
    notAfter: new Date(Date.now() + DAY),
    signingAlgorithm: algorithm,
    keys,
    extensions: [new x509.ExtendedKeyUsageExtension([CLIENT_AUTH])],
  });
  return { cert: cert.toString("pem"), key: await privatePem(keys), serial: "07" };
}
