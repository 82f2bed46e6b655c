import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { type AccessRecord, isBucketName, type ObjectStore, shownReferrer, shownTarget } from "@seneschal/core/storage";
import type { AccessLogs } from "./access-log.ts";
import type { S3Reply } from "./call.ts";
import type { Understood } from "./find-operation.ts";
import { namedSource } from "./object-operations.ts";
import { operations } from "./operations.ts";

/** What is known of a request when it has been answered. Times of `performance.now()`. */
export interface Accessed {
  readonly at: number;
  readonly requestId: string;
  readonly address: string;
  readonly started: number;
  /** When the last byte of the body came. */
  heard: number;
  /** When the answer began. */
  answered?: number;
  bucket: string;
  key: string;
  /** The tenant that signed it. */
  requester?: string | undefined;
  /** As S3 logs name it, where it is no operation of S3's. */
  operation?: string;
  understood?: Understood;
  reply?: S3Reply;
  status: number;
  errorCode?: string;
  /** Bytes of the answer's body. */
  sent?: number | undefined;
}

/** Notes a request with each bucket that it is about and that has its requests logged. */
export async function recordAccess(
  logs: AccessLogs,
  objects: ObjectStore,
  { request, headers }: { readonly request: IncomingMessage; readonly headers: Readonly<Record<string, string | undefined>> },
  seen: Accessed,
): Promise<void> {
  const named = seen.understood?.headers["x-amz-copy-source"];
  const source = named === undefined ? undefined : namedSource(named);
  const removed = seen.reply?.removed;
  for (const name of new Set([seen.bucket, source?.bucket ?? ""])) {
    if (!isBucketName(name)) continue;
    const bucket = await objects.findBucket(name);
    if (bucket?.logging === undefined) continue;
    const base = baseRecord(request, headers, seen);
    const { tenant: owner, logging } = bucket;
    const note = (record: Partial<AccessRecord> & Pick<AccessRecord, "operation">) =>
      logs.note(bucket, logging, { ...base, owner, bucket: name, ...record });
    const operation = loggedAs(request.method ?? "", seen);
    if (name === seen.bucket) {
      note({ operation, key: seen.key, version: versionOf(seen), size: sizeOf(seen), sent: seen.sent || undefined });
      for (const { key, version, errorCode } of removed ?? [])
        note({ operation: "BATCH.DELETE.OBJECT", key, version, errorCode, status: errorCode === undefined ? 204 : undefined });
    }
    if (name === source?.bucket) note({ operation: `${operation}_GET`, key: source.key, version: source.version });
  }
}

function baseRecord(
  request: IncomingMessage,
  headers: Readonly<Record<string, string | undefined>>,
  seen: Accessed,
): Omit<AccessRecord, "owner" | "bucket" | "operation"> {
  const target = request.url ?? "";
  const socket = request.socket as Partial<TLSSocket>;
  const ended = performance.now();
  return {
    at: seen.at,
    address: seen.address,
    requester: seen.requester,
    requestId: seen.requestId,
    line: target.startsWith("/") ? `${request.method} ${shownTarget(target, shownNames)} HTTP/${request.httpVersion}` : undefined,
    status: seen.status,
    errorCode: seen.errorCode,
    totalMs: ended - seen.started,
    turnAroundMs: (seen.answered ?? ended) - seen.heard,
    referrer: shownReferrer(headers["referer"]),
    userAgent: headers["user-agent"],
    ...signatureOf(headers, target),
    host: headers["host"],
    cipher: socket.getCipher?.().name,
    tls: socket.getProtocol?.() ?? undefined,
  };
}

/** What of a query is written down: what asks for an operation or for a part of what is there, and never proves who asks. */
const shownNames: ReadonlySet<string> = new Set([
  ...operations.flatMap(({ asks = [], query = [] }) => [...asks, ...query]),
  ...["x-id", "X-Amz-Algorithm", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders"],
]);

function signatureOf(
  { authorization }: Readonly<Record<string, string | undefined>>,
  target: string,
): Pick<AccessRecord, "signature" | "authentication"> {
  if (authorization !== undefined)
    return { authentication: "AuthHeader", signature: authorization.startsWith("AWS ") ? "SigV2" : "SigV4" };
  const names = new URLSearchParams(target.slice(target.indexOf("?") + 1));
  if (names.has("X-Amz-Signature")) return { authentication: "QueryString", signature: "SigV4" };
  if (names.has("AWSAccessKeyId")) return { authentication: "QueryString", signature: "SigV2" };
  return {};
}

/** Sub-resources that logs do not name as requests do. */
const resources: Readonly<Record<string, string>> = {
  "list-type": "BUCKET",
  delete: "MULTI_OBJECT_DELETE",
  logging: "LOGGING_STATUS",
  policy: "BUCKETPOLICY",
  versions: "BUCKETVERSIONS",
};

/** The operation as S3 logs name it: `REST.PUT.OBJECT`, `REST.COPY.PART`, `REST.GET.BUCKETPOLICY`. */
function loggedAs(method: string, { operation, understood, key }: Pick<Accessed, "operation" | "understood" | "key">): string {
  if (operation !== undefined) return operation;
  const { asks = [], on = key === "" ? "bucket" : "object" } = understood?.operation ?? {};
  const verb = asks.includes("x-amz-copy-source") ? "COPY" : method;
  const [asked] = asks.filter((name) => name !== "x-amz-copy-source");
  if (asked === undefined) return `REST.${verb}.${on.toUpperCase()}`;
  if (asks.includes("partNumber")) return `REST.${verb}.PART`;
  if (asked === "uploadId") return `REST.${verb}.UPLOAD`;
  if (asked === "tagging" && on === "object") return `REST.${verb}.OBJECT_TAGGING`;
  const name = asked.replace(/(?<=[a-z])(?=[A-Z])/g, "_").replaceAll("-", "_");
  return `REST.${verb}.${resources[asked] ?? name.toUpperCase()}`;
}

function versionOf({ understood, reply }: Accessed): string | undefined {
  return reply?.headers?.["x-amz-version-id"] ?? understood?.query.get("versionId");
}

/** Bytes of the object that was read, whole or in part, or written. */
function sizeOf({ understood, reply }: Accessed): number | undefined {
  const { headers = {}, body } = reply ?? {};
  const written = headers["x-amz-object-size"];
  if (written !== undefined) return Number(written);
  if (understood?.operation.name !== "GetObject" && understood?.operation.name !== "HeadObject") return undefined;
  const [, whole] = /\/(\d+)$/.exec(headers["content-range"] ?? "") ?? [];
  if (whole !== undefined) return Number(whole);
  if (typeof body === "object") return body.length;
  return headers["content-length"] === undefined ? undefined : Number(headers["content-length"]);
}

/** Bytes of the body of an answer that is out, of a failure. */
export function bytesTold(response: ServerResponse, method: string): number | undefined {
  const length = Number(response.getHeader("content-length") ?? 0);
  return method === "HEAD" || length === 0 ? undefined : length;
}
