import "reflect-metadata";
import { randomBytes, webcrypto } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { type Client, credentials, type ServiceError } from "@grpc/grpc-js";
import * as x509 from "@peculiar/x509";
import { dataServices, type ObjectClient, openObjectClient } from "@seneschal/adapters/grpc-storage";
import { openLogger } from "@seneschal/adapters/logging";
import type { GrpcServer } from "@seneschal/core/storage";
import { serveGrpc } from "@seneschal/server-grpc";
import { openDataPort } from "../../src/storage/grpc/open-grpc.ts";
import { openRig, type Rig, type RigOptions, storageAuthorisation } from "./rig.ts";

x509.cryptoProvider.set(webcrypto as never);
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY = 86_400_000;

/** PEM. */
export interface Certified {
  readonly cert: string;
  readonly key: string;
  readonly serial: string;
}

export interface StoreCa {
  readonly pem: string;
  issue(
    subject: string,
    more?: { readonly from?: number; readonly to?: number; readonly names?: readonly string[] },
  ): Promise<Certified>;
  revocations(number: number, serials: readonly string[], lastsMs?: number): Promise<string>;
}

const keyPair = async () => (await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as CryptoKeyPair;

/** A cluster's certificate authority, by an implementation that is not ours. */
export async function storeCa(name: string): Promise<StoreCa> {
  const keys = await keyPair();
  const { keyCertSign, cRLSign } = x509.KeyUsageFlags;
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: "01",
    name: `CN=${name}`,
    notBefore: new Date(Date.now() - 400 * DAY),
    notAfter: new Date(Date.now() + 400 * DAY),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 1, true),
      new x509.KeyUsagesExtension(keyCertSign | cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return {
    pem: root.toString("pem"),
    async issue(subject, { from = -DAY, to = DAY, names } = {}) {
      const own = await keyPair();
      const serialNumber = `5a${randomBytes(7).toString("hex")}`;
      const cert = await x509.X509CertificateGenerator.create({
        serialNumber,
        subject,
        issuer: root.subject,
        notBefore: new Date(Date.now() + from),
        notAfter: new Date(Date.now() + to),
        signingAlgorithm: algorithm,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth, x509.ExtendedKeyUsage.serverAuth]),
          ...(names === undefined
            ? []
            : [
                new x509.SubjectAlternativeNameExtension(
                  names.map((value) => ({ type: isIP(value) === 0 ? "dns" : "ip", value }) as const),
                ),
              ]),
        ],
      });
      const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", own.privateKey));
      const key = `-----BEGIN PRIVATE KEY-----\n${der.toString("base64")}\n-----END PRIVATE KEY-----\n`;
      return { cert: cert.toString("pem"), key, serial: serialNumber };
    },
    async revocations(number, serials, lastsMs = DAY) {
      const list = await x509.X509CrlGenerator.create({
        issuer: root.subject,
        thisUpdate: new Date(Date.now() - 1000),
        nextUpdate: new Date(Date.now() + lastsMs),
        signingAlgorithm: algorithm,
        signingKey: keys.privateKey,
        entries: serials.map((serialNumber) => ({ serialNumber, revocationDate: new Date(Date.now() - 1000) })),
        extensions: [new x509.Extension("2.5.29.20", false, Uint8Array.of(2, 1, number))],
      });
      return list.toString("pem").replaceAll(" CRL-----", " X509 CRL-----").replaceAll("X509 X509", "X509");
    },
  };
}

export interface GrpcRig {
  readonly rig: Rig;
  readonly server: GrpcServer;
  readonly ca: StoreCa;
  readonly crlPath: string;
  /** A client with a certificate of the subject, `CN=x,OU=...`. */
  as(subject: string): Promise<ObjectClient>;
  with(own: Certified, trusted?: string): ObjectClient;
  /** Any unary method of any service; the error when it fails. */
  ask(
    own: Certified,
    service: keyof ReturnType<typeof dataServices>,
    method: string,
    request?: object,
  ): Promise<{ readonly reply?: Readonly<Record<string, unknown>>; readonly error?: ServiceError }>;
  /** A Put of exactly these messages; the error when it fails. */
  stream(own: Certified, messages: readonly object[]): Promise<ServiceError | undefined>;
  failures(reason: string): Promise<number>;
  dispose(): Promise<void>;
}

/** A node with its data path on a loopback port, mutual TLS, and a revocation list when `crl` is set. */
export async function openGrpcRig(
  options: RigOptions & {
    readonly crl?: boolean;
    readonly names?: readonly string[];
    readonly maxObjectBytes?: number;
    readonly idleTimeoutMs?: number;
    readonly policy?: string;
  } = {},
): Promise<GrpcRig> {
  const rig = await openRig(options);
  rig.clock.set(Date.now());
  const ca = await storeCa("Cluster CA");
  const crlPath = join(rig.directory, "revoked.pem");
  await writeFile(crlPath, await ca.revocations(1, []));
  const own = await ca.issue("CN=node-1,OU=store-server", { names: options.names ?? ["localhost"] });
  const server = await openDataPort({
    serveGrpc,
    node: rig.node,
    authorisation: await storageAuthorisation(options.policy),
    log: openLogger({ level: "silent" }),
    host: "127.0.0.1",
    port: 0,
    tls: { ca: ca.pem, cert: own.cert, key: own.key },
    ...(options.crl === true ? { crl: crlPath } : {}),
    idleTimeoutMs: options.idleTimeoutMs,
    ...(options.maxObjectBytes === undefined ? {} : { maxObjectBytes: options.maxObjectBytes }),
  });
  const address = `localhost:${server.port}`;
  const open: { close(): void }[] = [];
  const client = (certified: Certified, trusted = ca.pem): ObjectClient => {
    const made = openObjectClient({ address, tls: { ca: trusted, cert: certified.cert, key: certified.key } });
    open.push(made);
    return made;
  };
  return {
    rig,
    server,
    ca,
    crlPath,
    with: client,
    as: async (subject) => client(await ca.issue(subject)),
    ask(certified, service, method, request = {}) {
      const pem = (text: string) => Buffer.from(text);
      const made = new (dataServices()[service])(
        address,
        credentials.createSsl(pem(ca.pem), pem(certified.key), pem(certified.cert)),
      ) as Client & Record<string, (request: object, done: (error: ServiceError | null, reply: never) => void) => void>;
      open.push(made);
      return new Promise((resolve) => {
        made[method]?.(request, (error, reply) => resolve(error === null ? { reply } : { error }));
      });
    },
    stream(certified, messages) {
      const pem = (text: string) => Buffer.from(text);
      const Service = dataServices()["seneschal.storage.v1.ObjectService"];
      const made = new Service(address, credentials.createSsl(pem(ca.pem), pem(certified.key), pem(certified.cert))) as Client &
        Record<string, (done: (error: ServiceError | null) => void) => { write(message: object): void; end(): void }>;
      open.push(made);
      return new Promise((resolve) => {
        const call = made["Put"]?.((error) => resolve(error ?? undefined));
        for (const message of messages) call?.write(message);
        call?.end();
      });
    },
    async failures(reason) {
      const { values } = await rig.node.metrics.authFailures.get();
      return values.find((v) => v.labels.surface === "grpc" && v.labels.reason === reason)?.value ?? 0;
    },
    async dispose() {
      for (const made of open) made.close();
      await server.close();
      await rig.dispose();
    },
  };
}

/** The error of a promise that must fail. */
export async function refusal(
  work: Promise<unknown>,
): Promise<{ code: string; message: string; details: Record<string, unknown> }> {
  try {
    await work;
  } catch (error) {
    return error as never;
  }
  throw new Error("it was accepted");
}
