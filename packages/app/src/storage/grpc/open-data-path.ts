import { readText } from "@seneschal/adapters/files";
import type { Logger } from "@seneschal/adapters/logging";
import type { GrpcServer, GrpcTls, ServeGrpc } from "@seneschal/core/storage";
import { type Authorisation, inRanges } from "../../platform/index.ts";
import type { StorageNode } from "../node.ts";
import { certificateIn, checkKeyPair } from "../own-certificate.ts";
import { refusedSetting } from "../refused-setting.ts";
import { type DataPathSettings, parseDataAddress } from "./data-path-settings.ts";
import { openDataPort, openPeersPort } from "./open-grpc.ts";

export interface NodePorts {
  readonly data: GrpcServer;
  readonly peers: GrpcServer;
}

/**
 * The TLS files of settings in force, read; nothing when none is configured. Throws `config_invalid` for what is no certificate, key or
 * authority, for two that do not belong together, and for a certificate without a subject alternative name: no client could verify it.
 */
export async function readDataPathTls({ ca, cert, key }: DataPathSettings): Promise<GrpcTls | undefined> {
  if (ca === undefined || cert === undefined || key === undefined) return undefined;
  const tls = { ca: await readText(ca), cert: await readText(cert), key: await readText(key) };
  certificateIn("storage.grpc.ca", ca, tls.ca);
  const own = certificateIn("storage.grpc.cert", cert, tls.cert);
  if (own.subjectAltName === undefined)
    throw refusedSetting("storage.grpc.cert", `${cert} names no host in a subject alternative name`);
  checkKeyPair({ setting: "storage.grpc.key", path: key }, tls);
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
