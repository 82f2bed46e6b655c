import { once } from "node:events";
import { createRequire } from "node:module";
import { type AddressInfo, createServer as createPlainServer, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { createServer as createTlsServer, type TLSSocket, Server as TlsServer } from "node:tls";
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type ServiceError,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import {
  type GrpcCall,
  type GrpcFailure,
  type GrpcHandler,
  type GrpcMessage,
  type GrpcPeer,
  type GrpcServer,
  type GrpcServerOptions,
  grpcFiles,
  grpcLoading,
  grpcServices,
} from "@seneschal/core/storage";
import { CodedError, checkOptions } from "@seneschal/kernel";

const core = dirname(createRequire(import.meta.url).resolve("@seneschal/core/package.json"));
let loaded: ReturnType<typeof loadSync> | undefined;

/** The services by the files that describe them, loaded once. */
function definitions(): ReturnType<typeof loadSync> {
  loaded ??= loadSync(
    grpcFiles.map((file) => join(core, "src/storage/grpc", file)),
    grpcLoading,
  );
  return loaded;
}

/** Bytes of one message; data pieces are at most 1 MiB, the rest is framing and names. */
const MAX_MESSAGE_BYTES = (1 << 20) + 16_384;
const REFUSED_MS = 5000;
const HANDSHAKE_MS = 10_000;
const IDLE_MS = 60_000;

/**
 * Serves the data path. Client certificates are asked for and verified, but a bad one does not end the handshake: TLS has no
 * word for why, so the verdict goes to the handlers, which answer UNAUTHENTICATED; the connection is cut soon after.
 * Without TLS it listens on loopback only: throws `TypeError` otherwise.
 */
export async function serveGrpc(options: GrpcServerOptions): Promise<GrpcServer> {
  checkOptions("options", options, {
    host: "string",
    port: "number",
    tls: "object?",
    handlers: "object",
    failure: "function",
    idleTimeoutMs: "number?",
    onConnections: "function?",
    onTraffic: "function?",
    onConnectionError: "function?",
    onHandshakeError: "function?",
  });
  const { host, port, tls } = options;
  if (tls === undefined && !["127.0.0.1", "::1", "localhost"].includes(host))
    throw new TypeError("the data path without TLS listens on loopback only");
  const peers = new Map<string, GrpcPeer>();
  const sockets = new Map<string, Socket>();
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_concurrent_streams": 100,
    "grpc.keepalive_time_ms": 60_000,
    "grpc.keepalive_timeout_ms": 20_000,
  });
  for (const name of grpcServices) {
    const handlers = options.handlers[name];
    if (handlers === undefined) continue;
    const service = definitions()[name] as ServiceDefinition;
    const peerOf = (address: string): GrpcPeer => peers.get(address) ?? { address };
    const methods: UntypedServiceImplementation = {};
    for (const [method, { requestStream, responseStream }] of Object.entries(service)) {
      const handler = handlers[method];
      if (handler === undefined) continue;
      methods[method] = requestStream
        ? receiving(handler, options, peerOf)
        : responseStream
          ? sending(handler, options, peerOf, (address) => sockets.get(address)?.destroy())
          : unary(handler, options, peerOf);
    }
    server.addService(service, methods);
  }

  let connections = 0;
  const watch = (socket: Socket): void => {
    options.onConnections?.(++connections);
    socket.on("error", (error: NodeJS.ErrnoException) => options.onConnectionError?.(error.code ?? "error"));
    socket.on("close", () => {
      options.onTraffic?.({ received: socket.bytesRead, sent: socket.bytesWritten });
      options.onConnections?.(--connections);
    });
  };
  // TLS ends here and not inside gRPC: only so is the verdict on the certificate, and why, known to the calls.
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const accept = (socket: Socket, peer: GrpcPeer): void => {
    peers.set(peer.address, peer);
    sockets.set(peer.address, socket);
    watch(socket);
    socket.on("close", () => {
      peers.delete(peer.address);
      sockets.delete(peer.address);
    });
    injector.injectConnection(socket);
  };
  const listener =
    tls === undefined
      ? createPlainServer((socket) => accept(socket, { address: addressOf(socket) }))
      : createTlsServer(
          {
            ...tls,
            requestCert: true,
            rejectUnauthorized: false,
            minVersion: "TLSv1.2",
            ALPNProtocols: ["h2"],
            handshakeTimeout: HANDSHAKE_MS,
          },
          (socket) => {
            const peer = tlsPeer(socket);
            if (peer.certificate?.authorized !== true) {
              const cut = setTimeout(() => socket.destroy(), REFUSED_MS).unref();
              socket.on("close", () => clearTimeout(cut));
            }
            accept(socket, peer);
          },
        );
  listener.maxConnections = 1024;
  listener.on("tlsClientError", (error: Error, socket: TLSSocket) => {
    options.onHandshakeError?.(error, addressOf(socket));
    socket.destroy();
  });
  const open = new Set<Socket>();
  listener.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => open.delete(socket));
  });
  listener.listen(port, host);
  await once(listener, "listening");
  return {
    port: (listener.address() as AddressInfo).port,
    setSecureContext(next) {
      if (listener instanceof TlsServer) listener.setSecureContext({ ...next, minVersion: "TLSv1.2" });
    },
    async close() {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      const force = setTimeout(() => {
        server.forceShutdown();
        for (const socket of open) socket.destroy();
      }, 2000);
      injector.drain(1000);
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      injector.destroy();
      for (const socket of open) socket.destroy();
      await closed;
      clearTimeout(force);
    },
  };
}

function addressOf(socket: Socket): string {
  return `${socket.remoteAddress ?? "unknown"}:${socket.remotePort ?? 0}`;
}

function tlsPeer(socket: TLSSocket): GrpcPeer {
  const address = addressOf(socket);
  const der = (socket.getPeerCertificate() as { readonly raw?: Uint8Array } | null)?.raw;
  if (der === undefined) return { address };
  // The declared type is Error, the value is OpenSSL's name of the reason.
  const error = socket.authorizationError as unknown as string | undefined;
  return { address, certificate: { der, authorized: socket.authorized, ...(error ? { error: String(error) } : {}) } };
}

type PeerOf = (address: string) => GrpcPeer;

function gone(): CodedError {
  return new CodedError("Cancelled", "the client went away");
}

async function* nothing(): AsyncGenerator<GrpcMessage> {}

function unary(handler: GrpcHandler, options: GrpcServerOptions, peerOf: PeerOf) {
  return (call: ServerUnaryCall<GrpcMessage, GrpcMessage>, done: sendUnaryData<GrpcMessage>): void => {
    answer(handler, { peer: peerOf(call.getPeer()), request: call.request, messages: nothing() }, options, done);
  };
}

function receiving(handler: GrpcHandler, options: GrpcServerOptions, peerOf: PeerOf) {
  return (call: ServerReadableStream<GrpcMessage, GrpcMessage>, done: sendUnaryData<GrpcMessage>): void => {
    const messages = (async function* () {
      try {
        yield* moving(call as AsyncIterable<GrpcMessage>, options.idleTimeoutMs);
      } catch (error) {
        if (error instanceof CodedError) throw error;
        throw call.cancelled ? gone() : error;
      }
      // A stream that its client cancelled may look like one that ended: only a whole one may become an object.
      if (call.cancelled) throw gone();
    })();
    answer(handler, { peer: peerOf(call.getPeer()), request: {}, messages }, options, done);
  };
}

/** Messages of a client. Throws `RequestTimeout` when none comes for too long. */
async function* moving(source: AsyncIterable<GrpcMessage>, idleMs = IDLE_MS): AsyncGenerator<GrpcMessage> {
  const messages = source[Symbol.asyncIterator]();
  let timer: NodeJS.Timeout | undefined;
  for (;;) {
    const stands = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(stalled("no message came", idleMs)), idleMs);
    });
    const next = messages.next();
    // It is read no more once the time is up; then nobody waits for it.
    next.catch(() => undefined);
    try {
      const message = await Promise.race([next, stands]);
      if (message.done === true) return;
      clearTimeout(timer);
      yield message.value;
    } finally {
      // Also when it failed, or when nobody reads on.
      clearTimeout(timer);
    }
  }
}

function stalled(what: string, idleMs: number): CodedError {
  return new CodedError("RequestTimeout", `${what} for ${idleMs} ms`);
}

function answer(handler: GrpcHandler, call: GrpcCall, options: GrpcServerOptions, done: sendUnaryData<GrpcMessage>): void {
  Promise.resolve()
    .then(() => handler(call) as Promise<GrpcMessage>)
    .then(
      (reply) => done(null, reply),
      (error: unknown) => done(wire(options.failure(error))),
    );
}

function sending(handler: GrpcHandler, options: GrpcServerOptions, peerOf: PeerOf, cut: (address: string) => void) {
  return (call: ServerWritableStream<GrpcMessage, GrpcMessage>): void => {
    const over = new AbortController();
    call.on("cancelled", () => over.abort());
    const run = async (): Promise<void> => {
      const replies = handler({
        peer: peerOf(call.getPeer()),
        request: call.request,
        messages: nothing(),
      }) as AsyncIterable<GrpcMessage>;
      for await (const reply of replies) {
        if (over.signal.aborted) return;
        if (!call.write(reply)) await taken(call, over.signal, options.idleTimeoutMs);
      }
      call.end();
    };
    run().catch((error: unknown) => {
      if (over.signal.aborted) return;
      call.emit("error", wire(options.failure(error)));
      // What a client does not take keeps its status from it, and its bytes here: only its connection ends both.
      if (error instanceof CodedError && error.code === "RequestTimeout") cut(call.getPeer());
    });
  };
}

/** Resolves when the client has taken what was written. Throws `RequestTimeout` when it takes too long, and when it has left. */
async function taken(call: ServerWritableStream<GrpcMessage, GrpcMessage>, over: AbortSignal, idleMs = IDLE_MS): Promise<void> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  const timer = setTimeout(end, idleMs);
  over.addEventListener("abort", end);
  try {
    await once(call, "drain", { signal: ended.signal });
  } catch (error) {
    throw ended.signal.aborted && !over.aborted ? stalled("nothing was taken", idleMs) : error;
  } finally {
    clearTimeout(timer);
    over.removeEventListener("abort", end);
  }
}

function wire({ code, message, metadata }: GrpcFailure): Partial<ServiceError> {
  const trailers = new Metadata();
  for (const [name, value] of Object.entries(metadata)) trailers.set(name, value);
  return { code, details: message, metadata: trailers };
}
