import type { IncomingMessage } from "node:http";
import type { ObjectServices } from "../objects/services.ts";
import { s3Error } from "./errors.ts";
import type { RequestBody } from "./request-body.ts";

/** One authenticated request, parsed. `bucket` and `key` are empty where the path has none. */
export interface S3Call {
  readonly services: ObjectServices;
  readonly tenant: string;
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
  readonly query: ReadonlyMap<string, string>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly region: string;
  readonly host: string;
  readonly now: number;
  /** The payload. `algorithm`: a checksum to compute although the request does not name it; `null`: its checksums are not of the payload. */
  body(algorithm?: string | null): RequestBody;
}

/** A reply: a streamed body has its length. */
export interface S3Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | { readonly length: number; readonly bytes: AsyncIterable<Uint8Array> };
}

/** An XML reply. */
export function xmlReply(body: string, status = 200): S3Reply {
  return { status, headers: { "content-type": "application/xml" }, body };
}

/** A whole small body as text, once there is room for it; longer ones are refused. */
export async function readText({ services }: S3Call, body: RequestBody, limit: number): Promise<string> {
  const release = await services.memory.take(Math.min(body.length ?? limit, limit));
  try {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of body.bytes) {
      size += piece.length;
      if (size > limit) throw s3Error("EntityTooLarge", `the body of this operation takes at most ${limit} bytes`);
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString("utf8");
  } finally {
    release();
  }
}

/** Header fields by lower-case name, repeated ones joined by a comma as signatures join them. */
export function headersOf(request: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(request.headersDistinct).map(([name, values]) => [name, values?.join(",")]));
}

/** A query number within bounds; absent is the default. Throws `InvalidArgument`. */
export function queryNumber(call: S3Call, name: string, fallback: number, min: number, max: number): number {
  const text = call.query.get(name);
  if (text === undefined || text === "") return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min) throw s3Error("InvalidArgument", `${name} must be a number from ${min} on`);
  return Math.min(value, max);
}
