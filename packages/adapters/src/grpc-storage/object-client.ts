import { type GrpcMessage, grpcPieceBytes } from "@seneschal/core/storage";
import { checkOptions } from "@seneschal/kernel";
import { type DataChannelOptions, openDataChannel } from "./data-channel.ts";

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

/** What may be said about an object that is put. */
interface PutOptions {
  readonly contentType?: string;
  /** Bytes to come; any other number stores nothing. */
  readonly size?: number;
  readonly ifAbsent?: boolean;
}

/** The data path from a client's side. Failures are `CodedError`s named by the storage node's error taxonomy. */
export interface ObjectClient {
  createBucket(bucket: string, tenant?: string): Promise<boolean>;
  put(name: ObjectAddress, body: AsyncIterable<Uint8Array>, more?: PutOptions): Promise<RemoteObject>;
  get(name: ObjectAddress, range?: { readonly offset?: number; readonly length?: number }): AsyncIterable<Uint8Array>;
  has(name: ObjectAddress): Promise<RemoteObject | undefined>;
  delete(name: ObjectAddress): Promise<boolean>;
  close(): void;
}

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
export function openObjectClient(options: DataChannelOptions): ObjectClient {
  checkOptions("options", options, { address: "string", tls: "object?", timeoutMs: "number?" });
  const { ask, receive, send, close } = openDataChannel("seneschal.storage.v1.ObjectService", options);
  return {
    createBucket: async (bucket, tenant = "") => (await ask("CreateBucket", { tenant, bucket }))["created"] === true,
    put: async (name, body, more = {}) => infoOf(await send("Put", putMessages(name, body, more))),
    async *get(name, range = {}) {
      for await (const { data } of receive("Get", { name, ...range })) if (data instanceof Uint8Array) yield data;
    },
    async has(name) {
      const reply = await ask("Has", { ...name });
      return reply["present"] === true ? infoOf(reply["info"] as GrpcMessage) : undefined;
    },
    delete: async (name) => (await ask("Delete", { ...name }))["deleted"] === true,
    close,
  };
}

async function* putMessages(
  name: ObjectAddress,
  body: AsyncIterable<Uint8Array>,
  { contentType, size, ifAbsent }: PutOptions,
): AsyncGenerator<GrpcMessage> {
  yield {
    start: {
      name,
      ...(contentType === undefined ? {} : { content_type: contentType }),
      ...(size === undefined ? {} : { size }),
      ...(ifAbsent === undefined ? {} : { if_absent: ifAbsent }),
    },
  };
  for await (const bytes of body)
    for (let at = 0; at < bytes.length; at += grpcPieceBytes) yield { data: bytes.subarray(at, at + grpcPieceBytes) };
}

function infoOf(message: GrpcMessage | undefined): RemoteObject {
  const { size = 0, etag = "", content_type = "", modified_at = "" } = (message ?? {}) as Partial<RemoteObject>;
  return { size, etag, content_type, modified_at };
}
