import { once } from "node:events";
import { type AddressInfo, createServer as createPlainServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket, Server as TlsServer } from "node:tls";
import { type Server, ServerCredentials } from "@grpc/grpc-js";
import type { GrpcPeer, GrpcServerOptions } from "@seneschal/core/storage";
import { acceptProxies, addressOf } from "@seneschal/server-node";

/** PEM texts; with `ca` clients are asked for certificates. */
interface Tls {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
}

/** Where gRPC listens, and who is told of its connections. */
export interface ListenOptions
  extends Pick<
    GrpcServerOptions,
    "host" | "port" | "proxyProtocol" | "onConnections" | "onTraffic" | "onConnectionError" | "onHandshakeError"
  > {
  /** Absent: plaintext. */
  readonly tls?: Tls;
}

/** A gRPC server that listens. */
export interface GrpcListener {
  readonly port: number;
  /** Who is behind what gRPC calls the peer of a call. */
  peerOf(peer: string): GrpcPeer;
  /** The address alone. */
  hostOf(peer: string): string;
  /** Ends the connection of a peer. */
  cut(peer: string): void;
  setSecureContext(tls: Tls): void;
  close(): Promise<void>;
}

const REFUSED_MS = 5000;
const HANDSHAKE_MS = 10_000;

/** True for the names of this machine alone: what listens there may do so without TLS. */
export function isLoopback(host: string): boolean {
  return ["127.0.0.1", "::1", "localhost"].includes(host);
}

/**
 * Listens for a gRPC server. TLS ends here and not inside gRPC: only so is the verdict on a client's certificate, and why, known to the
 * calls, and whoever is behind a balancer. A bad certificate does not end the handshake: TLS has no word for why; the connection is cut soon
 * after. Rejects with Node's error, such as `EADDRINUSE`.
 */
export async function listenGrpc(server: Server, options: ListenOptions): Promise<GrpcListener> {
  const { host, port, tls, proxyProtocol } = options;
  const peers = new Map<string, { readonly peer: GrpcPeer; readonly socket: Socket }>();
  const open = new Set<Socket>();
  let connections = 0;
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const accept = (socket: Socket, peer: GrpcPeer): void => {
    const name = nameOf(socket);
    peers.set(name, { peer, socket });
    options.onConnections?.(++connections);
    socket.on("error", (error: NodeJS.ErrnoException) => options.onConnectionError?.(error.code ?? "error"));
    socket.on("close", () => {
      peers.delete(name);
      options.onTraffic?.({ received: socket.bytesRead, sent: socket.bytesWritten });
      options.onConnections?.(--connections);
    });
    injector.injectConnection(socket);
  };
  const listener =
    tls === undefined
      ? createPlainServer((socket) => accept(socket, { address: shown(socket) }))
      : createTlsServer(
          {
            ...tls,
            requestCert: tls.ca !== undefined,
            rejectUnauthorized: false,
            minVersion: "TLSv1.2",
            ALPNProtocols: ["h2"],
            handshakeTimeout: HANDSHAKE_MS,
          },
          (socket) => {
            const peer = tlsPeer(socket);
            if (tls.ca !== undefined && peer.certificate?.authorized !== true) {
              const cut = setTimeout(() => socket.destroy(), REFUSED_MS).unref();
              socket.on("close", () => clearTimeout(cut));
            }
            accept(socket, peer);
          },
        );
  const dropWaiting = proxyProtocol === undefined ? undefined : acceptProxies(listener, proxyProtocol, HANDSHAKE_MS);
  listener.maxConnections = 1024;
  listener.on("tlsClientError", (error: Error, socket: TLSSocket) => {
    options.onHandshakeError?.(error, shown(socket));
    socket.destroy();
  });
  listener.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => open.delete(socket));
  });
  listener.listen(port, host);
  await once(listener, "listening");
  return {
    port: (listener.address() as AddressInfo).port,
    peerOf: (name) => peers.get(name)?.peer ?? { address: name },
    hostOf(name) {
      const known = peers.get(name);
      return known === undefined ? name : addressOf(known.socket);
    },
    cut: (name) => void peers.get(name)?.socket.destroy(),
    setSecureContext(next) {
      if (listener instanceof TlsServer) listener.setSecureContext({ ...next, minVersion: "TLSv1.2" });
    },
    async close() {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      const force = setTimeout(() => {
        server.forceShutdown();
        for (const socket of open) socket.destroy();
      }, 2000);
      dropWaiting?.();
      injector.drain(1000);
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      injector.destroy();
      for (const socket of open) socket.destroy();
      await closed;
      clearTimeout(force);
    },
  };
}

/** As gRPC calls the peer of a call. */
function nameOf(socket: Socket): string {
  return `${socket.remoteAddress ?? "unknown"}:${socket.remotePort ?? 0}`;
}

/** Who a connection comes from: `host:port`, or what its balancer says, which is the host alone. */
function shown(socket: Socket): string {
  const address = addressOf(socket);
  return address === (socket.remoteAddress ?? "") ? nameOf(socket) : address;
}

function tlsPeer(socket: TLSSocket): GrpcPeer {
  const address = shown(socket);
  const der = (socket.getPeerCertificate() as { readonly raw?: Uint8Array } | null)?.raw;
  if (der === undefined) return { address };
  // The declared type is Error, the value is OpenSSL's name of the reason.
  const error = socket.authorizationError as unknown as string | undefined;
  return { address, certificate: { der, authorized: socket.authorized, ...(error ? { error: String(error) } : {}) } };
}
