import { once } from "node:events";
import { isIP } from "node:net";
import { connect, type PeerCertificate } from "node:tls";
import {
  type Client,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  credentials,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { CodedError } from "@seneschal/core";
import type { Message } from "./open-data-server.ts";
import { dataServices } from "./services.ts";

export interface ObjectClientOptions {
  /** `host:port`; the server's certificate must name the host. */
  readonly address: string;
  /** PEM: the cluster's CA, the client's own certificate and key. Absent: plaintext, to a node that allows it. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
}

/** Which object; `tenant` only for callers that are no tenant themselves. */
export interface ObjectAddress {
  readonly tenant?: string;
  readonly bucket: string;
  readonly key: string;
}

export interface RemoteObject {
  readonly size: number;
  readonly etag: string;
  readonly content_type: string;
  readonly modified_at: string;
}

/** The data path from a client's side. Failures are `CodedError`s named by the storage node's error taxonomy. */
export interface ObjectClient {
  createBucket(bucket: string, tenant?: string): Promise<boolean>;
  put(
    name: ObjectAddress,
    body: AsyncIterable<Uint8Array>,
    more?: { readonly contentType?: string; readonly size?: number; readonly ifAbsent?: boolean },
  ): Promise<RemoteObject>;
  get(name: ObjectAddress, range?: { readonly offset?: number; readonly length?: number }): AsyncIterable<Uint8Array>;
  has(name: ObjectAddress): Promise<RemoteObject | undefined>;
  delete(name: ObjectAddress): Promise<boolean>;
  close(): void;
}

const PIECE_BYTES = 1 << 18;
type Done = (error: ServiceError | null, reply?: Message) => void;

/**
 * Opens a client of the data path; it connects with its first call.
 *
 * @example
 * ```ts
 * import { openObjectClient } from "@seneschal/adapters/grpc-storage";
 * const client = openObjectClient({ address: "localhost:9100" });
 * client.close();
 * ```
 */
export function openObjectClient({ address, tls }: ObjectClientOptions): ObjectClient {
  const Service = dataServices()["seneschal.storage.v1.ObjectService"];
  const pem = (text: string) => Buffer.from(text);
  const channel =
    tls === undefined ? credentials.createInsecure() : credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.cert));
  const client = new Service(address, channel) as Client & Record<string, (...args: readonly unknown[]) => unknown>;

  const failed = async (error: unknown): Promise<Error> => {
    const { code, details, metadata } = error as ServiceError;
    if (typeof code !== "number") return error as Error;
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

  const ask = (method: string, request: Message): Promise<Message> =>
    settle(
      new Promise((resolve, reject) => {
        const done: Done = (error, reply) => (error === null ? resolve(reply ?? {}) : reject(error));
        (client[method] as (request: Message, done: Done) => ClientUnaryCall).call(client, request, done);
      }),
    );

  return {
    createBucket: async (bucket, tenant = "") => (await ask("CreateBucket", { tenant, bucket }))["created"] === true,
    put: (name, body, more = {}) =>
      settle(
        new Promise<RemoteObject>((resolve, reject) => {
          const call = (client["Put"] as (done: Done) => ClientWritableStream<Message>).call(client, (error, reply) =>
            error === null ? resolve(infoOf(reply)) : reject(error),
          );
          send(call, name, body, more).catch((error: unknown) => {
            call.cancel();
            reject(error);
          });
        }),
      ),
    async *get(name, range = {}) {
      const call = (client["Get"] as (request: Message) => ClientReadableStream<Message>).call(client, { name, ...range });
      try {
        for await (const message of call) {
          const data = (message as Message)["data"];
          if (data instanceof Uint8Array) yield data;
        }
      } catch (error) {
        throw await failed(error);
      } finally {
        call.cancel();
      }
    },
    async has(name) {
      const reply = await ask("Has", { ...name });
      return reply["present"] === true ? infoOf(reply["info"] as Message) : undefined;
    },
    delete: async (name) => (await ask("Delete", { ...name }))["deleted"] === true,
    close: () => client.close(),
  };
}

async function send(
  call: ClientWritableStream<Message>,
  name: ObjectAddress,
  body: AsyncIterable<Uint8Array>,
  more: { readonly contentType?: string; readonly size?: number; readonly ifAbsent?: boolean },
): Promise<void> {
  const over = new AbortController();
  // The server may answer before the body is through; then nobody reads on.
  call.on("status", () => over.abort());
  const write = async (message: Message): Promise<void> => {
    if (!over.signal.aborted && !call.write(message)) await once(call, "drain", { signal: over.signal }).catch(() => undefined);
  };
  await write({
    start: {
      name,
      ...(more.contentType === undefined ? {} : { content_type: more.contentType }),
      ...(more.size === undefined ? {} : { size: more.size }),
      ...(more.ifAbsent === undefined ? {} : { if_absent: more.ifAbsent }),
    },
  });
  for await (const piece of body) {
    for (let at = 0; at < piece.length; at += PIECE_BYTES) await write({ data: piece.subarray(at, at + PIECE_BYTES) });
    if (over.signal.aborted) return;
  }
  call.end();
}

function infoOf(message: Message | undefined): RemoteObject {
  const { size = 0, etag = "", content_type = "", modified_at = "" } = (message ?? {}) as Partial<RemoteObject>;
  return { size, etag, content_type, modified_at };
}

/** Shakes hands once more to learn why: the TLS layer's code when trust is what failed, else nothing. */
function handshakeError(address: string, tls: NonNullable<ObjectClientOptions["tls"]>): Promise<string | undefined> {
  const at = address.lastIndexOf(":");
  const host = address.slice(0, at).replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: Number(address.slice(at + 1)),
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
    socket.once("error", (error: NodeJS.ErrnoException & { readonly cert?: PeerCertificate }) =>
      // A verdict on the certificate is known by its own codes, or by the certificate it names.
      finish(error.cert !== undefined || socket.authorizationError ? (error.code ?? "certificate") : undefined),
    );
  });
}
