import { Readable } from "node:stream";
import type { ListObjectsV2CommandOutput, S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collectGarbage } from "../../src/storage/jobs/collect-garbage.ts";
import { checksumOf } from "./checksum-of.ts";
import { operator, pattern } from "./rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { signedFetch } from "./signed-fetch.ts";

const {
  AbortMultipartUploadCommand,
  GetBucketTaggingCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketAclCommand,
  GetBucketEncryptionCommand,
  GetBucketLocationCommand,
  GetBucketPolicyCommand,
  GetBucketVersioningCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  GetObjectLockConfigurationCommand,
  GetPublicAccessBlockCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} = sdk;

let s3: S3Rig;
let client: S3Client;
const Bucket = "round-trip";
beforeAll(async () => {
  s3 = await openS3Rig({ capacityBytes: 256 << 20 });
  client = s3.client();
  await client.send(new CreateBucketCommand({ Bucket }));
});
afterAll(() => s3.dispose());

const put = (Key: string, Body: Uint8Array | string, more = {}) =>
  client.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
const get = async (Key: string, more = {}) => {
  const reply = await client.send(new GetObjectCommand({ Bucket, Key, ...more }));
  return { ...reply, bytes: Buffer.from((await reply.Body?.transformToByteArray()) ?? []) };
};
const failure = async (work: Promise<unknown>) => {
  try {
    await work;
  } catch (error) {
    const e = error as { name: string; $metadata: { httpStatusCode: number } };
    return [e.$metadata.httpStatusCode, e.name];
  }
  return undefined;
};

describe("@aws-sdk/client-s3", () => {
  test("a put object reads back with its type, metadata, ETag and checksum", async () => {
    const reply = await put("dir/a.txt", "hello", {
      ContentType: "text/plain",
      Metadata: { color: "blue" },
      CacheControl: "max-age=1",
    });
    expect(reply.ETag).toBe('"5d41402abc4b2a76b9719d911017c592"');
    const back = await get("dir/a.txt", { ChecksumMode: "ENABLED" });
    expect(back.bytes.toString()).toBe("hello");
    expect(back).toMatchObject({
      ContentType: "text/plain",
      Metadata: { color: "blue" },
      CacheControl: "max-age=1",
      ETag: reply.ETag,
      ContentLength: 5,
    });
    expect(back.ChecksumCRC32).toBe(reply.ChecksumCRC32);
    expect(await client.send(new HeadObjectCommand({ Bucket, Key: "dir/a.txt" }))).toMatchObject({
      ContentLength: 5,
      AcceptRanges: "bytes",
    });
  });
  test("odd keys are opaque", async () => {
    const keys = [
      "a b+c%2F",
      "..",
      "../../etc/passwd",
      "ü/日本/🙂",
      "a//b///",
      "x&y=<z>\"'",
      "~!*()",
      "k".repeat(1024),
      `${"é".repeat(400)}x`,
      `${"é".repeat(400)}y`,
      ".",
      "a\tb",
    ];
    for (const [i, key] of keys.entries()) await put(`odd/${key}`.slice(-1024), `v${i}`);
    const listed = (await client.send(new ListObjectsV2Command({ Bucket, EncodingType: "url" }))).Contents?.map((o) =>
      decodeURIComponent(o.Key ?? ""),
    );
    for (const [i, key] of keys.entries()) {
      expect((await get(`odd/${key}`.slice(-1024))).bytes.toString()).toBe(`v${i}`);
      expect(listed).toContain(`odd/${key}`.slice(-1024));
    }
    await client.send(
      new DeleteObjectsCommand({
        Bucket,
        Delete: { Objects: keys.map((key) => ({ Key: `odd/${key}`.slice(-1024) })).filter((o) => !/\t/.test(o.Key)) },
      }),
    );
    await client.send(new DeleteObjectCommand({ Bucket, Key: "odd/a\tb" }));
    expect((await client.send(new ListObjectsV2Command({ Bucket, Prefix: "odd/" }))).KeyCount).toBe(0);
  });
  test("a streamed body arrives in aws-chunked form with a trailing checksum", async () => {
    const bytes = pattern(5 << 20, 9);
    await client.send(
      new PutObjectCommand({
        Bucket,
        Key: "streamed",
        Body: Readable.from([bytes.subarray(0, 100_000), bytes.subarray(100_000)]),
        ContentLength: bytes.length,
        ChecksumAlgorithm: "CRC32C",
      }),
    );
    expect((await get("streamed")).bytes.equals(Buffer.from(bytes))).toBe(true);
  });
  test.each(["CRC32", "CRC32C", "SHA1", "SHA256"] as const)(
    "checksum %s is verified and given back",
    async (ChecksumAlgorithm) => {
      await put("sum", pattern(10_000), { ChecksumAlgorithm });
      const back = await get("sum", { ChecksumMode: "ENABLED" });
      expect((back as unknown as Record<string, unknown>)[`Checksum${ChecksumAlgorithm}`]).toBeDefined();
    },
  );
  test("ranges: closed, open, suffix, unsatisfiable", async () => {
    const bytes = Buffer.from(pattern(9 << 20, 3));
    await put("ranged", bytes);
    expect((await get("ranged", { Range: "bytes=0-0" })).bytes.equals(bytes.subarray(0, 1))).toBe(true);
    const open = await get("ranged", { Range: `bytes=${bytes.length - 7}-` });
    expect([open.bytes.equals(bytes.subarray(-7)), open.ContentRange]).toEqual([
      true,
      `bytes ${bytes.length - 7}-${bytes.length - 1}/${bytes.length}`,
    ]);
    expect((await get("ranged", { Range: "bytes=-3" })).bytes.equals(bytes.subarray(-3))).toBe(true);
    expect((await get("ranged", { Range: "bytes=4194303-4194305" })).bytes.equals(bytes.subarray(4194303, 4194306))).toBe(true);
    expect(await failure(get("ranged", { Range: `bytes=${bytes.length}-` }))).toEqual([416, "InvalidRange"]);
  });
  test("conditions: 304, 412 on read; create-only and replace-only on write", async () => {
    const { ETag } = await put("cond", "1");
    expect((await failure(get("cond", { IfNoneMatch: ETag })))?.[0]).toBe(304);
    expect(await failure(get("cond", { IfMatch: '"no"' }))).toEqual([412, "PreconditionFailed"]);
    expect((await failure(get("cond", { IfModifiedSince: new Date(Date.now() + 60_000) })))?.[0]).toBe(304);
    expect(await failure(put("cond", "2", { IfNoneMatch: "*" }))).toEqual([412, "PreconditionFailed"]);
    expect(await failure(put("cond", "2", { IfMatch: '"no"' }))).toEqual([412, "PreconditionFailed"]);
    await put("cond", "2", { IfMatch: ETag });
    expect(await failure(put("never", "2", { IfMatch: ETag }))).toEqual([404, "NoSuchKey"]);
  });
  test("a 304 tells what a cache keeps of an object, and nothing of a body", async () => {
    await put("cached", "1", {
      CacheControl: "max-age=60",
      ContentEncoding: "x-y",
      ContentType: "a/b",
      Metadata: { m: "1" },
      Tagging: "a=b",
      ChecksumAlgorithm: "CRC32",
    });
    const ask = (method: string, headers = {}) =>
      signedFetch(s3, { method, path: `/${Bucket}/cached`, headers: { "x-amz-checksum-mode": "ENABLED", ...headers } });
    for (const method of ["GET", "HEAD"]) {
      const etag = (await ask(method)).headers.get("etag") ?? "";
      const { status, headers, text } = await ask(method, { "if-none-match": etag });
      expect([status, text, headers.get("etag"), headers.get("cache-control")]).toEqual([304, "", etag, "max-age=60"]);
      const connection = ["connection", "date", "keep-alive", "server", "x-amz-id-2", "x-amz-request-id"];
      const told = [...headers.keys()].filter((name) => !connection.includes(name));
      expect(told).toEqual(["cache-control", "etag", "last-modified"]);
    }
  });
  test("of many racing creators with If-None-Match exactly one wins", async () => {
    const outcomes = await Promise.all(Array.from({ length: 8 }, (_, i) => failure(put("race", `${i}`, { IfNoneMatch: "*" }))));
    expect(outcomes.filter((o) => o === undefined)).toHaveLength(1);
    expect(outcomes.filter((o) => o?.[0] === 412)).toHaveLength(7);
  });
  test("multipart: parts in any order, replaced, listed, completed, read by range", async () => {
    const { UploadId } = await client.send(
      new CreateMultipartUploadCommand({ Bucket, Key: "multi", ContentType: "x/y", Metadata: { m: "1" } }),
    );
    const bytes = [pattern(5 << 20, 1), pattern(6 << 20, 2), pattern(100, 3)];
    const etags: string[] = [];
    await client.send(new UploadPartCommand({ Bucket, Key: "multi", UploadId, PartNumber: 2, Body: pattern(5 << 20, 8) }));
    for (const n of [3, 1, 2]) {
      const part = await client.send(
        new UploadPartCommand({ Bucket, Key: "multi", UploadId, PartNumber: n, Body: bytes[n - 1]! }),
      );
      etags[n - 1] = part.ETag ?? "";
    }
    expect((await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads?.map((u) => u.UploadId)).toEqual([UploadId]);
    const listed = await client.send(new ListPartsCommand({ Bucket, Key: "multi", UploadId, MaxParts: 2 }));
    expect([listed.Parts?.map((p) => p.PartNumber), listed.IsTruncated]).toEqual([[1, 2], true]);
    const complete = (Parts: { PartNumber: number; ETag: string }[]) =>
      client.send(new CompleteMultipartUploadCommand({ Bucket, Key: "multi", UploadId, MultipartUpload: { Parts } }));
    const all = etags.map((ETag, i) => ({ PartNumber: i + 1, ETag }));
    expect(await failure(complete([all[1]!, all[0]!]))).toEqual([400, "InvalidPartOrder"]);
    expect(await failure(complete([{ PartNumber: 1, ETag: '"0"' }]))).toEqual([400, "InvalidPart"]);
    expect(await failure(complete([all[0]!, { PartNumber: 9, ETag: etags[0]! }]))).toEqual([400, "InvalidPart"]);
    expect((await complete(all)).ETag).toMatch(/^"[0-9a-f]{32}-3"$/);
    const whole = Buffer.concat(bytes);
    const back = await get("multi");
    expect([back.bytes.equals(whole), back.ContentType, back.Metadata]).toEqual([true, "x/y", { m: "1" }]);
    expect((await get("multi", { Range: "bytes=5242870-5242890" })).bytes.equals(whole.subarray(5_242_870, 5_242_891))).toBe(
      true,
    );
    // Said again, because the answer was lost, it is the same answer; of another list of parts, or once the object is another, it is none.
    expect((await complete(all)).ETag).toBe(back.ETag);
    expect(await failure(complete(all.slice(0, 2)))).toEqual([404, "NoSuchUpload"]);
    await put("multi", "another object");
    expect(await failure(complete(all))).toEqual([404, "NoSuchUpload"]);
    expect((await get("multi")).bytes.toString()).toBe("another object");
  });
  test("a part below 5 MiB that is not the last refuses the completion; an abort takes everything back", async () => {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: "small" }));
    const parts = [];
    for (const PartNumber of [1, 2]) {
      const { ETag } = await client.send(
        new UploadPartCommand({ Bucket, Key: "small", UploadId, PartNumber, Body: pattern(50_000, 77) }),
      );
      parts.push({ PartNumber, ETag });
    }
    expect(
      await failure(
        client.send(new CompleteMultipartUploadCommand({ Bucket, Key: "small", UploadId, MultipartUpload: { Parts: parts } })),
      ),
    ).toEqual([400, "EntityTooSmall"]);
    const abort = (IfMatchInitiatedTime: Date) =>
      client.send(new AbortMultipartUploadCommand({ Bucket, Key: "small", UploadId, IfMatchInitiatedTime }));
    expect(await failure(abort(new Date(0)))).toEqual([412, "PreconditionFailed"]);
    const { Uploads } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: "small" }));
    await abort(Uploads?.[0]?.Initiated as Date);
    expect(await failure(client.send(new ListPartsCommand({ Bucket, Key: "small", UploadId })))).toEqual([404, "NoSuchUpload"]);
    const before = await s3.rig.store.count("storage_parts", "by_upload", [UploadId!]);
    await collectGarbage(s3.rig.node.parts);
    expect([before, await s3.rig.store.count("storage_parts", "by_upload", [UploadId!])]).toEqual([2, 0]);
  });
  test("copy keeps or replaces metadata; a part may be copied by range", async () => {
    await put("src", pattern(6 << 20, 5), { Metadata: { a: "1" } });
    await client.send(new CopyObjectCommand({ Bucket, Key: "dst", CopySource: `${Bucket}/src` }));
    expect((await get("dst")).Metadata).toEqual({ a: "1" });
    await client.send(
      new CopyObjectCommand({
        Bucket,
        Key: "dst",
        CopySource: `/${Bucket}/dst`,
        MetadataDirective: "REPLACE",
        Metadata: { b: "2" },
      }),
    );
    expect((await client.send(new HeadObjectCommand({ Bucket, Key: "dst" }))).Metadata).toEqual({ b: "2" });
    expect(await failure(client.send(new CopyObjectCommand({ Bucket, Key: "src", CopySource: `${Bucket}/src` })))).toEqual([
      400,
      "InvalidRequest",
    ]);
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: "joined" }));
    for (const CopySourceRange of ["bytes=0-", "bytes=9-3", "bytes=-5", "0-1", `bytes=0-${6 << 20}`])
      expect(
        await failure(
          client.send(
            new UploadPartCopyCommand({
              Bucket,
              Key: "joined",
              UploadId,
              PartNumber: 1,
              CopySource: `${Bucket}/src`,
              CopySourceRange,
            }),
          ),
        ),
        CopySourceRange,
      ).toEqual([400, "InvalidArgument"]);
    const { CopyPartResult } = await client.send(
      new UploadPartCopyCommand({
        Bucket,
        Key: "joined",
        UploadId,
        PartNumber: 1,
        CopySource: `${Bucket}/src`,
        CopySourceRange: "bytes=10-19",
      }),
    );
    const complete = (Parts: { PartNumber: number; ETag?: string }[]) =>
      failure(client.send(new CompleteMultipartUploadCommand({ Bucket, Key: "joined", UploadId, MultipartUpload: { Parts } })));
    expect(await complete([{ PartNumber: 1 }])).toEqual([400, "MalformedXML"]);
    expect(await complete([{ PartNumber: -4, ETag: "x" }])).toEqual([400, "InvalidArgument"]);
    await client.send(
      new CompleteMultipartUploadCommand({
        Bucket,
        Key: "joined",
        UploadId,
        MultipartUpload: { Parts: [{ PartNumber: 1, ETag: CopyPartResult?.ETag }] },
      }),
    );
    expect((await get("joined")).bytes.equals(Buffer.from(pattern(6 << 20, 5)).subarray(10, 20))).toBe(true);
  });
  test("buckets: pages and prefixes give every bucket once; what a new bucket cannot have is refused, not ignored", async () => {
    const names = ["page-1", "page-2", "page-3", "pagf"];
    for (const name of names.toReversed()) await client.send(new CreateBucketCommand({ Bucket: name }));
    const seen: (string | undefined)[] = [];
    let token: string | undefined;
    do {
      const page = await client.send(
        new ListBucketsCommand({ MaxBuckets: 2, Prefix: "page-", ...(token && { ContinuationToken: token }) }),
      );
      expect(page.Buckets?.length).toBeLessThanOrEqual(2);
      seen.push(...(page.Buckets ?? []).map((b) => b.Name));
      token = page.ContinuationToken;
    } while (token !== undefined);
    expect(seen).toEqual(names.slice(0, 3));
    for (const MaxBuckets of [0, 10_001])
      expect(await failure(client.send(new ListBucketsCommand({ MaxBuckets })))).toEqual([400, "InvalidArgument"]);
    const tagged = (...Tags: { Key: string; Value: string }[]) => ({ Bucket: "with-tags", CreateBucketConfiguration: { Tags } });
    const [one, other] = [
      { Key: "a", Value: "b" },
      { Key: "c", Value: "d" },
    ];
    for (const [bad, code] of [
      [[one, one], "InvalidTag"],
      [[{ Key: "a!", Value: "b" }], "InvalidTag"],
      [Array.from({ length: 51 }, (_, i) => ({ Key: `k${i}`, Value: "" })), "BadRequest"],
    ] as const)
      expect(await failure(client.send(new CreateBucketCommand(tagged(...bad))))).toEqual([400, code]);
    expect(await failure(client.send(new HeadBucketCommand({ Bucket: "with-tags" })))).toEqual([404, "NotFound"]);
    for (let i = 0; i < 2; i++) await client.send(new CreateBucketCommand(tagged(other, one)));
    expect((await client.send(new GetBucketTaggingCommand({ Bucket: "with-tags" }))).TagSet).toEqual([one, other]);
    expect(await failure(client.send(new CreateBucketCommand(tagged(one))))).toEqual([409, "BucketAlreadyExists"]);
    const owned = { Bucket: "tagged", ObjectOwnership: "ObjectWriter" as const };
    expect(await failure(client.send(new CreateBucketCommand(owned)))).toEqual([501, "NotImplemented"]);
    expect(await failure(client.send(new HeadBucketCommand({ Bucket: "tagged" })))).toEqual([404, "NotFound"]);
  });
  test("listing: pages, prefixes and delimiters of both versions give every key once, in byte order", async () => {
    const B = "listing";
    await client.send(new CreateBucketCommand({ Bucket: B }));
    const keys = ["a", "b/1", "b/2", "b/c/3", "d", "e/", "e/f", "z", "é", "\u{ffee}", "🙂"];
    for (const Key of keys.toReversed()) await client.send(new PutObjectCommand({ Bucket: B, Key, Body: "x" }));
    const seen: string[] = [];
    let token: string | undefined;
    do {
      const page = await client.send(
        new ListObjectsV2Command({ Bucket: B, MaxKeys: 2, ...(token && { ContinuationToken: token }) }),
      );
      seen.push(...(page.Contents ?? []).map((o) => o.Key ?? ""));
      token = page.NextContinuationToken;
    } while (token);
    expect(seen).toEqual(keys);
    const entries: string[] = [];
    token = undefined;
    do {
      const page: ListObjectsV2CommandOutput = await client.send(
        new ListObjectsV2Command({ Bucket: B, Delimiter: "/", MaxKeys: 1, ...(token && { ContinuationToken: token }) }),
      );
      entries.push(...(page.CommonPrefixes ?? []).map((p) => p.Prefix ?? ""), ...(page.Contents ?? []).map((o) => o.Key ?? ""));
      token = page.NextContinuationToken;
    } while (token);
    expect(entries).toEqual(["a", "b/", "d", "e/", "z", "é", "\u{ffee}", "🙂"]);
    const first = await client.send(new ListObjectsCommand({ Bucket: B, Prefix: "b/", Delimiter: "/" }));
    expect([first.Contents?.map((o) => o.Key), first.CommonPrefixes]).toEqual([["b/1", "b/2"], [{ Prefix: "b/c/" }]]);
    expect(
      (await client.send(new ListObjectsCommand({ Bucket: B, Marker: "d", MaxKeys: 2 }))).Contents?.map((o) => o.Key),
    ).toEqual(["e/", "e/f"]);
    expect(await failure(client.send(new DeleteBucketCommand({ Bucket: B })))).toEqual([409, "BucketNotEmpty"]);
    await client.send(new DeleteObjectsCommand({ Bucket: B, Delete: { Objects: keys.map((Key) => ({ Key })) } }));
    await client.send(new DeleteBucketCommand({ Bucket: B }));
    expect(await failure(client.send(new HeadBucketCommand({ Bucket: B })))).toEqual([404, "NotFound"]);
  });
  test("buckets: own ones listed, an existing own one is no error, a foreign name is taken, bad names refused", async () => {
    await client.send(new CreateBucketCommand({ Bucket }));
    expect((await client.send(new ListBucketsCommand({}))).Buckets?.map((b) => b.Name)).toContain(Bucket);
    const other = s3.client(await s3.credentials.create("beta", operator));
    expect((await other.send(new ListBucketsCommand({}))).Buckets ?? []).toEqual([]);
    expect(await failure(other.send(new CreateBucketCommand({ Bucket })))).toEqual([409, "BucketAlreadyExists"]);
    expect(await failure(other.send(new GetObjectCommand({ Bucket, Key: "cond" })))).toEqual([403, "AccessDenied"]);
    expect(await failure(client.send(new CreateBucketCommand({ Bucket: "Bad_Name" })))).toEqual([400, "InvalidBucketName"]);
    expect((await client.send(new GetBucketLocationCommand({ Bucket }))).LocationConstraint).toBeUndefined();
    expect((await client.send(new GetBucketVersioningCommand({ Bucket }))).Status).toBeUndefined();
  });
  test("absent things are 404 by their names; deleting an absent key is 204", async () => {
    expect(await failure(get("nope"))).toEqual([404, "NoSuchKey"]);
    expect(await failure(client.send(new HeadObjectCommand({ Bucket, Key: "nope" })))).toEqual([404, "NotFound"]);
    expect(await failure(client.send(new GetObjectCommand({ Bucket: "no-such-bucket", Key: "a" })))).toEqual([
      404,
      "NoSuchBucket",
    ]);
    expect((await client.send(new DeleteObjectCommand({ Bucket, Key: "nope" }))).$metadata.httpStatusCode).toBe(204);
  });
  test("maintenance answers 503 with Retry-After, reads go on", async () => {
    await put("kept", "1");
    await s3.rig.node.cluster.propose({ kind: "maintenance.set", enabled: true }, operator);
    try {
      expect(await failure(put("x", "1"))).toEqual([503, "ServiceUnavailable"]);
      expect((await get("kept")).bytes.toString()).toBe("1");
    } finally {
      await s3.rig.node.cluster.propose({ kind: "maintenance.set", enabled: false }, operator);
    }
  });
  test("an unreachable key manager is 503 on writes; what needs no key goes on", async () => {
    await put("needs-no-key", "1");
    s3.rig.vault.away = true;
    s3.rig.clock.set(s3.rig.clock.now() + 2000);
    try {
      expect(await failure(put("x", pattern(10_000)))).toEqual([503, "ServiceUnavailable"]);
      await client.send(new DeleteObjectCommand({ Bucket, Key: "needs-no-key" }));
      await client.send(new CreateBucketCommand({ Bucket: "needs-no-key" }));
      await client.send(new DeleteBucketCommand({ Bucket: "needs-no-key" }));
    } finally {
      s3.rig.vault.away = false;
    }
  });
});

test("a full pool is 507", async () => {
  const full = await openS3Rig({ devices: 6, capacityBytes: 300_000 });
  const small = full.client();
  await small.send(new CreateBucketCommand({ Bucket }));
  const outcomes: unknown[] = [];
  for (let i = 0; i < 30; i++)
    outcomes.push(await failure(small.send(new PutObjectCommand({ Bucket, Key: `k${i}`, Body: pattern(60_000, i + 1) }))));
  expect(outcomes.filter((o) => o !== undefined)).not.toHaveLength(0);
  expect(new Set(outcomes.filter((o) => o !== undefined).map((o) => JSON.stringify(o)))).toEqual(
    new Set(['[507,"InsufficientStorage"]']),
  );
  await full.dispose();
});

describe("what a request insists on", () => {
  test("a part is read by its number, with the count of parts; a single put is its own part 1", async () => {
    const Key = "in-parts";
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const pieces = [pattern(5 << 20, 1), pattern(5 << 20, 2), pattern(100, 3)];
    const Parts = [];
    for (const [i, Body] of pieces.entries()) {
      const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: i + 1, Body }));
      Parts.push({ ETag, PartNumber: i + 1 });
    }
    await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
    for (const [i, piece] of pieces.entries()) {
      const part = await get(Key, { PartNumber: i + 1 });
      expect(part.bytes.equals(piece)).toBe(true);
      expect(part).toMatchObject({ PartsCount: 3, $metadata: { httpStatusCode: 206 } });
    }
    expect(await client.send(new HeadObjectCommand({ Bucket, Key, PartNumber: 3 }))).toMatchObject({ ContentLength: 100 });
    expect(await failure(get(Key, { PartNumber: 4 }))).toEqual([416, "InvalidPartNumber"]);
    expect(await failure(get(Key, { PartNumber: 0 }))).toEqual([400, "InvalidArgument"]);
    expect(await failure(get(Key, { PartNumber: 1, Range: "bytes=0-1" }))).toEqual([400, "InvalidRequest"]);
    await put("whole", "hello");
    expect((await get("whole", { PartNumber: 1 })).bytes.toString()).toBe("hello");
    expect((await get("whole", { PartNumber: 1 })).PartsCount).toBeUndefined();
  });
  test("another owner than the caller's tenant is refused before anything happens", async () => {
    await put("owned", "x", { ExpectedBucketOwner: "alpha" });
    expect(await failure(put("owned", "y", { ExpectedBucketOwner: "beta" }))).toEqual([403, "AccessDenied"]);
    expect((await get("owned")).bytes.toString()).toBe("x");
  });
  test.each(["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"] as const)(
    "%s is verified, kept, and named as one of the whole object",
    async (algorithm) => {
      const written = await put(`sum-${algorithm}`, "hello", { ChecksumAlgorithm: algorithm });
      expect(written.ChecksumType).toBe("FULL_OBJECT");
      const name = `Checksum${algorithm}` as "ChecksumCRC32";
      const read = await get(`sum-${algorithm}`, { ChecksumMode: "ENABLED" });
      expect(read).toMatchObject({ [name]: written[name], ChecksumType: "FULL_OBJECT" });
      expect(written[name]).toMatch(/^[A-Za-z0-9+/]+=*$/);
    },
  );
  test("two checksums, one of another algorithm than was named, or none in base64, are refused", async () => {
    const two = { ChecksumCRC32: "NhCmhg==", ChecksumSHA1: "qvTGHdzF6KLavt4PO0gs2a6pQ00=" };
    expect(await failure(put("sums", "hello", two))).toEqual([400, "InvalidRequest"]);
    expect(await failure(put("sums", "hello", { ChecksumAlgorithm: "SHA1", ChecksumCRC32: "NhCmhg==" }))).toEqual([
      400,
      "InvalidRequest",
    ]);
    expect(await failure(put("sums", "hello", { ChecksumCRC32: "short" }))).toEqual([400, "InvalidRequest"]);
    expect(await failure(put("sums", "hello", { ChecksumCRC32: "AAAAAA==" }))).toEqual([400, "BadDigest"]);
    expect(await failure(get("sums"))).toEqual([404, "NoSuchKey"]);
  });
  test("a bucket without objects goes with its uploads, whose parts give their space back", async () => {
    const B = "only-uploads";
    await client.send(new CreateBucketCommand({ Bucket: B }));
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket: B, Key: "k" }));
    const part = { Bucket: B, Key: "k", UploadId, PartNumber: 1, Body: pattern(100_000, 77) };
    await client.send(new UploadPartCommand(part));
    await client.send(new DeleteBucketCommand({ Bucket: B }));
    expect(await failure(client.send(new UploadPartCommand(part)))).toEqual([404, "NoSuchBucket"]);
    const { chunks } = await collectGarbage(s3.rig.node.parts);
    expect(chunks).toBeGreaterThan(0);
    expect(await s3.rig.store.count("storage_parts", "by_upload", [UploadId ?? ""])).toBe(0);
  });
  test("a bucket whose deletion a crash cut short can be made and used again", async () => {
    const { store } = s3.rig;
    await client.send(new CreateBucketCommand({ Bucket: "half-gone" }));
    const found = await store.get("storage_buckets", "half-gone");
    await store.commit({
      commitId: "half",
      puts: [{ coll: "storage_buckets", id: "half-gone", doc: { ...found!.doc, deleting: true }, ifVersion: found!.version }],
    });
    expect(await failure(client.send(new HeadBucketCommand({ Bucket: "half-gone" })))).toEqual([404, "NotFound"]);
    await client.send(new CreateBucketCommand({ Bucket: "half-gone" }));
    await client.send(new PutObjectCommand({ Bucket: "half-gone", Key: "k", Body: "v" }));
    await client.send(new DeleteObjectCommand({ Bucket: "half-gone", Key: "k" }));
    await client.send(new DeleteBucketCommand({ Bucket: "half-gone" }));
  });
});

describe("checksums of multipart uploads", () => {
  const pieces = [pattern(5 << 20, 21), pattern(5 << 20, 22), pattern(70_000, 23)];
  const sumOf = (algorithm: string, ...bytes: readonly Uint8Array[]) => checksumOf(algorithm.toLowerCase(), ...bytes);
  type Sums = Record<string, string | undefined>;
  const upload = async (
    Key: string,
    algorithm: "CRC32" | "CRC32C" | "CRC64NVME" | "SHA1" | "SHA256",
    type?: "COMPOSITE" | "FULL_OBJECT",
  ) => {
    const begun = await client.send(
      new CreateMultipartUploadCommand({ Bucket, Key, ChecksumAlgorithm: algorithm, ...(type && { ChecksumType: type }) }),
    );
    expect(begun.ChecksumAlgorithm).toBe(algorithm);
    const { UploadId } = begun;
    const name = `Checksum${algorithm}`;
    const Parts: Record<string, string | number | undefined>[] = [];
    for (const [i, Body] of pieces.entries()) {
      const part = await client.send(
        new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: i + 1, Body, ChecksumAlgorithm: algorithm }),
      );
      expect((part as unknown as Sums)[name]).toBe(await sumOf(algorithm, Body));
      Parts.push({ ETag: part.ETag, PartNumber: i + 1, [name]: (part as unknown as Sums)[name] });
    }
    const complete = (more: Record<string, unknown> = {}, parts: Record<string, unknown>[] = Parts) =>
      client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts: parts }, ...more }));
    return { UploadId, name, Parts, complete, type: begun.ChecksumType };
  };
  test.each([
    ["CRC32", "FULL_OBJECT"],
    ["CRC32C", "FULL_OBJECT"],
    ["CRC64NVME", undefined],
    ["CRC32", "COMPOSITE"],
    ["SHA1", undefined],
    ["SHA256", undefined],
  ] as const)("%s %s is in the replies of every operation, as S3 computes it", async (algorithm, asked) => {
    const Key = `sums-${algorithm}-${asked}`;
    const { UploadId, name, Parts, complete, type } = await upload(Key, algorithm, asked);
    expect(type).toBe(asked ?? (algorithm === "CRC64NVME" ? "FULL_OBJECT" : "COMPOSITE"));
    const raw = await Promise.all(pieces.map(async (piece) => Buffer.from(await sumOf(algorithm, piece), "base64")));
    const whole = type === "FULL_OBJECT" ? await sumOf(algorithm, ...pieces) : `${await sumOf(algorithm, ...raw)}-3`;
    const listed = await client.send(new ListPartsCommand({ Bucket, Key, UploadId }));
    expect(listed).toMatchObject({ ChecksumAlgorithm: algorithm, ChecksumType: type });
    expect(listed.Parts?.map((p) => (p as unknown as Sums)[name])).toEqual(Parts.map((p) => p[name as "ETag"]));
    expect(await failure(complete({ [name]: await sumOf(algorithm, Buffer.from("other")) }))).toEqual([400, "BadDigest"]);
    expect(await failure(complete({ MpuObjectSize: 1 }))).toEqual([400, "InvalidRequest"]);
    const otherSum = await sumOf(algorithm, Buffer.from("other"));
    const other = Parts.map((p, i) => (i === 1 ? { ...p, [name]: otherSum } : p));
    expect(await failure(complete({}, other))).toEqual([400, "InvalidPart"]);
    const done = await complete({ [name]: whole, ChecksumType: type, MpuObjectSize: pieces.reduce((n, p) => n + p.length, 0) });
    expect(done).toMatchObject({ [name]: whole, ChecksumType: type });
    const head = await client.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: "ENABLED" }));
    expect(head).toMatchObject({ [name]: whole, ChecksumType: type });
    expect(await get(Key, { ChecksumMode: "ENABLED" })).toMatchObject({ [name]: whole, ChecksumType: type });
    expect(await get(Key, { PartNumber: 2, ChecksumMode: "ENABLED" })).toMatchObject({ [name]: Parts[1]?.[name as "ETag"] });
    const attributes = await client.send(
      new GetObjectAttributesCommand({
        Bucket,
        Key,
        ObjectAttributes: ["ETag", "Checksum", "ObjectParts", "ObjectSize", "StorageClass"],
      }),
    );
    expect(attributes).toMatchObject({
      Checksum: { [name]: whole, ChecksumType: type },
      ObjectSize: 2 * (5 << 20) + 70_000,
      StorageClass: "STANDARD",
      ObjectParts: { TotalPartsCount: 3, Parts: pieces.map((p, i) => ({ PartNumber: i + 1, Size: p.length })) },
    });
    const copied = await client.send(new CopyObjectCommand({ Bucket, Key: `${Key}-copy`, CopySource: `${Bucket}/${Key}` }));
    expect(copied.CopyObjectResult).toMatchObject({ [name]: await sumOf(algorithm, ...pieces), ChecksumType: "FULL_OBJECT" });
  });
  test("a part by another algorithm, a type that an algorithm does not have, and a completion without its sums are refused", async () => {
    const Key = "sums-refused";
    const { UploadId, Parts, complete } = await upload(Key, "SHA256");
    const part = { Bucket, Key, UploadId, PartNumber: 4, Body: "x" };
    expect(await failure(client.send(new UploadPartCommand({ ...part, ChecksumAlgorithm: "SHA1" })))).toEqual([
      400,
      "InvalidRequest",
    ]);
    expect(
      await failure(
        complete(
          {},
          Parts.map(({ ETag, PartNumber }) => ({ ETag, PartNumber })),
        ),
      ),
    ).toEqual([400, "InvalidRequest"]);
    for (const more of [
      { ChecksumAlgorithm: "SHA256", ChecksumType: "FULL_OBJECT" },
      { ChecksumAlgorithm: "CRC64NVME", ChecksumType: "COMPOSITE" },
      { ChecksumType: "COMPOSITE" },
      { ChecksumAlgorithm: "MD5", ChecksumType: "FULL_OBJECT" },
      { ChecksumAlgorithm: "BLAKE3" },
    ] as const)
      expect(await failure(client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...(more as object) })))).toEqual([
        400,
        "InvalidRequest",
      ]);
    const [first, ...rest] = Parts;
    for (const [wrong, code] of [
      [{ ChecksumSHA256: "no base64" }, "InvalidArgument"],
      [{ ChecksumSHA1: "Kq5sNclPz7QV2+lfQIuc6R7oRu0=" }, "InvalidArgument"],
      [{ ChecksumSHA256: undefined, ChecksumSHA1: "Kq5sNclPz7QV2+lfQIuc6R7oRu0=" }, "BadDigest"],
    ] as const)
      expect(await failure(complete({}, [{ ...first, ...wrong }, ...rest])), code).toEqual([400, code]);
    for (const wrong of [{ ChecksumSHA256: "no base64" }, { ChecksumCRC32: "sGc9Hg==", ChecksumCRC32C: "/2NsFg==" }])
      expect(await failure(complete(wrong))).toEqual([400, "InvalidRequest"]);
    await complete();
  });
  test("an upload asks for no lock that its bucket does not have", async () => {
    const until = { ObjectLockMode: "GOVERNANCE", ObjectLockRetainUntilDate: new Date(Date.now() + 86_400_000) } as const;
    for (const lock of [until, { ObjectLockLegalHoldStatus: "ON" } as const])
      expect(await failure(client.send(new CreateMultipartUploadCommand({ Bucket, Key: "locked", ...lock })))).toEqual([
        400,
        "InvalidRequest",
      ]);
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: "locked" }));
    expect(Uploads).toEqual([]);
  });
});

describe("what a bucket says of itself", () => {
  test("every object is a version called null, in pages", async () => {
    const B = "versions-of";
    await client.send(new CreateBucketCommand({ Bucket: B }));
    for (const Key of ["a", "b/1", "b/2", "c"]) await client.send(new PutObjectCommand({ Bucket: B, Key, Body: Key }));
    const seen: (string | undefined)[] = [];
    let marker = {};
    for (;;) {
      const page = await client.send(new ListObjectVersionsCommand({ Bucket: B, MaxKeys: 2, ...marker }));
      seen.push(...(page.Versions ?? []).map((v) => `${v.Key} ${v.VersionId} ${v.IsLatest}`));
      if (page.IsTruncated !== true) break;
      marker = { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker };
    }
    expect(seen).toEqual(["a", "b/1", "b/2", "c"].map((key) => `${key} null true`));
    const rolled = await client.send(new ListObjectVersionsCommand({ Bucket: B, Delimiter: "/" }));
    expect([rolled.CommonPrefixes, rolled.Versions?.length]).toEqual([[{ Prefix: "b/" }], 2]);
    // As tools empty a bucket: each version by its name.
    const Objects = seen.map((text) => ({ Key: text?.split(" ")[0], VersionId: "null" }));
    const { Deleted, Errors } = await client.send(new DeleteObjectsCommand({ Bucket: B, Delete: { Objects } }));
    expect([Deleted?.map((d) => d.VersionId), Errors]).toEqual([Array(4).fill("null"), undefined]);
    await client.send(new DeleteBucketCommand({ Bucket: B }));
  });
  test("encryption and access as they are; configurations that nobody made are 404 by their names", async () => {
    const { ServerSideEncryptionConfiguration: encryption } = await client.send(new GetBucketEncryptionCommand({ Bucket }));
    expect(encryption?.Rules?.[0]?.ApplyServerSideEncryptionByDefault).toEqual({ SSEAlgorithm: "AES256" });
    const { Grants, Owner } = await client.send(new GetBucketAclCommand({ Bucket }));
    expect([Owner?.ID, Grants]).toMatchObject([
      "alpha",
      [{ Permission: "FULL_CONTROL", Grantee: { ID: "alpha", Type: "CanonicalUser" } }],
    ]);
    for (const [command, code] of [
      [new GetBucketPolicyCommand({ Bucket }), "NoSuchBucketPolicy"],
      [new GetObjectLockConfigurationCommand({ Bucket }), "ObjectLockConfigurationNotFoundError"],
      [new GetPublicAccessBlockCommand({ Bucket }), "NoSuchPublicAccessBlockConfiguration"],
    ] as const)
      expect(await failure(client.send(command as never))).toEqual([404, code]);
    expect(await failure(client.send(new GetBucketPolicyCommand({ Bucket: "no-such-bucket" })))).toEqual([404, "NoSuchBucket"]);
  });
  test("a range is of the object that If-Range names, else all of it is sent", async () => {
    const { ETag } = await put("if-range", "0123456789");
    expect((await get("if-range", { Range: "bytes=1-2" })).bytes.toString()).toBe("12");
    const url = (IfRange: string) =>
      signedFetch(s3, { path: `/${Bucket}/if-range`, headers: { range: "bytes=1-2", "if-range": IfRange } });
    const answers = [await url(ETag ?? ""), await url('"other"'), await url(new Date(0).toUTCString())];
    expect(answers.map((a) => [a.status, a.text])).toEqual([
      [206, "12"],
      [200, "0123456789"],
      [200, "0123456789"],
    ]);
  });
});
