import { isUtf8 } from "node:buffer";
import { createHash, type Hash } from "node:crypto";
import { Readable } from "node:stream";
import { type Retention, type RetentionMode, retentionOfReplica } from "@seneschal/core/storage";
import { CodedError, checkOptions, isCoded } from "@seneschal/kernel";
import { missingBackEnd } from "../back-end.ts";
import { s3ClientConfig } from "../s3.ts";
import type { DescriptionPart, Replica, ReplicaErrorCode, ReplicaPart, ReplicaTarget } from "./replica-target.ts";

/** An S3 server that buckets are copied to. */
export interface S3ReplicasOptions {
  /** `http(s)://host[:port]`; buckets are addressed by path. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKey: string;
  /** Asked for at each request, so that a new one counts at once; what it rejects with is a destination that is not reached. */
  readonly secretKey: () => Promise<string>;
  /** How long the server may say nothing, and take for an answer once it has been told all; default 60,000. */
  readonly timeoutMs?: number;
}

const replicaHeader = "x-seneschal-replica-version";
const checksumPrefix = "x-amz-checksum-";

/** Copies versions to buckets of an S3 server. The SDK is loaded only where that is done. */
export async function openS3Replicas(options: S3ReplicasOptions): Promise<ReplicaTarget> {
  checkOptions("options", options, {
    endpoint: "string",
    region: "string",
    accessKey: "string",
    secretKey: "function",
    timeoutMs: "number?",
  });
  const sdk = await import("@aws-sdk/client-s3").catch(missingBackEnd);
  const client = new sdk.S3Client({
    // A version brings the checksums that it has.
    ...s3ClientConfig(options),
    // What is to be tried again, and when, is not the client's to say.
    maxAttempts: 1,
    // Failures are told to who asks.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    requestHandler: { connectionTimeout: 5000, socketTimeout: options.timeoutMs ?? 60_000 },
  });
  boundAnswers(client.config.requestHandler as unknown as Handler, options.timeoutMs ?? 60_000);
  type Send = typeof client.send;

  /** Sends a command with headers beside its own, and tells what its failure means. */
  const send = (async (command: Parameters<Send>[0], headers: Readonly<Record<string, string>>, signal?: AbortSignal) => {
    withHeaders(command as unknown as Extensible, headers);
    try {
      return await client.send(command, signal && { abortSignal: signal });
    } catch (error) {
      throw signal?.aborted === true ? error : failureOf(error as SdkError);
    }
  }) as <R>(command: unknown, headers: Readonly<Record<string, string>>, signal?: AbortSignal) => Promise<R>;

  /** What is there under the name of a version; `undefined`: nothing, or nothing that may be seen. */
  const look = async (Bucket: string, Key: string, VersionId: string, signal?: AbortSignal): Promise<Found | undefined> => {
    try {
      const found = await send<Found>(new sdk.HeadObjectCommand({ Bucket, Key, VersionId, ChecksumMode: "ENABLED" }), {}, signal);
      return found.VersionId === VersionId ? found : undefined;
    } catch (error) {
      if (isCoded(error, "replica_withheld", "replica_denied", "replica_refused")) return undefined;
      throw error;
    }
  };

  const putJoined = async (Bucket: string, replica: Replica, signal?: AbortSignal): Promise<Named> => {
    const { key: Key, version, parts } = replica;
    // Its bytes are sent only once, also after an answer that was lost.
    const before = await look(Bucket, Key, version, signal);
    if (before !== undefined) return expectSame(before, replica, replica.etag);
    const whole = Object.entries(replica.headers).find(([name]) => name.startsWith(checksumPrefix));
    const algorithm = whole?.[0].slice(checksumPrefix.length);
    const { UploadId } = await send<{ UploadId?: string }>(
      new sdk.CreateMultipartUploadCommand({ Bucket, Key, ContentType: replica.contentType }),
      {
        ...described(replica),
        ...(whole && {
          "x-amz-checksum-algorithm": (algorithm ?? "").toUpperCase(),
          "x-amz-checksum-type": /-\d+$/.test(whole[1]) ? "COMPOSITE" : "FULL_OBJECT",
        }),
      },
      signal,
    );
    const target = { Bucket, Key, UploadId };
    try {
      const done = [];
      for (const [i, part] of parts.entries()) {
        const own = Object.entries(part.checksums).filter(([name]) => name === whole?.[0]);
        const PartNumber = i + 1;
        const { ETag } = await send<{ ETag?: string }>(
          new sdk.UploadPartCommand({ ...target, PartNumber, ...bodyOf(part) }),
          Object.fromEntries(own),
          signal,
        );
        done.push({
          PartNumber,
          ETag,
          ...Object.fromEntries(own.map(([, value]) => [`Checksum${algorithm?.toUpperCase()}`, value])),
        });
      }
      const complete = new sdk.CompleteMultipartUploadCommand({ ...target, MultipartUpload: { Parts: done } });
      return expectSame(await send<Found>(complete, {}, signal), replica, replica.etag);
    } catch (error) {
      await client.send(new sdk.AbortMultipartUploadCommand(target)).catch(() => undefined);
      throw error;
    }
  };

  /** Asks a bucket something: what it denies then, it denies every version. */
  const ask = async <R>(command: unknown): Promise<R> => {
    try {
      return await send<R>(command, {});
    } catch (error) {
      const { message, details } = error as CodedError;
      throw isCoded(error, "replica_denied") ? replicaError("replica_withheld", message, details ?? {}, error) : error;
    }
  };

  return {
    async open(Bucket) {
      const { Status } = await ask<{ Status?: string }>(new sdk.GetBucketVersioningCommand({ Bucket }));
      if (Status !== "Enabled") throw replicaError("replica_withheld", "the bucket there does not keep versions", {});
      try {
        const lock = await ask<{ ObjectLockConfiguration?: { ObjectLockEnabled?: string } }>(
          new sdk.GetObjectLockConfigurationCommand({ Bucket }),
        );
        return { locks: lock.ObjectLockConfiguration?.ObjectLockEnabled === "Enabled" };
      } catch (error) {
        if (isCoded(error, "replica_refused")) return { locks: false };
        throw error;
      }
    },
    async put(Bucket, replica, signal) {
      if (replica.joined) return putJoined(Bucket, replica, signal);
      const [part = { size: 0, checksums: {}, bytes: async function* () {} }] = replica.parts;
      const known = /^[0-9a-f]{32}$/.test(replica.etag) ? replica.etag : undefined;
      const hash = known === undefined ? createHash("md5") : undefined;
      const body = bodyOf({ ...part, ...(known !== undefined && { md5: known }) }, hash);
      const checksums = Object.entries(replica.headers).filter(([name]) => name.startsWith(checksumPrefix));
      const answer = await send<Found>(
        new sdk.PutObjectCommand({ Bucket, Key: replica.key, ContentType: replica.contentType, ...body }),
        { ...described(replica), ...Object.fromEntries(checksums) },
        signal,
      );
      return expectSame(answer, replica, known ?? (hash?.digest("hex") as string));
    },
    async describe(Bucket, { key: Key, version: VersionId, tags, retention, legalHold }, locks, signal) {
      const target = { Bucket, Key, VersionId };
      const failed: { readonly part: DescriptionPart; readonly error: CodedError }[] = [];
      const tell = async (part: DescriptionPart, work: () => Promise<unknown>): Promise<void> => {
        try {
          await work();
        } catch (error) {
          if (!isCoded(error, "replica_denied", "replica_refused")) throw error;
          failed.push({ part, error: error as CodedError });
        }
      };
      await tell("tags", () => {
        const TagSet = tags.map(({ key, value }) => ({ Key: key, Value: value }));
        return send(new sdk.PutObjectTaggingCommand({ ...target, Tagging: { TagSet } }), {}, signal);
      });
      if (locks && retention !== undefined)
        await tell("retention", async () => {
          // Nobody here was asked who may weaken a lock there.
          const there = retentionOf(await look(Bucket, Key, VersionId, signal));
          const change = retentionOfReplica(there, retention, Date.now());
          if (change === "refused") throw replicaError("replica_refused", "the version is kept there otherwise", {});
          if (change === "kept") return;
          const Retention = { Mode: retention.mode, RetainUntilDate: new Date(retention.until) };
          // A change of the mode is one that only the server of the copy can judge in the moment that it makes it.
          const turned = there !== undefined && there.until > Date.now() && there.mode !== retention.mode;
          const headers = turned ? { [replicaHeader]: VersionId } : {};
          await send(new sdk.PutObjectRetentionCommand({ ...target, Retention }), headers, signal);
        });
      if (locks && legalHold === true)
        await tell("legal hold", () =>
          send(new sdk.PutObjectLegalHoldCommand({ ...target, LegalHold: { Status: "ON" } }), {}, signal),
        );
      const [first] = failed;
      if (first === undefined) return;
      // What may be taken later is told as that.
      const { code, details } = (failed.find(({ error }) => isCoded(error, "replica_denied")) ?? first).error;
      const message = failed.map(({ part, error }) => `${part}: ${error.message}`).join("; ");
      const parts = failed.map(({ part }) => part);
      throw replicaError(code as ReplicaErrorCode, message, { ...details, parts }, first.error);
    },
    async putMarker(Bucket, { key, version }, signal) {
      const command = new sdk.DeleteObjectCommand({ Bucket, Key: key });
      const answer = await send<Found>(command, { [replicaHeader]: version }, signal);
      if (answer.VersionId === version && answer.DeleteMarker !== true)
        throw replicaError("replica_refused", "the version is there, and is no delete marker", {});
    },
    close: () => client.destroy(),
  };
}

interface SentBody {
  readonly Body: Buffer | Readable;
  readonly ContentLength: number;
  readonly ContentMD5?: string;
}

/** The bytes of a part on their way, with the MD5 that they have; `hash` takes them in as they go. */
function bodyOf({ size, md5, bytes }: ReplicaPart, hash?: Hash): SentBody {
  async function* taken(): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes()) {
      hash?.update(piece);
      yield piece;
    }
  }
  return {
    Body: size === 0 ? Buffer.alloc(0) : Readable.from(taken(), { objectMode: false }),
    ContentLength: size,
    ...(md5 !== undefined && { ContentMD5: Buffer.from(md5, "hex").toString("base64") }),
  };
}

/** What a server tells of a version; checksums are beside these, as `ChecksumSHA256`. */
interface Found {
  readonly VersionId?: string;
  readonly ETag?: string;
  readonly DeleteMarker?: boolean;
  readonly ObjectLockMode?: RetentionMode;
  readonly ObjectLockRetainUntilDate?: Date;
}

type Named = Awaited<ReturnType<ReplicaTarget["put"]>>;

/** Servers that call a version anew have their own ETags too; checksums mean the same everywhere. Throws `replica_refused` for other bytes. */
function expectSame(found: Found, { version, headers }: Replica, etag: string): Named {
  const named = found.VersionId === version;
  if (named && found.ETag !== `"${etag}"`)
    throw replicaError("replica_refused", `the version is there with other bytes: its ETag is ${found.ETag}`, {});
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(checksumPrefix)) continue;
    const told = (found as Readonly<Record<string, unknown>>)[`Checksum${name.slice(checksumPrefix.length).toUpperCase()}`];
    if (told !== undefined && told !== value)
      throw replicaError("replica_refused", `the version is there with other bytes: its ${name} is ${told}`, {});
  }
  return { named };
}

function retentionOf(found: Found | undefined): Retention | undefined {
  const { ObjectLockMode: mode, ObjectLockRetainUntilDate: until } = found ?? {};
  return mode === undefined || until === undefined ? undefined : { mode, until: until.getTime() };
}

/** No answer that is asked for is longer. */
const maxAnswerBytes = 1024 * 1024;

/** What sends the requests of the SDK. */
interface Handler {
  handle(
    request: { readonly body?: unknown },
    options?: { readonly abortSignal?: AbortSignal },
  ): Promise<{ readonly response: { body?: unknown } }>;
}

/** An answer that ended before it was whole. */
class Unanswered extends Error {}

/** Ends what a server answers without end, be it in bytes or in time: the SDK collects whatever comes. */
function boundAnswers(handler: Handler, timeoutMs: number): void {
  const handle = handler.handle.bind(handler);
  handler.handle = async (request, options = {}) => {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs).unref();
    if (request.body instanceof Readable) {
      // The time begins again with each piece that is sent. Paused: whoever listens would be sent the pieces before they are asked for.
      request.body.on("data", () => timer.refresh());
      request.body.on("error", () => late.abort());
      request.body.pause();
    }
    const signals = options.abortSignal === undefined ? [late.signal] : [options.abortSignal, late.signal];
    try {
      const { response } = await handle(request, { ...options, abortSignal: AbortSignal.any(signals) });
      const { body } = response;
      if (!(body instanceof Readable)) clearTimeout(timer);
      else
        response.body = Readable.from(
          bounded(body, () => clearTimeout(timer)),
          { objectMode: false },
        );
      return { response };
    } catch (error) {
      clearTimeout(timer);
      throw late.signal.aborted ? new Unanswered(`no answer within ${timeoutMs} ms`, { cause: error }) : error;
    }
  };
}

async function* bounded(body: Readable, end: () => void): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const bytes of body as AsyncIterable<Uint8Array>) {
      size += bytes.length;
      if (size > maxAnswerBytes) throw new Error(`it is longer than ${maxAnswerBytes} bytes`);
      yield bytes;
    }
  } catch (error) {
    throw new Unanswered(`the answer is not whole: ${(error as Error).message}`, { cause: error });
  } finally {
    end();
  }
}

/** What is said of a version, but for its type and its checksum. */
function described({ version, headers, meta, tags, retention, legalHold }: Replica): Record<string, string> {
  return {
    ...Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(checksumPrefix))),
    ...Object.fromEntries(Object.entries(meta).map(([name, value]) => [`x-amz-meta-${name}`, value])),
    ...(tags.length > 0 && { "x-amz-tagging": new URLSearchParams(tags.map(({ key, value }) => [key, value])).toString() }),
    ...(retention && {
      "x-amz-object-lock-mode": retention.mode,
      "x-amz-object-lock-retain-until-date": new Date(retention.until).toISOString(),
    }),
    ...(legalHold === true && { "x-amz-object-lock-legal-hold": "ON" }),
    [replicaHeader]: version,
  };
}

/** A command, as far as its request can be changed on its way. */
interface Extensible {
  readonly middlewareStack: {
    add(
      middleware: (next: Next) => Next,
      options: { readonly step: string; readonly name: string; readonly priority?: string },
    ): void;
  };
}
type Next = (args: { readonly request: { headers: Record<string, string> } }) => Promise<unknown>;

/** Headers are signed as UTF-8, and sent as the bytes that they are. */
function withHeaders({ middlewareStack }: Extensible, headers: Readonly<Record<string, string>>): void {
  const signed = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const bytes = Buffer.from(value, "latin1");
      return [name, isUtf8(bytes) ? bytes.toString("utf8") : value];
    }),
  );
  const setting =
    (own: Readonly<Record<string, string>>) =>
    (next: Next): Next =>
    async (args) => {
      // First: a Content-Disposition behind a Content-Length is decoded by Node before it is sent.
      args.request.headers = { ...own, ...args.request.headers, ...own };
      return next(args);
    };
  middlewareStack.add(setting(signed), { step: "build", name: "replicaHeaders" });
  middlewareStack.add(setting(headers), { step: "deserialize", name: "replicaHeadersAsSent", priority: "low" });
}

interface SdkError extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Answers that say that the server does not know us, or what time it is. */
const strangers = [
  ...["InvalidAccessKeyId", "SignatureDoesNotMatch", "RequestTimeTooSkewed", "AuthorizationHeaderMalformed"],
  ...["RequestTimeout", "ExpiredToken", "InvalidToken"],
];

/** Answers that say that a bucket has no room, of this one and Ceph's gateway, and of MinIO. */
const full = ["QuotaExceeded", "XMinioAdminBucketQuotaExceeded"];

function failureOf(error: SdkError): CodedError<ReplicaErrorCode> {
  const status = error.$metadata?.httpStatusCode;
  const { name: code } = error;
  const details = { ...(status !== undefined && { status }), code };
  const kind = (): ReplicaErrorCode => {
    if (
      error instanceof Unanswered ||
      status === undefined ||
      status < 300 ||
      [401, 408, 429].includes(status) ||
      strangers.includes(code)
    )
      return "replica_unreached";
    if (status >= 500 && status !== 501) return "replica_unreached";
    if (full.includes(code)) return "replica_full";
    if (status < 400 || code === "NoSuchBucket") return "replica_withheld";
    return status === 403 || status === 409 ? "replica_denied" : "replica_refused";
  };
  return replicaError(kind(), `${error.message} (${code})`, details, error);
}

function replicaError(
  code: ReplicaErrorCode,
  message: string,
  details: Readonly<Record<string, unknown>>,
  cause?: Error,
): CodedError<ReplicaErrorCode> {
  return new CodedError(code, message, details, cause);
}
