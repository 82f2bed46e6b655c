import { X509Certificate } from "node:crypto";
import { readText } from "@seneschal/adapters/files";
import type { Logger } from "@seneschal/adapters/logging";
import type { GrpcServer, GrpcTls, ServeGrpc } from "@seneschal/core/storage";
import { type Authorisation, inRanges } from "../../platform/index.ts";
import type { StorageNode } from "../node.ts";
import { parseDataAddress } from "./data-address.ts";
import type { DataPathSettings } from "./data-path-settings.ts";
import { openDataPort, openPeersPort } from "./open-grpc.ts";

export interface NodePorts {
  readonly data: GrpcServer;
  readonly peers: GrpcServer;
}

/**
 * The TLS files, read; nothing when none is configured. Throws `TypeError` when TLS is half configured and when the certificate
 * has no subject alternative name (no client could verify it).
 */
export async function readDataPathTls({ ca, cert, key, crl, insecure }: DataPathSettings): Promise<GrpcTls | undefined> {
  if (ca === undefined && cert === undefined && key === undefined) {
    if (crl !== undefined && !insecure)
      throw new TypeError(
        "the data path has a revocation list but no TLS: set STORE_CA_PATH, STORE_CERT_PATH and STORE_KEY_PATH",
      );
    return undefined;
  }
  if (insecure) throw new TypeError("storage.grpc.insecure excludes TLS files");
  if (ca === undefined || cert === undefined || key === undefined)
    throw new TypeError("the data path needs all of STORE_CA_PATH, STORE_CERT_PATH and STORE_KEY_PATH");
  const tls = { ca: await readText(ca), cert: await readText(cert), key: await readText(key) };
  if (new X509Certificate(tls.cert).subjectAltName === undefined)
    throw new TypeError(`the certificate of the data path names no host in a subject alternative name: ${cert}`);
  return tls;
}

/** Opens the data path and the peers' port, or neither when TLS is not configured. Throws `TypeError` for plaintext beyond loopback. */
export async function openNodePorts(
  settings: DataPathSettings & { readonly peerAddress: string },
  node: StorageNode,
  authorisation: Authorisation,
  log: Logger,
  tls: GrpcTls | undefined,
  serveGrpc: ServeGrpc | undefined,
): Promise<NodePorts | undefined> {
  if (serveGrpc === undefined || (tls === undefined && !settings.insecure)) return undefined;
  const { crl, idle_timeout: idleTimeoutMs, proxy_protocol: proxies } = settings;
  const common = {
    node,
    authorisation,
    log,
    serveGrpc,
    idleTimeoutMs,
    ...(tls === undefined ? {} : { tls }),
    ...(crl === undefined ? {} : { crl }),
  };
  const proxyProtocol = proxies.length === 0 ? {} : { proxyProtocol: inRanges(proxies) };
  const data = await openDataPort({ ...common, ...proxyProtocol, ...parseDataAddress(settings.address) });
  try {
    return { data, peers: await openPeersPort({ ...common, ...parseDataAddress(settings.peerAddress) }) };
  } catch (error) {
    await data.close();
    throw error;
  }
}
