import {
  type GrpcCall,
  type GrpcHandler,
  type GrpcMessage,
  type GrpcObjects,
  grpcError,
  grpcPieceBytes,
  type ObjectSession,
  type ObjectVersion,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";

/** As the S3 gateway: 5 GiB in one put. */
const maxObjectBytes = 5 * 1024 ** 3;

type Answer = (session: ObjectSession, call: GrpcCall) => Promise<GrpcMessage>;

/** The ObjectService: a caller is authenticated before anything of its call is read. */
export function objectCalls({ open, maxBytes = maxObjectBytes }: GrpcObjects): Readonly<Record<string, GrpcHandler>> {
  const unary =
    (answer: Answer): GrpcHandler =>
    async (call) =>
      answer(await open(call.peer), call);
  return {
    CreateBucket: unary(async ({ objects, tenantOf }, { request }) => {
      const tenant = await tenantOf("objects:write", text(request, "tenant"));
      return { created: await objects.createBucket(tenant, text(request, "bucket"), undefined) };
    }),

    Put: unary(async ({ objects, tenantOf }, { messages }) => {
      const source = messages[Symbol.asyncIterator]();
      const first = await source.next();
      const start = first.done === true ? undefined : (first.value["start"] as GrpcMessage | undefined);
      if (start === undefined) throw grpcError("InvalidArgument", "the first message must be start", { field: "start" });
      const name = nameOf(start["name"]);
      const size = number(start, "size");
      if (size !== undefined && size > maxBytes) throw tooLarge(maxBytes);
      const object = await objects.putObject({
        ...name,
        tenant: await tenantOf("objects:write", name.tenant),
        body: bodyOf(source, size, maxBytes),
        length: size,
        contentType: text(start, "content_type") || "application/octet-stream",
        headers: {},
        meta: {},
        conditions: start["if_absent"] === true ? { ifNoneMatch: ["*"] } : {},
      });
      return infoOf(object);
    }),

    async *Get({ peer, request }) {
      const { objects, tenantOf } = await open(peer);
      const name = nameOf(request["name"]);
      const object = await objects.headObject(await tenantOf("objects:read", name.tenant), name.bucket, name.key);
      const offset = number(request, "offset") ?? 0;
      if (offset > object.size) throw grpcError("InvalidRange", `offset is behind the ${object.size} bytes`, { field: "offset" });
      const length = number(request, "length");
      const end = length === undefined ? object.size : Math.min(object.size, offset + length);
      yield { info: infoOf(object) };
      for await (const bytes of objects.readObject(object, offset, end))
        for (let at = 0; at < bytes.length; at += grpcPieceBytes) yield { data: bytes.subarray(at, at + grpcPieceBytes) };
    },

    Delete: unary(async ({ objects, tenantOf }, { request }) => {
      const name = nameOf(request);
      const tenant = await tenantOf("objects:write", name.tenant);
      const { deleted } = await objects.deleteObject(tenant, name.bucket, name.key, {});
      return { deleted };
    }),

    Has: unary(async ({ objects, tenantOf }, { request }) => {
      const name = nameOf(request);
      try {
        const object = await objects.headObject(await tenantOf("objects:read", name.tenant), name.bucket, name.key);
        return { present: true, info: infoOf(object) };
      } catch (error) {
        if (isCoded(error, "NotFound")) return { present: false };
        throw error;
      }
    }),
  };
}

async function* bodyOf(
  source: AsyncIterator<GrpcMessage>,
  declared: number | undefined,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for (;;) {
    const next = await source.next();
    if (next.done === true) break;
    const data = next.value["data"];
    if (!(data instanceof Uint8Array))
      throw grpcError("InvalidArgument", "messages after the first must be data", { field: "data" });
    size += data.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    if (declared !== undefined && size > declared) throw incomplete(declared);
    if (data.length > 0) yield data;
  }
  if (declared !== undefined && size !== declared) throw incomplete(declared);
}

function tooLarge(maxBytes: number) {
  return grpcError("EntityTooLarge", `an object has at most ${maxBytes} bytes`, { field: "size" });
}

function incomplete(declared: number) {
  return grpcError("IncompleteBody", `the body does not have the ${declared} bytes that were announced`, { field: "size" });
}

function infoOf({ size, etag, content_type, modified_at }: ObjectVersion): GrpcMessage {
  return { size, etag, content_type, modified_at: new Date(modified_at).toISOString() };
}

function nameOf(message: unknown): { readonly tenant: string; readonly bucket: string; readonly key: string } {
  const name = (message ?? {}) as GrpcMessage;
  return { tenant: text(name, "tenant"), bucket: text(name, "bucket"), key: text(name, "key") };
}

/** Proto has no null: an absent text is empty. */
function text(message: GrpcMessage, field: string): string {
  const value = message[field];
  return typeof value === "string" ? value : "";
}

function number(message: GrpcMessage, field: string): number | undefined {
  const value = message[field];
  if (value === undefined) return undefined;
  if (!Number.isSafeInteger(value)) throw grpcError("InvalidArgument", `${field} is too large`, { field });
  return value as number;
}
