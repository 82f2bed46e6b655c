import { once } from "node:events";
import { isIP } from "node:net";
import { checkServerIdentity, type PeerCertificate, connect as shakeHands } from "node:tls";
import type {
  CallOptions,
  Client,
  ClientReadableStream,
  ClientUnaryCall,
  ClientWritableStream,
  ServiceError,
} from "@grpc/grpc-js";
import type { GrpcMessage, GrpcService } from "@seneschal/core/storage";
import { CodedError, checkArgument, checkOptions } from "@seneschal/kernel";
import { grpc } from "../grpc.ts";
import { dataServices } from "./services.ts";

export interface DataChannelOptions {
  /** `host:port`; the server's certificate must name the host. */
  readonly address: string;
  /** PEM: the cluster's CA, the client's own certificate and key. Absent: plaintext, to a node that allows it. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
  /** How long one call may take, milliseconds; absent: for ever. */
  readonly timeoutMs?: number;
}

/** Calls of one service. Failures are `CodedError`s with the reason that the server gave, or `Unavailable`. */
export interface DataChannel {
  ask(method: string, request: GrpcMessage): Promise<GrpcMessage>;
  /** Replies of a method that streams them; leaving the loop ends the call. */
  receive(method: string, request: GrpcMessage): AsyncIterable<GrpcMessage>;
  /** Sends messages to a method that streams requests. The server may answer before all are through. */
  send(method: string, messages: AsyncIterable<GrpcMessage>): Promise<GrpcMessage>;
  /** What the next calls show and trust. Calls under way end on the connection that they have. Of a channel with TLS. */
  setSecureContext(tls: NonNullable<DataChannelOptions["tls"]>): void;
  close(): void;
}

type Done = (error: ServiceError | null, reply?: GrpcMessage) => void;

/** Opens a channel to a service; it connects with its first call. */
export function openDataChannel(service: GrpcService, input: DataChannelOptions): DataChannel {
  checkOptions("input", input, { address: "string", tls: "object?", timeoutMs: "number?" });
  checkArgument("service", service, "string");
  const { address, timeoutMs, ...given } = input;
  const { credentials, status } = grpc();
  let { tls } = given;
  const Service = dataServices()[service];
  const pem = (text: string) => Buffer.from(text);
  const host = hostOf(address);
  const byAddress = isIP(host) !== 0;
  const verify = byAddress ? { checkServerIdentity: (_: string, cert: PeerCertificate) => checkServerIdentity(host, cert) } : {};
  const secured = () =>
    tls === undefined ? credentials.createInsecure() : credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.cert), verify);
  const connect = () =>
    new Service(address, secured(), {
      // Failures are decided on by the callers, who know what may be repeated.
      "grpc.enable_retries": 0,
      // Nodes are few and near: one that comes back is found at once.
      "grpc.initial_reconnect_backoff_ms": 100,
      "grpc.max_reconnect_backoff_ms": 2000,
      "grpc.use_local_subchannel_pool": 1,
      "grpc.max_receive_message_length": 1 << 22,
      // gRPC always names a server in the handshake, and an address is no name (RFC 6066): the certificate is held to the address above.
      ...(byAddress && { "grpc.ssl_target_name_override": "address.invalid" }),
    }) as Client & Record<string, (...args: readonly unknown[]) => unknown>;
  let client = connect();
  const call = <T>(method: string, ...args: readonly unknown[]): T => {
    const run = client[method];
    if (run === undefined) throw new TypeError(`${service} has no method ${method}`);
    return run.call(client, ...args) as T;
  };
  const options = (): CallOptions => (timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs });

  const failed = async (error: unknown): Promise<Error> => {
    const { code, details, metadata } = error as ServiceError;
    if (typeof code !== "number") return error as Error;
    const unanswered = code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED;
    if (unanswered && metadata?.get("error-reason").length === 0) {
      // The next call connects anew, instead of failing for as long as gRPC would wait with that, or for as long as a connection stands
      // that nobody answers: gRPC itself gives up neither a handshake that is not answered nor a silent peer.
      client.close();
      client = connect();
    }
    const reason = metadata?.get("error-reason")[0]?.toString();
    if (reason !== undefined)
      return new CodedError(reason, details, { status: code, retriable: metadata.get("error-retriable")[0] === "true" });
    const handshake = code === status.UNAVAILABLE && tls !== undefined ? await handshakeError(address, tls) : undefined;
    // gRPC calls every failed connection UNAVAILABLE; one that trust forbids is no reason to retry.
    if (handshake !== undefined)
      return new CodedError("AuthenticationFailed", "the server's certificate is not accepted", {
        status: status.UNAUTHENTICATED,
        retriable: false,
        reason: handshake,
      });
    return new CodedError("Unavailable", details, { status: code, retriable: code === status.UNAVAILABLE });
  };

  const settle = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw await failed(error);
    }
  };

  return {
    ask: (method, request) =>
      settle(
        new Promise((resolve, reject) => {
          const done: Done = (error, reply) => (error === null ? resolve(reply ?? {}) : reject(error));
          call<ClientUnaryCall>(method, request, options(), done);
        }),
      ),
    async *receive(method, request) {
      const stream = call<ClientReadableStream<GrpcMessage>>(method, request, options());
      try {
        for await (const message of stream) yield message as GrpcMessage;
      } catch (error) {
        throw await failed(error);
      } finally {
        stream.cancel();
      }
    },
    send: (method, messages) =>
      settle(
        new Promise<GrpcMessage>((resolve, reject) => {
          const done: Done = (error, reply) => (error === null ? resolve(reply ?? {}) : reject(error));
          const stream = call<ClientWritableStream<GrpcMessage>>(method, options(), done);
          feed(stream, messages).catch((error: unknown) => {
            stream.cancel();
            reject(error);
          });
        }),
      ),
    setSecureContext(next) {
      if (tls === undefined) return;
      tls = next;
      client.close();
      client = connect();
    },
    close: () => client.close(),
  };
}

async function feed(stream: ClientWritableStream<GrpcMessage>, messages: AsyncIterable<GrpcMessage>): Promise<void> {
  const over = new AbortController();
  // The server may answer before the body is through; then nobody reads on.
  stream.on("status", () => over.abort());
  for await (const message of messages) {
    if (over.signal.aborted) return;
    if (!stream.write(message)) await once(stream, "drain", { signal: over.signal }).catch(() => undefined);
  }
  if (!over.signal.aborted) stream.end();
}

function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, "");
}

/** Shakes hands once more to learn why: the TLS layer's code when trust is what failed, else nothing. */
function handshakeError(address: string, tls: NonNullable<DataChannelOptions["tls"]>): Promise<string | undefined> {
  const host = hostOf(address);
  return new Promise((resolve) => {
    const socket = shakeHands({
      host,
      port: Number(address.slice(address.lastIndexOf(":") + 1)),
      ...tls,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: ["h2"],
      rejectUnauthorized: true,
      timeout: 5000,
    });
    const finish = (code: string | undefined) => {
      socket.destroy();
      resolve(code);
    };
    socket.once("secureConnect", () => finish(undefined));
    socket.once("timeout", () => finish(undefined));
    socket.once("close", () => finish(undefined));
    socket.once("error", (error: NodeJS.ErrnoException & { readonly cert?: PeerCertificate }) =>
      // A verdict on the certificate is known by its own codes, or by the certificate it names.
      finish(error.cert !== undefined || socket.authorizationError ? (error.code ?? "certificate") : undefined),
    );
  });
}
