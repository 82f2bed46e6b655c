import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import {
  Metadata,
  Server,
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
  type GrpcHandler,
  type GrpcMessage,
  type GrpcPeer,
  type GrpcServer,
  type GrpcServerOptions,
  type GrpcService,
  grpcError,
  grpcFiles,
  grpcLoading,
  grpcServices,
} from "@seneschal/core/storage";
import { type CodedError, checkOptions, isCoded } from "@seneschal/kernel";
import { isLoopback, listenGrpc } from "./listen-grpc.ts";
import { objectCalls } from "./object-calls.ts";
import { type StorageFailure, storageFailure } from "./storage-failure.ts";

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
const IDLE_MS = 60_000;

/**
 * Serves the data path. Client certificates are asked for and verified, but a bad one does not end the handshake: the verdict goes to the
 * handlers, which answer UNAUTHENTICATED; the connection is cut soon after.
 * Without TLS it listens on loopback only: throws `TypeError` otherwise.
 */
export async function serveGrpc(options: GrpcServerOptions): Promise<GrpcServer> {
  checkOptions("options", options, {
    host: "string",
    port: "number",
    tls: "object?",
    handlers: "object",
    objects: "object?",
    onCall: "function?",
    onFailure: "function?",
    idleTimeoutMs: "number?",
    proxyProtocol: "function?",
    onConnections: "function?",
    onTraffic: "function?",
    onConnectionError: "function?",
    onHandshakeError: "function?",
  });
  const { host, tls } = options;
  if (tls === undefined && !isLoopback(host)) throw new TypeError("the data path without TLS listens on loopback only");
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_concurrent_streams": 100,
    "grpc.keepalive_time_ms": 60_000,
    "grpc.keepalive_timeout_ms": 20_000,
  });
  // Nothing is called before it listens.
  const peerOf: PeerOf = (peer) => listener.peerOf(peer);
  const objects = options.objects && objectCalls(options.objects);
  for (const name of grpcServices) {
    const handlers = name === "seneschal.storage.v1.ObjectService" ? (objects ?? options.handlers[name]) : options.handlers[name];
    if (handlers === undefined) continue;
    const service = definitions()[name] as ServiceDefinition;
    const methods: UntypedServiceImplementation = {};
    for (const [method, { requestStream, responseStream }] of Object.entries(service)) {
      if (handlers[method] === undefined) continue;
      const handler = observed(name, method, handlers[method], responseStream, options);
      methods[method] = requestStream
        ? receiving(handler, options, peerOf)
        : responseStream
          ? sending(handler, options, peerOf, (peer) => listener.cut(peer))
          : unary(handler, peerOf);
    }
    server.addService(service, methods);
  }

  const listener = await listenGrpc(server, options);
  return {
    port: listener.port,
    setSecureContext: listener.setSecureContext,
    close: listener.close,
  };
}

/** The handler of a method with its calls told of. */
function observed(
  service: GrpcService,
  method: string,
  handler: GrpcHandler,
  streams: boolean,
  { onCall, onFailure }: GrpcServerOptions,
): GrpcHandler {
  const begin = () => {
    const started = performance.now();
    return (error?: unknown): void => {
      const failure = error === undefined ? undefined : storageFailure(error);
      if (failure?.ours === true) onFailure?.(error, method);
      onCall?.({ service, method, status: failure?.code ?? 0, seconds: (performance.now() - started) / 1000 });
    };
  };
  if (!streams)
    return async (call) => {
      const end = begin();
      try {
        const reply = await (handler(call) as Promise<GrpcMessage>);
        end();
        return reply;
      } catch (error) {
        end(error);
        throw error;
      }
    };
  return async function* (call) {
    const end = begin();
    let failure: unknown;
    try {
      yield* handler(call) as AsyncIterable<GrpcMessage>;
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      // Also when the client left in the middle.
      end(failure);
    }
  };
}

type PeerOf = (address: string) => GrpcPeer;

function gone(): CodedError {
  return grpcError("Cancelled", "the client went away");
}

async function* nothing(): AsyncGenerator<GrpcMessage> {}

function unary(handler: GrpcHandler, peerOf: PeerOf) {
  return (call: ServerUnaryCall<GrpcMessage, GrpcMessage>, done: sendUnaryData<GrpcMessage>): void => {
    answer(handler, { peer: peerOf(call.getPeer()), request: call.request, messages: nothing() }, done);
  };
}

function receiving(handler: GrpcHandler, options: GrpcServerOptions, peerOf: PeerOf) {
  return (call: ServerReadableStream<GrpcMessage, GrpcMessage>, done: sendUnaryData<GrpcMessage>): void => {
    const messages = (async function* () {
      try {
        yield* moving(call as AsyncIterable<GrpcMessage>, options.idleTimeoutMs);
      } catch (error) {
        if (isCoded(error)) throw error;
        throw call.cancelled ? gone() : error;
      }
      // A stream that its client cancelled may look like one that ended: only a whole one may become an object.
      if (call.cancelled) throw gone();
    })();
    answer(handler, { peer: peerOf(call.getPeer()), request: {}, messages }, done);
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
  return grpcError("RequestTimeout", `${what} for ${idleMs} ms`);
}

function answer(handler: GrpcHandler, call: GrpcCall, done: sendUnaryData<GrpcMessage>): void {
  Promise.resolve()
    .then(() => handler(call) as Promise<GrpcMessage>)
    .then(
      (reply) => done(null, reply),
      (error: unknown) => done(wire(storageFailure(error))),
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
      call.emit("error", wire(storageFailure(error)));
      // What a client does not take keeps its status from it, and its bytes here: only its connection ends both.
      if (isCoded(error, "RequestTimeout")) cut(call.getPeer());
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

function wire({ code, message, metadata }: StorageFailure): Partial<ServiceError> {
  const trailers = new Metadata();
  for (const [name, value] of Object.entries(metadata)) trailers.set(name, value);
  return { code, details: message, metadata: trailers };
}
