import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Bucket, BucketLogging, ObjectStore } from "@seneschal/core/storage";
import type { Random } from "@seneschal/kernel/ports";
import { type S3Code, s3Error } from "./errors.ts";
import type { RequestBody } from "./request-body.ts";

/** What a request wants of a bucket or an object, by the names of S3's actions. */
export interface Wanted {
  readonly bucket: string;
  readonly key: string;
  readonly version?: string | undefined;
  readonly actions: readonly string[];
  /** What a listing would be of, where the request is none. */
  readonly prefix?: string;
}

/** Whose a bucket is for this caller. Throws `AccessDenied` for what the caller may not do there. */
export type Reach = (wanted: Wanted) => Promise<string>;

/** One authenticated request, parsed. `bucket` and `key` are empty where the path has none. */
export interface S3Call {
  readonly objects: ObjectStore;
  readonly random: Random;
  /** Whose bucket it is, where there is one, else the caller's. */
  readonly tenant: string;
  /** Asks for leave to reach further than the request itself says. */
  readonly reach: Reach;
  /** Whether the bucket that is named takes the access logs of another. */
  readonly mayDeliverLogs: (bucket: Bucket, logging: BucketLogging) => Promise<boolean>;
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
  readonly query: ReadonlyMap<string, string>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly region: string;
  /** The address that the bucket's keys are appended to. */
  readonly root: string;
  readonly now: number;
  /** Of an upload by a form. */
  readonly form?: { readonly fields: ReadonlyMap<string, string> };
  /** The payload. `algorithm`: a checksum to compute although the request does not name it; `null`: its checksums are not of the payload. */
  body(algorithm?: string | null): RequestBody;
}

/** A reply: a streamed body has its length. */
export interface S3Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | { readonly length: number; readonly bytes: AsyncIterable<Uint8Array> };
  /** The keys of a bulk delete, for access logs. */
  readonly removed?: readonly {
    readonly key: string;
    readonly version: string | undefined;
    readonly errorCode?: string;
  }[];
}

/** An XML reply. */
export function xmlReply(body: string, status = 200): S3Reply {
  return { status, headers: { "content-type": "application/xml" }, body };
}

/** A whole small body as text, once there is room for it; longer ones are refused, and what is no UTF-8 is, as `otherwise`. */
export async function readText(
  { objects, headers }: S3Call,
  body: RequestBody,
  limit: number,
  otherwise: S3Code = "MalformedXML",
): Promise<string> {
  if (headers["x-amz-content-sha256"] === "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
    throw s3Error("InvalidRequest", "a document is not sent as an unsigned stream", {
      wire: "The value of x-amz-content-sha256 header is invalid.",
    });
  const release = await objects.reserve(Math.min(body.length ?? limit, limit));
  try {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of body.bytes) {
      size += piece.length;
      if (size > limit) throw s3Error("EntityTooLarge", `the body of this operation takes at most ${limit} bytes`);
      pieces.push(piece);
    }
    const bytes = Buffer.concat(pieces);
    if (!isUtf8(bytes)) throw s3Error(otherwise, "the body is not UTF-8");
    return bytes.toString("utf8");
  } finally {
    release();
  }
}

/** Header fields by lower-case name, repeated ones joined by a comma as signatures join them. */
export function headersOf(request: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(request.headersDistinct).map(([name, values]) => [name, values?.join(",")]));
}

/** Text as the header field that would say it: the bytes of its UTF-8, one in a character. */
export function asField(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** Of the numbers that S3 takes. */
const largest = 2 ** 31 - 1;

/** A query number within bounds; absent is the default. Throws `InvalidArgument`. */
export function queryNumber(call: S3Call, name: string, fallback: number, min: number, max: number): number {
  const text = call.query.get(name);
  if (text === undefined || text === "") return fallback;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= largest) return Math.min(value, max);
  const elements = { ArgumentName: name, ArgumentValue: text };
  throw s3Error("InvalidArgument", `${name} must be a number from ${min} to ${largest}`, {
    elements,
    wire: /^-\d+$/.test(text)
      ? `Argument ${text} must be an integer between 0 and ${largest}`
      : `Provided ${text} not an integer or within integer range`,
  });
}
