import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";

let s3: S3Rig;
const Bucket = "kept";
beforeAll(async () => {
  s3 = await openS3Rig();
  await s3.client().send(new sdk.CreateBucketCommand({ Bucket }));
});
afterAll(() => s3.dispose());

test("a request reads the record of each bucket that it is about once, whatever it asks", async () => {
  const client = s3.client();
  const reads = vi.spyOn(s3.rig.node.context.store, "get");
  const counted = async <T>(work: Promise<T>): Promise<T> => {
    reads.mockClear();
    const result = await work;
    const names = reads.mock.calls.flatMap(([coll, id]) => (coll === "storage_buckets" ? [id] : []));
    expect(names).toEqual([Bucket]);
    return result;
  };
  const at = { Bucket, Key: "k" };
  await counted(client.send(new sdk.PutObjectCommand({ ...at, Body: "text" })));
  await counted(client.send(new sdk.GetObjectCommand(at)).then(({ Body }) => Body?.transformToString()));
  await counted(client.send(new sdk.HeadObjectCommand(at)));
  await counted(client.send(new sdk.CopyObjectCommand({ ...at, Key: "copy", CopySource: `${Bucket}/k` })));
  await counted(client.send(new sdk.PutObjectTaggingCommand({ ...at, Tagging: { TagSet: [{ Key: "a", Value: "b" }] } })));
  await counted(client.send(new sdk.GetObjectTaggingCommand(at)));
  await counted(client.send(new sdk.GetObjectAttributesCommand({ ...at, ObjectAttributes: ["ETag"] })));
  await counted(client.send(new sdk.ListObjectsV2Command({ Bucket })));
  await counted(client.send(new sdk.ListObjectVersionsCommand({ Bucket })));
  await counted(client.send(new sdk.PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: "Enabled" } })));
  const { UploadId } = await counted(client.send(new sdk.CreateMultipartUploadCommand(at)));
  const { ETag } = await counted(client.send(new sdk.UploadPartCommand({ ...at, UploadId, PartNumber: 1, Body: "part" })));
  await counted(client.send(new sdk.ListPartsCommand({ ...at, UploadId })));
  await counted(client.send(new sdk.ListMultipartUploadsCommand({ Bucket })));
  const MultipartUpload = { Parts: [{ ETag, PartNumber: 1 }] };
  await counted(client.send(new sdk.CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload })));
  await counted(client.send(new sdk.DeleteObjectCommand(at)));
  const Objects = ["k", "copy", "none"].map((Key) => ({ Key }));
  await counted(client.send(new sdk.DeleteObjectsCommand({ Bucket, Delete: { Objects } })));
});

test("a request of a small object is one look at each record that it is about, and at most one commit", async () => {
  const client = s3.client();
  const { store } = s3.rig.node.context;
  await client.send(new sdk.CreateBucketCommand({ Bucket: "plain" }));
  const methods = ["get", "getMany", "list", "count", "commit"] as const;
  const spies = methods.map((method) => vi.spyOn(store, method));
  const costs = async (work: Promise<unknown>): Promise<string> => {
    for (const spy of spies) spy.mockClear();
    await work;
    return methods
      .flatMap((method, i) => {
        const calls = (spies[i]?.mock.calls ?? []) as unknown as readonly (readonly unknown[])[];
        return calls.map(([coll]) => (method === "commit" ? method : `${method} ${coll}`));
      })
      .join(", ");
  };
  const [bucket, object, chunk] = ["get storage_buckets", "get storage_objects", "get storage_chunks"];
  // Keys are known from the first of each on.
  await client.send(new sdk.PutObjectCommand({ Bucket: "plain", Key: "warm", Body: "text" }));
  for (const [size, chunks] of [
    [10, []],
    [30_000, [chunk]],
  ] as const) {
    const at = { Bucket: "plain", Key: `k${size}` };
    for (const fill of ["first", "again"]) {
      const put = costs(client.send(new sdk.PutObjectCommand({ ...at, Body: Buffer.alloc(size, fill) })));
      expect(await put).toBe([bucket, ...chunks, object, "commit"].join(", "));
      const get = costs(client.send(new sdk.GetObjectCommand(at)).then(({ Body }) => Body?.transformToString()));
      expect(await get).toBe([bucket, object, ...chunks].join(", "));
    }
    expect(await costs(client.send(new sdk.HeadObjectCommand(at)))).toBe(`${bucket}, ${object}`);
    expect(await costs(client.send(new sdk.DeleteObjectCommand(at)))).toBe(`${bucket}, ${object}, commit`);
  }
  for (const spy of spies) spy.mockRestore();
});

test("a write meets the bucket as it is when it commits, whatever was read before", async () => {
  const client = s3.client();
  const { store } = s3.rig.node.context;
  const commit = store.commit.bind(store);
  // The first commit of the object waits until the bucket has another record.
  const held = vi.spyOn(store, "commit").mockImplementationOnce(async (draft) => {
    held.mockRestore();
    await client.send(new sdk.PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: [{ Key: "a", Value: "b" }] } }));
    return commit(draft);
  });
  await client.send(new sdk.PutObjectCommand({ Bucket, Key: "late", Body: "text" }));
  const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket, Key: "late" }));
  expect(await Body?.transformToString()).toBe("text");
});
