import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { signedFetch } from "./signed-fetch.ts";

let s3: S3Rig;
const client = () => s3.client();
beforeAll(async () => {
  s3 = await openS3Rig();
});
afterAll(() => s3.dispose());

const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (e: { $metadata: { httpStatusCode: number }; name: string }) => `${e.$metadata.httpStatusCode} ${e.name}`,
  );
const text = async (reply: { Body?: { transformToString(): Promise<string> } }) => reply.Body?.transformToString();
let made = 0;
async function bucket(status?: "Enabled" | "Suspended"): Promise<string> {
  const Bucket = `versions-${made++}`;
  await client().send(new sdk.CreateBucketCommand({ Bucket }));
  if (status !== undefined) await version(Bucket, status);
  return Bucket;
}
const version = (Bucket: string, Status: "Enabled" | "Suspended") =>
  client().send(new sdk.PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }));
const put = async (Bucket: string, Key: string, Body: string) =>
  (await client().send(new sdk.PutObjectCommand({ Bucket, Key, Body }))).VersionId;

describe("a bucket with versions", () => {
  test("keeps each, gives each by name, and the latest without", async () => {
    const Bucket = await bucket("Enabled");
    const ids = [await put(Bucket, "k", "one"), await put(Bucket, "k", "two"), await put(Bucket, "k", "three")];
    expect(new Set(ids).size).toBe(3);
    for (const [i, VersionId] of ids.entries()) {
      const got = await client().send(new sdk.GetObjectCommand({ Bucket, Key: "k", VersionId }));
      expect([await text(got), got.VersionId]).toEqual([["one", "two", "three"][i], VersionId]);
    }
    const latest = await client().send(new sdk.GetObjectCommand({ Bucket, Key: "k" }));
    expect([await text(latest), latest.VersionId]).toEqual(["three", ids[2]]);
    const listed = await client().send(new sdk.ListObjectVersionsCommand({ Bucket }));
    expect(listed.Versions?.map((v) => [v.VersionId, v.IsLatest])).toEqual([
      [ids[2], true],
      [ids[1], false],
      [ids[0], false],
    ]);
  });

  test("hides what is deleted behind a marker, which says so, and gives it back without the marker", async () => {
    const Bucket = await bucket("Enabled");
    const first = await put(Bucket, "k", "one");
    const deleted = await client().send(new sdk.DeleteObjectCommand({ Bucket, Key: "k" }));
    expect(deleted.DeleteMarker).toBe(true);
    expect(await failure(client().send(new sdk.GetObjectCommand({ Bucket, Key: "k" })))).toBe("404 NoSuchKey");
    const head = await signedFetch(s3, { method: "HEAD", path: `/${Bucket}/k` });
    expect([head.headers.get("x-amz-delete-marker"), head.headers.get("x-amz-version-id")]).toEqual(["true", deleted.VersionId]);
    const marker = { Bucket, Key: "k", VersionId: deleted.VersionId };
    expect(await failure(client().send(new sdk.GetObjectCommand(marker)))).toBe("405 MethodNotAllowed");
    expect((await client().send(new sdk.ListObjectsV2Command({ Bucket }))).KeyCount).toBe(0);
    expect(await failure(client().send(new sdk.DeleteBucketCommand({ Bucket })))).toBe("409 BucketNotEmpty");
    const removed = await client().send(new sdk.DeleteObjectCommand(marker));
    expect([removed.DeleteMarker, removed.VersionId]).toEqual([true, deleted.VersionId]);
    expect(await text(await client().send(new sdk.GetObjectCommand({ Bucket, Key: "k" })))).toBe("one");
    await client().send(new sdk.DeleteObjectCommand({ Bucket, Key: "k", VersionId: first }));
    await client().send(new sdk.DeleteBucketCommand({ Bucket }));
  });

  test("keeps what was there before it had versions as the version null; suspended, it replaces that one alone", async () => {
    const Bucket = await bucket();
    await put(Bucket, "k", "before");
    await version(Bucket, "Enabled");
    const id = await put(Bucket, "k", "with versions");
    const before = await client().send(new sdk.GetObjectCommand({ Bucket, Key: "k", VersionId: "null" }));
    expect(await text(before)).toBe("before");
    await version(Bucket, "Suspended");
    await put(Bucket, "k", "suspended");
    await put(Bucket, "k", "suspended again");
    const { Versions } = await client().send(new sdk.ListObjectVersionsCommand({ Bucket }));
    expect(Versions?.map((v) => [v.VersionId, v.IsLatest])).toEqual([
      ["null", true],
      [id, false],
    ]);
    expect(await text(await client().send(new sdk.GetObjectCommand({ Bucket, Key: "k", VersionId: "null" })))).toBe(
      "suspended again",
    );
    const gone = await client().send(new sdk.DeleteObjectCommand({ Bucket, Key: "k" }));
    expect([gone.DeleteMarker, gone.VersionId]).toEqual([true, "null"]);
  });

  test("lists page by page, also when what was listed is deleted between two pages", async () => {
    const Bucket = await bucket("Enabled");
    for (let i = 0; i < 12; i++) await put(Bucket, `k${i % 3}`, String(i));
    await client().send(new sdk.DeleteObjectCommand({ Bucket, Key: "k1" }));
    const seen: string[] = [];
    let markers: { KeyMarker?: string | undefined; VersionIdMarker?: string | undefined } = {};
    for (;;) {
      const page = await client().send(new sdk.ListObjectVersionsCommand({ Bucket, MaxKeys: 5, ...markers }));
      const entries = [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])];
      seen.push(...entries.map((v) => `${v.Key} ${v.VersionId}`));
      for (const { Key, VersionId } of entries) await client().send(new sdk.DeleteObjectCommand({ Bucket, Key, VersionId }));
      if (page.IsTruncated !== true) break;
      markers = { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker };
    }
    expect([seen.length, new Set(seen).size]).toEqual([13, 13]);
    await client().send(new sdk.DeleteBucketCommand({ Bucket }));
  });

  test("copies a version by name, also over the latest of its own key", async () => {
    const Bucket = await bucket("Enabled");
    const id = await put(Bucket, "k", "one");
    await put(Bucket, "k", "two");
    const copied = await client().send(
      new sdk.CopyObjectCommand({ Bucket, Key: "k", CopySource: `${Bucket}/k?versionId=${id}` }),
    );
    expect([copied.CopySourceVersionId, copied.VersionId === id]).toEqual([id, false]);
    expect(await text(await client().send(new sdk.GetObjectCommand({ Bucket, Key: "k" })))).toBe("one");
  });
});

describe("object lock", () => {
  const lockable = async () => {
    const Bucket = `locked-${made++}`;
    await client().send(new sdk.CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
    return Bucket;
  };
  const remove = (Bucket: string, VersionId: string | undefined, BypassGovernanceRetention = false) =>
    failure(client().send(new sdk.DeleteObjectCommand({ Bucket, Key: "k", VersionId, BypassGovernanceRetention })));
  const inADay = () => new Date(s3.rig.clock.now() + 86_400_000);

  test("a bucket that exists without it is not told to have it", async () => {
    const Bucket = await bucket("Enabled");
    expect(await failure(client().send(new sdk.CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true })))).toMatch(
      /^409/,
    );
    const lock = new sdk.PutObjectCommand({
      Bucket,
      Key: "k",
      ObjectLockMode: "COMPLIANCE",
      ObjectLockRetainUntilDate: inADay(),
    });
    expect(await failure(client().send(lock))).toBe("400 InvalidRequest");
    expect((await client().send(new sdk.ListObjectVersionsCommand({ Bucket }))).Versions).toBeUndefined();
  });

  test("compliance holds against everybody until its time, and only grows", async () => {
    const Bucket = await lockable();
    const ObjectLockRetainUntilDate = inADay();
    const { VersionId } = await client().send(
      new sdk.PutObjectCommand({ Bucket, Key: "k", Body: "b", ObjectLockMode: "COMPLIANCE", ObjectLockRetainUntilDate }),
    );
    for (const bypass of [false, true]) expect(await remove(Bucket, VersionId, bypass)).toBe("403 AccessDenied");
    const Errors = await client().send(
      new sdk.DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: "k", VersionId }] }, BypassGovernanceRetention: true }),
    );
    expect(Errors.Errors?.[0]?.Code).toBe("AccessDenied");
    const retention = (Mode: "GOVERNANCE" | "COMPLIANCE", ms: number) =>
      failure(
        client().send(
          new sdk.PutObjectRetentionCommand({
            Bucket,
            Key: "k",
            BypassGovernanceRetention: true,
            Retention: { Mode, RetainUntilDate: new Date(ObjectLockRetainUntilDate.getTime() + ms) },
          }),
        ),
      );
    expect(await retention("COMPLIANCE", -1000)).toBe("403 AccessDenied");
    expect(await retention("GOVERNANCE", 86_400_000)).toBe("403 AccessDenied");
    expect(await retention("COMPLIANCE", 1000)).toBeUndefined();
    expect(
      await failure(
        client().send(new sdk.PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: "Suspended" } })),
      ),
    ).toBe("409 InvalidBucketState");
    // A delete marker hides it, and it is there.
    await client().send(new sdk.DeleteObjectCommand({ Bucket, Key: "k" }));
    expect(await text(await client().send(new sdk.GetObjectCommand({ Bucket, Key: "k", VersionId })))).toBe("b");
  });

  test("governance yields to who bypasses it, which is on record", async () => {
    const Bucket = await lockable();
    const { VersionId } = await client().send(
      new sdk.PutObjectCommand({ Bucket, Key: "k", ObjectLockMode: "GOVERNANCE", ObjectLockRetainUntilDate: inADay() }),
    );
    expect(await remove(Bucket, VersionId)).toBe("403 AccessDenied");
    expect(await remove(Bucket, VersionId, true)).toBeUndefined();
    const audit = (await s3.rig.store.auditRead(0, 100_000)).map((e) => e.event);
    expect(audit).toContainEqual(expect.objectContaining({ action: "object.delete.bypass", bucket: Bucket, version: VersionId }));
  });

  test("a legal hold has no end but its own", async () => {
    const Bucket = await lockable();
    const VersionId = await put(Bucket, "k", "held");
    const hold = (Status: "ON" | "OFF") =>
      client().send(new sdk.PutObjectLegalHoldCommand({ Bucket, Key: "k", VersionId, LegalHold: { Status } }));
    await hold("ON");
    expect(await remove(Bucket, VersionId, true)).toBe("403 AccessDenied");
    expect((await client().send(new sdk.HeadObjectCommand({ Bucket, Key: "k" }))).ObjectLockLegalHoldStatus).toBe("ON");
    await hold("OFF");
    expect(await remove(Bucket, VersionId)).toBeUndefined();
  });

  test("a bucket's default is what new versions are kept for, multipart ones and copies too", async () => {
    const Bucket = await lockable();
    await client().send(
      new sdk.PutObjectLockConfigurationCommand({
        Bucket,
        ObjectLockConfiguration: { ObjectLockEnabled: "Enabled", Rule: { DefaultRetention: { Mode: "COMPLIANCE", Days: 1 } } },
      }),
    );
    const single = await put(Bucket, "k", "one");
    const { UploadId } = await client().send(new sdk.CreateMultipartUploadCommand({ Bucket, Key: "k" }));
    const part = { Bucket, Key: "k", UploadId, PartNumber: 1 };
    const { ETag } = await client().send(new sdk.UploadPartCommand({ ...part, Body: "two" }));
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    const joined = await client().send(new sdk.CompleteMultipartUploadCommand({ Bucket, Key: "k", UploadId, MultipartUpload }));
    const copy = await client().send(
      new sdk.CopyObjectCommand({ Bucket, Key: "k", CopySource: `${Bucket}/k?versionId=${single}` }),
    );
    for (const id of [single, joined.VersionId, copy.VersionId]) expect(await remove(Bucket, id, true)).toBe("403 AccessDenied");
  });
});

describe("tags", () => {
  test("come with a version or later, go with a copy, and are counted", async () => {
    const Bucket = await bucket("Enabled");
    await client().send(new sdk.PutObjectCommand({ Bucket, Key: "k", Body: "b", Tagging: "b=2&a=1%20x" }));
    const of = async (Key: string) => (await client().send(new sdk.GetObjectTaggingCommand({ Bucket, Key }))).TagSet;
    const two = [
      { Key: "a", Value: "1 x" },
      { Key: "b", Value: "2" },
    ];
    expect(await of("k")).toEqual(two);
    expect((await client().send(new sdk.GetObjectCommand({ Bucket, Key: "k" }))).TagCount).toBe(2);
    await client().send(new sdk.CopyObjectCommand({ Bucket, Key: "copy", CopySource: `${Bucket}/k` }));
    expect(await of("copy")).toEqual(two);
    await client().send(
      new sdk.CopyObjectCommand({ Bucket, Key: "copy", CopySource: `${Bucket}/k`, TaggingDirective: "REPLACE", Tagging: "c=3" }),
    );
    expect(await of("copy")).toEqual([{ Key: "c", Value: "3" }]);
    await client().send(new sdk.DeleteObjectTaggingCommand({ Bucket, Key: "k" }));
    expect(await of("k")).toEqual([]);
    const TagSet = Array.from({ length: 11 }, (_, i) => ({ Key: `t${i}`, Value: "" }));
    expect(await failure(client().send(new sdk.PutObjectTaggingCommand({ Bucket, Key: "k", Tagging: { TagSet } })))).toBe(
      "400 InvalidTag",
    );
  });
});
