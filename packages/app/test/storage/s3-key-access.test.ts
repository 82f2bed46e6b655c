import { type KeyAccess, keyMay } from "@seneschal/core/storage";
import { s3Operations } from "@seneschal/server-s3";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCredentials } from "../../src/storage/keys/credentials.ts";
import { operator } from "./rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { signedFetch } from "./signed-fetch.ts";

let s3: S3Rig;
const Bucket = "photos";
beforeAll(async () => {
  s3 = await openS3Rig();
  for (const name of [Bucket, "other"]) {
    await s3.client().send(new sdk.CreateBucketCommand({ Bucket: name }));
    for (const Key of ["in/a", "out/b"]) await s3.client().send(new sdk.PutObjectCommand({ Bucket: name, Key, Body: Key }));
  }
});
afterAll(() => s3.dispose());
const keyFor = (access: KeyAccess) => s3.credentials.create("alpha", operator, access);
const failure = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (e: { $metadata: { httpStatusCode: number }; name: string }) => `${e.$metadata.httpStatusCode} ${e.name}`,
  );
const denied = "403 AccessDenied";
const changes = async () => (await s3.rig.store.changes(0, 100_000)).length;

test("a key for reading reads and lists, and is refused by every operation that changes something", async () => {
  const keys = await keyFor({ mode: "read_only" });
  const before = await changes();
  const values: Record<string, string> = { "list-type": "2", partNumber: "1", uploadId: "x" };
  for (const { name, on, method, asks = [], form } of s3Operations) {
    if (form === true) continue;
    const answer = await signedFetch(s3, {
      method,
      keys,
      path: { service: "/", bucket: name === "CreateBucket" ? "/fresh" : `/${Bucket}`, object: `/${Bucket}/in/a` }[on],
      query: Object.fromEntries(asks.filter((a) => !a.startsWith("x-amz")).map((a) => [a, values[a] ?? ""])),
      headers: asks.includes("x-amz-copy-source") ? { "x-amz-copy-source": `${Bucket}/out/b` } : {},
      ...(name === "DeleteObjects" && { body: Buffer.from("<Delete><Object><Key>in/a</Key></Object></Delete>") }),
    });
    const reads = method === "GET" || method === "HEAD";
    const refused = name === "DeleteObjects" ? answer.text.includes("<Code>AccessDenied") : answer.status === 403;
    expect([name, refused]).toEqual([name, !reads]);
  }
  expect(await changes()).toBe(before);
});

test("a key for a prefix reaches what begins so, as source and as target, key by key, and lists nothing else", async () => {
  const client = s3.client(await keyFor({ mode: "read_write", resources: [{ bucket: Bucket, prefix: "in/" }] }));
  const get = (bucket: string, Key: string) => failure(client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key })));
  expect([await get(Bucket, "in/a"), await get(Bucket, "out/b"), await get(Bucket, "in"), await get("other", "in/a")]).toEqual([
    ...["done", denied, denied, denied],
  ]);
  const put = (Key: string) => failure(client.send(new sdk.PutObjectCommand({ Bucket, Key, Body: "x" })));
  expect([await put("in/new"), await put("new")]).toEqual(["done", denied]);
  const copy = (from: string, Key: string) => failure(client.send(new sdk.CopyObjectCommand({ Bucket, Key, CopySource: from })));
  expect([
    await copy(`${Bucket}/in/a`, "in/copy"),
    await copy(`${Bucket}/out/b`, "in/copy"),
    await copy("other/in/a", "in/copy"),
    await copy(`${Bucket}/in/a`, "out/copy"),
  ]).toEqual(["done", denied, denied, denied]);
  const Objects = ["in/copy", "out/b"].map((Key) => ({ Key }));
  const { Deleted, Errors } = await client.send(new sdk.DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
  expect([Deleted?.map((d) => d.Key), Errors?.map((e) => [e.Key, e.Code])]).toEqual([["in/copy"], [["out/b", "AccessDenied"]]]);
  const list = (Prefix?: string) => failure(client.send(new sdk.ListObjectsV2Command({ Bucket, Prefix })));
  expect([await list("in/"), await list("in/x"), await list("in"), await list("out/"), await list()]).toEqual([
    ...["done", "done", denied, denied, denied],
  ]);
  for (const work of [
    () => client.send(new sdk.ListBucketsCommand({})),
    () => client.send(new sdk.HeadBucketCommand({ Bucket })),
    () => client.send(new sdk.GetBucketPolicyCommand({ Bucket })),
    () => client.send(new sdk.DeleteBucketCommand({ Bucket })),
    () => client.send(new sdk.CreateBucketCommand({ Bucket: "in" })),
  ])
    expect(await failure(work())).toMatch(/^403/);
});

test("a key for a bucket has it whole, settings too, and no other, whatever policies say", async () => {
  const client = s3.client(await keyFor({ mode: "read_write", resources: [{ bucket: Bucket, prefix: "" }] }));
  const everything = {
    Effect: "Allow",
    Principal: "*",
    Action: "s3:*",
    Resource: ["arn:aws:s3:::other", "arn:aws:s3:::other/*"],
  };
  await s3
    .client()
    .send(new sdk.PutBucketPolicyCommand({ Bucket: "other", Policy: JSON.stringify({ Statement: [everything] }) }));
  expect(await failure(client.send(new sdk.GetObjectCommand({ Bucket, Key: "out/b" })))).toBe("done");
  expect(await failure(client.send(new sdk.HeadBucketCommand({ Bucket })))).toBe("done");
  const Tagging = { TagSet: [{ Key: "a", Value: "b" }] };
  expect(await failure(client.send(new sdk.PutBucketTaggingCommand({ Bucket, Tagging })))).toBe("done");
  expect(await failure(client.send(new sdk.GetObjectCommand({ Bucket: "other", Key: "in/a" })))).toBe(denied);
  expect(await failure(client.send(new sdk.ListObjectsV2Command({ Bucket: "other" })))).toBe(denied);
  await s3.client().send(new sdk.DeleteBucketPolicyCommand({ Bucket: "other" }));
});

test("a key whose record says that it may something else is no key", async () => {
  const keys = await keyFor({ mode: "read_only", resources: [{ bucket: Bucket, prefix: "" }] });
  const { store } = s3.rig.node.context;
  const read = () => signedFetch(s3, { path: `/${Bucket}/in/a`, keys });
  expect((await read()).status).toBe(200);
  const found = await store.get("storage_credentials", keys.access_key);
  const { access: _, ...whole } = found?.doc ?? {};
  for (const doc of [whole, { ...whole, access: { mode: "read_write" } }, { ...whole, access: { mode: "read_only" } }]) {
    const { version } = (await store.get("storage_credentials", keys.access_key)) ?? {};
    const put = { coll: "storage_credentials", id: keys.access_key, doc: doc as typeof whole & { tenant: string } };
    await store.commit({ commitId: crypto.randomUUID(), puts: [{ ...put, ifVersion: version ?? 0 }] });
    const fresh = createCredentials(s3.rig.node.context, s3.rig.vault);
    await expect(fresh.lookUp(keys.access_key)).rejects.toThrow();
  }
});

test("a narrower access never allows more", () => {
  const text = fc.constantFrom("", "a", "a/", "a/b", "b");
  const question = fc.record({
    action: fc.constantFrom(
      "s3:GetObject",
      "s3:PutObject",
      "s3:ListBucket",
      "s3:ListAllMyBuckets",
      "s3:GetBucketLocation",
      "s3:DeleteBucket",
    ),
    bucket: fc.constantFrom("", "one", "two"),
    key: text,
    prefix: text,
  });
  const resources = fc.array(fc.record({ bucket: fc.constantFrom("one", "two"), prefix: text }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(question, resources, text, (asked, all, more) => {
      const narrow = all.map(({ bucket, prefix }) => ({ bucket, prefix: prefix + more })).slice(0, 2);
      const write = (r: NonNullable<KeyAccess["resources"]>) => keyMay({ mode: "read_write", resources: r }, asked);
      if (write(narrow)) expect(write(all)).toBe(true);
      if (keyMay({ mode: "read_only", resources: all }, asked)) expect(write(all)).toBe(true);
      expect(keyMay({ mode: "read_write" }, asked)).toBe(true);
      // Nothing of a bucket, nor of the service, that is not among the resources.
      if (!all.some(({ bucket }) => bucket === asked.bucket)) expect(write(all)).toBe(false);
    }),
  );
});
