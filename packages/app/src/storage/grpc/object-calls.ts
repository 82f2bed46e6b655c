import type { GrpcCall, GrpcHandler, GrpcMessage, GrpcPeer } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { ObjectDoc } from "../documents.ts";
import { createBucket } from "../objects/buckets.ts";
import { deleteObject } from "../objects/delete-object.ts";
import { putObject } from "../objects/put-object.ts";
import { headObject, readObject } from "../objects/read-object.ts";
import { forRequest, type ObjectServices } from "../objects/services.ts";
import type { Caller, PeerAuth } from "./authenticate-peer.ts";
import { grpcError } from "./failure.ts";

/** Bytes of one data message to a client; gRPC clients take 4 MiB by default. */
const pieceBytes = 256 * 1024;
/** As the S3 gateway: 5 GiB in one put. */
const maxObjectBytes = 5 * 1024 ** 3;

type Answer = (caller: Caller, call: GrpcCall) => Promise<GrpcMessage>;
type Stream = (caller: Caller, call: GrpcCall) => AsyncIterable<GrpcMessage>;

/** The ObjectService behind its authentication. */
export function objectCalls(
  services: ObjectServices,
  { tenantOf }: Pick<PeerAuth, "tenantOf">,
  maxBytes = maxObjectBytes,
): { readonly CreateBucket: Answer; readonly Put: Answer; readonly Delete: Answer; readonly Has: Answer; readonly Get: Stream } {
  return {
    async CreateBucket(caller, { request }) {
      const tenant = await tenantOf(caller, "objects:write", text(request, "tenant"));
      return { created: await createBucket(services, tenant, text(request, "bucket"), undefined) };
    },

    async Put(caller, { messages, peer }) {
      const source = messages[Symbol.asyncIterator]();
      const first = await source.next();
      const start = first.done === true ? undefined : (first.value["start"] as GrpcMessage | undefined);
      if (start === undefined) throw grpcError("InvalidArgument", "the first message must be start", { field: "start" });
      const name = nameOf(start["name"]);
      const size = number(start, "size");
      if (size !== undefined && size > maxBytes) throw tooLarge(maxBytes);
      const object = await putObject(requestOf(services, caller, peer), {
        ...name,
        tenant: await tenantOf(caller, "objects:write", name.tenant),
        body: bodyOf(source, size, maxBytes),
        length: size,
        contentType: text(start, "content_type") || "application/octet-stream",
        headers: {},
        meta: {},
        conditions: start["if_absent"] === true ? { ifNoneMatch: ["*"] } : {},
      });
      return infoOf(object);
    },

    async *Get(caller, { request }) {
      const name = nameOf(request["name"]);
      const object = await headObject(services, await tenantOf(caller, "objects:read", name.tenant), name.bucket, name.key);
      const offset = number(request, "offset") ?? 0;
      if (offset > object.size) throw grpcError("InvalidRange", `offset is behind the ${object.size} bytes`, { field: "offset" });
      const length = number(request, "length");
      const end = length === undefined ? object.size : Math.min(object.size, offset + length);
      yield { info: infoOf(object) };
      for await (const bytes of readObject(services, object, offset, end))
        for (let at = 0; at < bytes.length; at += pieceBytes) yield { data: bytes.subarray(at, at + pieceBytes) };
    },

    async Delete(caller, { request, peer }) {
      const name = nameOf(request);
      const tenant = await tenantOf(caller, "objects:write", name.tenant);
      const { deleted } = await deleteObject(requestOf(services, caller, peer), tenant, name.bucket, name.key);
      return { deleted };
    },

    async Has(caller, { request }) {
      const name = nameOf(request);
      try {
        const object = await headObject(services, await tenantOf(caller, "objects:read", name.tenant), name.bucket, name.key);
        return { present: true, info: infoOf(object) };
      } catch (error) {
        if (isCoded(error, "NotFound")) return { present: false };
        throw error;
      }
    },
  };
}

/** Handlers for the server: a caller is authenticated before anything of its call is read. */
export function guarded(auth: Pick<PeerAuth, "authenticate">, calls: ReturnType<typeof objectCalls>) {
  const authenticate = ({ peer }: GrpcCall) => auth.authenticate(peer);
  const { Get, ...unary } = calls;
  const handlers: Record<string, GrpcHandler> = {
    async *Get(call) {
      yield* Get(await authenticate(call), call);
    },
  };
  for (const [name, answer] of Object.entries(unary)) handlers[name] = async (call) => answer(await authenticate(call), call);
  return handlers;
}

/** The services of one call, whose notifications say who made it. */
function requestOf(services: ObjectServices, caller: Caller, { address }: GrpcPeer): ObjectServices {
  const principal = caller.kind === "tenant" ? caller.tenant : caller.id;
  const request_id = Buffer.from(services.context.random(8)).toString("hex").toUpperCase();
  return forRequest(services, { principal, address: address.replace(/:\d+$/, "").replace(/^::ffff:/, ""), request_id });
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

function infoOf({ size, etag, content_type, modified_at }: ObjectDoc): GrpcMessage {
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
