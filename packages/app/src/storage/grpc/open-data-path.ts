import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { DataServer } from "@seneschal/adapters/grpc-storage";
import type { Logger } from "@seneschal/adapters/logging";
import type { StorageNode } from "../node.ts";
import type { StorageConfig } from "../settings.ts";
import { parseDataAddress } from "./data-address.ts";

/** Where the data path listens and what it proves itself with; the environment wins over the file. */
export type DataPathSettings = StorageConfig["grpc"];

/** The settings with the environment's `STORE_DATA_ADDR`, `STORE_CA_PATH`, `STORE_CERT_PATH`, `STORE_KEY_PATH`, `STORE_CRL_PATH`. */
export function dataPathSettings(
  settings: DataPathSettings,
  env: Readonly<Record<string, string | undefined>>,
): DataPathSettings {
  const ca = env["STORE_CA_PATH"] ?? settings.ca;
  const cert = env["STORE_CERT_PATH"] ?? settings.cert;
  const key = env["STORE_KEY_PATH"] ?? settings.key;
  const crl = env["STORE_CRL_PATH"] ?? settings.crl;
  return { ...settings, address: env["STORE_DATA_ADDR"] ?? settings.address, ca, cert, key, crl };
}

/** gRPC takes several megabytes: it is loaded when the data path is opened. */
const serveGrpc: typeof import("./serve-grpc.ts").serveGrpc = async (options) =>
  (await import("./serve-grpc.ts")).serveGrpc(options);

/**
 * Opens the data path, or nothing when it is not configured. Throws `TypeError` when TLS is half configured, when the
 * certificate has no subject alternative name (no client could verify it), and for plaintext elsewhere than on loopback.
 */
export async function openDataPath(settings: DataPathSettings, node: StorageNode, log: Logger): Promise<DataServer | undefined> {
  const { ca, cert, key, crl, insecure } = settings;
  const { host, port } = parseDataAddress(settings.address);
  if (ca === undefined && cert === undefined && key === undefined) {
    if (crl !== undefined && !insecure)
      throw new TypeError(
        "the data path has a revocation list but no TLS: set STORE_CA_PATH, STORE_CERT_PATH and STORE_KEY_PATH",
      );
    return insecure ? serveGrpc({ node, log, host, port }) : undefined;
  }
  if (insecure) throw new TypeError("storage.grpc.insecure excludes TLS files");
  if (ca === undefined || cert === undefined || key === undefined)
    throw new TypeError("the data path needs all of STORE_CA_PATH, STORE_CERT_PATH and STORE_KEY_PATH");
  const tls = { ca: await readFile(ca, "utf8"), cert: await readFile(cert, "utf8"), key: await readFile(key, "utf8") };
  if (new X509Certificate(tls.cert).subjectAltName === undefined)
    throw new TypeError(`the certificate of the data path names no host in a subject alternative name: ${cert}`);
  return serveGrpc({ node, log, host, port, tls, ...(crl === undefined ? {} : { crl }) });
}
