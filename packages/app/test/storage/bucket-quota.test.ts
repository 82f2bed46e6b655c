import { type BucketQuota, type CountedUsage, versionIdOf } from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { collectGarbage } from "../../src/storage/jobs/collect-garbage.ts";
import { expireVersions } from "../../src/storage/jobs/expire-versions.ts";
import { countPage, readBucketQuota, setBucketQuota } from "../../src/storage/objects/bucket-usage.ts";
import { changeBucket, createBucket, deleteBucket } from "../../src/storage/objects/buckets.ts";
import { deleteObject } from "../../src/storage/objects/delete-object.ts";
import { listVersions } from "../../src/storage/objects/list-keys.ts";
import { completeUpload, createUpload, uploadPart } from "../../src/storage/objects/multipart.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import type { ObjectDoc } from "../../src/storage/schema.ts";
import { createFileRun, type FileStep, fileStep } from "./file-run.ts";
import { mountData, okOf, openNfsRig, statusName } from "./nfs-rig.ts";
import { bytesOf, openRig, operator, pattern, type Rig } from "./rig.ts";
import { openS3Rig, sdk } from "./s3-rig.ts";

const bucket = "docs";
const tenant = "alpha";
const listed = { bucket, prefix: "", delimiter: "", after: "", limit: 1000 };

const put = (rig: Rig, key: string, size: number, seed = 1) =>
  putObject(rig.node.objects, {
    tenant,
    bucket,
    key,
    body: bytesOf(pattern(size, seed)),
    length: size,
    contentType: "",
    headers: {},
    meta: {},
  });
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: { code: string }) => error.code,
  );
const usageOf = async (rig: Rig) => (await rig.store.get("storage_usage", bucket))?.doc as CountedUsage | undefined;
/** What there is, counted by looking at every version. */
async function recount(rig: Rig) {
  const { items } = await listVersions(rig.node.objects, listed);
  const held = items.filter((doc: ObjectDoc) => doc.delete_marker !== true);
  return { bytes: held.reduce((sum, { size }) => sum + size, 0), objects: held.length };
}
async function openBucketRig(quota?: BucketQuota, versioning?: "Enabled") {
  const rig = await openRig({ devices: 3, data: 2, parity: 1, tenants: [tenant] });
  await createBucket(rig.node.objects, tenant, bucket, "us-east-1", versioning && { versioning });
  if (quota !== undefined) await setBucketQuota(rig.node.objects, bucket, quota, operator);
  return rig;
}
async function multipart(rig: Rig, key: string, size: number) {
  const draft = { tenant, bucket, key, content_type: "", headers: {}, meta: {} };
  const upload = await createUpload(rig.node.objects, draft);
  const target = { tenant, bucket, key, upload };
  const { etag } = await uploadPart(rig.node.objects, target, 1, { bytes: bytesOf(pattern(size)) });
  return completeUpload(rig.node.objects, target, { parts: [{ number: 1, etag }] });
}

const key = fc.constantFrom("a", "b", "b/c", "b/d", `${"long".repeat(160)}1`, `${"long".repeat(160)}2`);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom("put", "multipart"), key, size: fc.constantFrom(0, 10, 4500, 20_000) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("delete", "remove"), key, which: fc.nat(5) }) },
  { weight: 4, arbitrary: fileStep },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("Enabled", "Suspended", "expire", "gc", "restart") }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("limit", "unlimit"),
      max_bytes: fc.option(fc.constantFrom(0, 5000, 30_000), { nil: undefined }),
      max_objects: fc.constantFrom(1, 4, 1000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("count"), page: fc.integer({ min: 1, max: 3 }) }) },
);
type Step = { do: string; key?: string; size?: number; which?: number; max_bytes?: number; max_objects?: number; page?: number };

test("whatever happens to a bucket, what is recorded of it is what a recount finds, and nothing adds to what is beyond its quota", () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 30, size: "max" }) as fc.Arbitrary<Step[]>, async (steps) => {
      let rig = await openBucketRig();
      let files = await createFileRun(rig, bucket);
      const objects = () => rig.node.objects;
      try {
        for (const s of steps) {
          const k = s.key ?? "";
          const before = await recount(rig);
          const quota = (await rig.store.get("storage_buckets", bucket))?.doc["quota"] as BucketQuota | undefined;
          if (s.do === "put") await codeOf(put(rig, k, s.size ?? 0));
          else if (s.do === "multipart") await codeOf(multipart(rig, k, s.size ?? 0));
          else if (s.do === "delete") await deleteObject(objects(), tenant, bucket, k);
          else if (s.do === "remove") {
            const versions = (await listVersions(objects(), listed)).items;
            const version = versions[(s.which ?? 0) % Math.max(1, versions.length)];
            if (version !== undefined)
              await deleteObject(objects(), tenant, bucket, version.key, { version: versionIdOf(version) });
          } else if (s.do === "Enabled" || s.do === "Suspended") {
            const state = s.do;
            await changeBucket(objects(), tenant, bucket, "versioning", (b) => ({ ...b, versioning: state }));
          } else if (s.do === "expire") {
            const rule = { id: "all", enabled: true, form: "prefix" as const, filter: { prefix: "b" }, expiration: { date: 0 } };
            const noncurrent = { newer: 1, days: 0 };
            await changeBucket(objects(), tenant, bucket, "lifecycle", (b) => ({ ...b, lifecycle: [{ ...rule, noncurrent }] }));
            await expireVersions(rig.node.parts);
          } else if (s.do === "gc") await collectGarbage(rig.node.parts);
          else if (s.do === "restart") {
            await files.close();
            await rig.node.jobs.stop();
            rig = await rig.restart();
            files = await createFileRun(rig, bucket);
          } else if (s.do === "limit") {
            // As it is set, but the count of what was there is made by steps of this history.
            const { max_bytes, max_objects = 1 } = s;
            const found = await rig.store.get("storage_buckets", bucket);
            await setUncounted(rig, { ...(max_bytes !== undefined && { max_bytes }), max_objects }, found?.doc["quota"]);
          } else if (s.do === "unlimit") await setBucketQuota(objects(), bucket, undefined, operator);
          else if (s.do === "count") await countPage(rig.store, bucket, s.page ?? 1);
          else {
            const answer = await files.step(s as FileStep);
            const versioned = (await rig.store.get("storage_buckets", bucket))?.doc["versioning"] !== undefined;
            if (s.do === "unlink" && !versioned) expect(answer).not.toBe("EDQUOT");
          }
          const [after, usage] = [await recount(rig), await usageOf(rig)];
          const counting = usage?.counting !== undefined;
          if (usage !== undefined && !counting) expect(usage).toEqual(after);
          if (quota !== undefined && !counting) {
            const { max_bytes = Number.POSITIVE_INFINITY, max_objects = Number.POSITIVE_INFINITY } = quota;
            expect(after.bytes).toBeLessThanOrEqual(Math.max(before.bytes, max_bytes));
            expect(after.objects).toBeLessThanOrEqual(Math.max(before.objects, max_objects));
          }
        }
        await rig.node.tick();
        if ((await usageOf(rig)) !== undefined) expect(await usageOf(rig)).toEqual(await recount(rig));
      } finally {
        await files.close();
        await rig.dispose();
      }
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 40) },
  ));

/** A quota whose count has only begun, as of a bucket with more versions than an answer waits for. */
async function setUncounted(rig: Rig, quota: BucketQuota, before: unknown) {
  const { list } = rig.node.context.store;
  const node = rig.node.context.store as { list: typeof list };
  if (before !== undefined) return setBucketQuota(rig.node.objects, bucket, quota, operator);
  const away = vi.spyOn(node, "list").mockRejectedValue(Object.assign(new Error("away"), { code: "away" }));
  try {
    return await setBucketQuota(rig.node.objects, bucket, quota, operator);
  } finally {
    away.mockRestore();
  }
}

test("parallel writers fill a bucket to its quota and never beyond, and every one that was let in is there", async () => {
  const rig = await openBucketRig({ max_bytes: 100_000, max_objects: 1000 });
  const told = await Promise.all(Array.from({ length: 40 }, (_, i) => codeOf(put(rig, `k${i}`, i % 2 ? 4000 : 9000, i))));
  expect(new Set(told)).toEqual(new Set(["done", "QuotaExceeded"]));
  const there = await recount(rig);
  expect(there.objects).toBe(told.filter((code) => code === "done").length);
  expect(there.bytes).toBeLessThanOrEqual(100_000);
  expect(there.bytes).toBeGreaterThan(100_000 - 9000);
  expect(await usageOf(rig)).toEqual(there);
  await rig.dispose();
});

test("a writer of another node that was there meanwhile is counted, also where it took the last place", async () => {
  const rig = await openBucketRig({ max_objects: 3 });
  const { store } = rig.node.context;
  const commit = store.commit.bind(store);
  const meanwhile = (work: () => Promise<unknown>) => {
    const held = vi.spyOn(store, "commit").mockImplementationOnce(async (draft) => {
      held.mockRestore();
      await work();
      return commit(draft);
    });
  };
  /** What the other node's commit of an object of ten bytes does. */
  const other = async (key: string) => {
    const usage = await rig.store.get("storage_usage", bucket);
    const object = await rig.store.get(
      "storage_objects",
      (await listVersions(rig.node.objects, listed)).items[0]?.["id"] as string,
    );
    const { bytes, objects } = (usage as { doc: unknown }).doc as CountedUsage;
    await rig.store.commit({
      commitId: key,
      puts: [
        { coll: "storage_usage", id: bucket, doc: { bytes: bytes + 10, objects: objects + 1 } },
        { coll: "storage_objects", id: `other-${key}`, doc: { ...object?.doc, key, size: 10 } },
      ],
    });
  };
  await put(rig, "first", 10);
  meanwhile(() => other("b"));
  expect(await codeOf(put(rig, "c", 10))).toBe("done");
  expect(await usageOf(rig)).toEqual({ bytes: 30, objects: 3 });
  await deleteObject(rig.node.objects, tenant, bucket, "c");
  meanwhile(() => other("d"));
  expect(await codeOf(put(rig, "e", 10))).toBe("QuotaExceeded");
  expect(await usageOf(rig)).toEqual(await recount(rig));
  await rig.dispose();
});

test("what was there before the quota counts; a count that was not brought to its end goes on with the next round", async () => {
  const rig = await openBucketRig();
  for (let i = 0; i < 5; i++) await put(rig, `k${i}`, 100 * i, i);
  expect(await readBucketQuota(rig.node.objects, bucket)).toMatchObject({ used_bytes: null, max_bytes: null, counting: false });
  const begun = await setUncounted(rig, { max_bytes: 1500 }, undefined);
  expect(begun).toMatchObject({ used_bytes: 0, max_bytes: 1500, counting: true });
  await put(rig, "k0", 300);
  await rig.node.tick();
  expect(await readBucketQuota(rig.node.objects, bucket)).toMatchObject({ used_bytes: 1300, used_objects: 5, counting: false });
  expect(await codeOf(put(rig, "more", 201))).toBe("QuotaExceeded");
  expect(await codeOf(put(rig, "more", 200))).toBe("done");
  // Lowered below what is there it takes away nothing, and lets only what makes the bucket smaller through.
  await setBucketQuota(rig.node.objects, bucket, { max_bytes: 10 }, operator);
  expect(await codeOf(put(rig, "k4", 401))).toBe("QuotaExceeded");
  expect(await codeOf(put(rig, "k4", 50))).toBe("done");
  await setBucketQuota(rig.node.objects, bucket, undefined, operator);
  expect([await codeOf(put(rig, "free", 5000)), await usageOf(rig)]).toEqual(["done", undefined]);
  await rig.dispose();
});

test("a bucket with a quota and no record of what it holds is counted from the next write on, or when its quota is set again", async () => {
  const rig = await openBucketRig({ max_objects: 3 });
  const lose = (commitId: string) => rig.store.commit({ commitId, dels: [{ coll: "storage_usage", id: bucket }] });
  for (const key of ["a", "b"]) await put(rig, key, 10);
  await lose("one");
  expect(await codeOf(put(rig, "c", 10))).toBe("done");
  expect(await readBucketQuota(rig.node.objects, bucket)).toMatchObject({ used_objects: 0, counting: true });
  await rig.node.tick();
  expect(await codeOf(put(rig, "d", 10))).toBe("QuotaExceeded");
  await lose("two");
  await setBucketQuota(rig.node.objects, bucket, { max_objects: 2 }, operator);
  expect(await readBucketQuota(rig.node.objects, bucket)).toMatchObject({ used_objects: 3, counting: false });
  expect(await codeOf(put(rig, "d", 10))).toBe("QuotaExceeded");
  await rig.dispose();
});

test("a round waits for so much of a count and no more; a bucket that cannot be counted keeps no other from its turn", async () => {
  const rig = await openBucketRig();
  const objects = 25_000;
  for (let at = 0; at < objects; at += 1000)
    await rig.store.commit({
      commitId: `fill-${at}`,
      puts: Array.from({ length: 1000 }, (_, i) => {
        const key = String(at + i).padStart(6, "0");
        return { coll: "storage_objects", id: key, doc: { bucket, key, tenant, size: 2, body: { kind: "none" } } };
      }),
    });
  await createBucket(rig.node.objects, tenant, "broken", "us-east-1");
  const { store } = rig.node.context;
  const list = store.list.bind(store);
  const away = vi.spyOn(store, "list").mockRejectedValue(Object.assign(new Error("away"), { code: "away" }));
  for (const name of ["broken", bucket]) await setBucketQuota(rig.node.objects, name, { max_bytes: 60_000 }, operator);
  away.mockImplementation((coll, index, prefix, options) =>
    prefix[0] === "broken" ? Promise.reject(new Error("damaged")) : list(coll, index, prefix, options),
  );
  await rig.node.tick();
  const { counting, used_objects } = await readBucketQuota(rig.node.objects, bucket);
  expect([counting, (used_objects ?? 0) > 0, rig.node.background.failing()]).toEqual([true, true, ["bucket usage"]]);
  away.mockRestore();
  for (let round = 0; round < 5; round++) await rig.node.tick();
  const counted = await Promise.all([bucket, "broken"].map((name) => readBucketQuota(rig.node.objects, name)));
  expect(counted.map(({ counting, used_objects }) => [counting, used_objects])).toEqual([
    [false, objects],
    [false, 0],
  ]);
  expect(rig.node.background.failing()).toEqual([]);
  await rig.dispose();
});

test("what a quota refuses leaves nothing behind, of a body whose length was not told neither; nor does a bucket that goes", async () => {
  const rig = await openBucketRig({ max_bytes: 5_000_000 });
  const chunks = () => rig.store.count("storage_chunks", "by_id", []);
  expect(await codeOf(put(rig, "told", 9_000_000))).toBe("QuotaExceeded");
  expect(await chunks()).toBe(0);
  const draft = { tenant, bucket, key: "untold", body: bytesOf(pattern(9_000_000)), contentType: "", headers: {}, meta: {} };
  expect(await codeOf(putObject(rig.node.objects, draft))).toBe("QuotaExceeded");
  await collectGarbage(rig.node.parts);
  expect([await chunks(), await rig.store.count("storage_staged", "by_time", [])]).toEqual([0, 0]);
  for (const device of rig.devices.keys()) expect(await rig.extents(device)).toEqual([]);
  await deleteBucket(rig.node.objects, tenant, bucket);
  expect(await usageOf(rig)).toBeUndefined();
  await rig.dispose();
});

test("S3 is told 403 QuotaExceeded of whatever would be too much: puts, copies, parts and completions; it is no refused credential", async () => {
  const s3 = await openS3Rig({ tenants: [tenant] });
  const client = s3.client();
  const at = { Bucket: bucket, Key: "k" };
  await client.send(new sdk.CreateBucketCommand({ Bucket: bucket }));
  await client.send(new sdk.PutObjectCommand({ ...at, Body: pattern(60_000) }));
  const begun = await client.send(new sdk.CreateMultipartUploadCommand({ ...at, Key: "parts" }));
  const part = { ...at, Key: "parts", UploadId: begun.UploadId, PartNumber: 1 };
  const { ETag } = await client.send(new sdk.UploadPartCommand({ ...part, Body: pattern(50_000) }));
  await setBucketQuota(s3.rig.node.objects, bucket, { max_bytes: 100_000 }, operator);
  const told = (work: Promise<unknown>) =>
    work.then(
      () => "done",
      (error: { name: string; $metadata: { httpStatusCode: number } }) => `${error.$metadata.httpStatusCode} ${error.name}`,
    );
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  for (const refused of [
    () => client.send(new sdk.PutObjectCommand({ ...at, Key: "other", Body: pattern(40_001) })),
    () => client.send(new sdk.PutObjectCommand({ ...at, Body: pattern(100_001) })),
    () => client.send(new sdk.CopyObjectCommand({ ...at, Key: "copy", CopySource: `${bucket}/k` })),
    () => client.send(new sdk.UploadPartCommand({ ...part, PartNumber: 2, Body: pattern(40_001) })),
    () => client.send(new sdk.CompleteMultipartUploadCommand({ ...part, MultipartUpload })),
  ])
    expect(await told(refused())).toBe("403 QuotaExceeded");
  expect(await usageOf(s3.rig)).toEqual({ bytes: 60_000, objects: 1 });
  // What replaces needs the difference alone, and what was freed is there for others.
  expect(await told(client.send(new sdk.PutObjectCommand({ ...at, Body: pattern(100_000) })))).toBe("done");
  expect(await told(client.send(new sdk.DeleteObjectCommand(at)))).toBe("done");
  expect(await told(client.send(new sdk.CompleteMultipartUploadCommand({ ...part, MultipartUpload })))).toBe("done");
  expect(await usageOf(s3.rig)).toEqual({ bytes: 50_000, objects: 1 });
  expect(await s3.rig.node.metrics.registry.metrics()).not.toContain("store_auth_failures_total{");
  await s3.dispose();
});

test("EDQUOT: what is beyond the quota when it is to be durable is given up and its client told; it holds no memory and fails no work of the node", async () => {
  const rig = await openBucketRig({ max_bytes: 5000 });
  await put(rig, "f", 4000);
  const nfs = await openNfsRig({ rig, exports: [{ bucket }] });
  const { client, walk, read } = await mountData(nfs);
  const handle = await walk("f");
  const write = (size: number) =>
    client.call("WRITE", { handle, offset: 0n, count: size, stable: "UNSTABLE", data: pattern(size, 9) });
  const commit = () => client.call("COMMIT", { handle, offset: 0n, count: 0 });
  const { verifier } = okOf(await write(6000));
  expect(statusName((await commit()).status)).toBe("EDQUOT");
  expect(Buffer.from(okOf(await commit()).verifier).equals(Buffer.from(verifier))).toBe(false);
  expect((await read("f")).data.equals(Buffer.from(pattern(4000)))).toBe(true);
  expect([await usageOf(rig), rig.node.objects.memory.usedBytes()]).toEqual([{ bytes: 4000, objects: 1 }, 0]);
  // The file system has as much room as the bucket.
  expect(okOf(await client.call("FSSTAT", { handle }))).toMatchObject({ totalBytes: 5000n, freeBytes: 1000n });
  // By the node's own time, when nobody asks.
  okOf(await write(6000));
  await nfs.leave();
  expect([rig.node.background.failing(), await usageOf(rig)]).toEqual([[], { bytes: 4000, objects: 1 }]);
  await rig.dispose();
});

test("a bucket that is full is emptied by NFS, directories that only keys made among it", async () => {
  const rig = await openBucketRig();
  for (const key of ["d/f", "e/g/h", "e/i"]) await put(rig, key, 10);
  await setBucketQuota(rig.node.objects, bucket, { max_objects: 2 }, operator);
  const nfs = await openNfsRig({ rig, exports: [{ bucket }] });
  const { client, walk, list } = await mountData(nfs);
  const take = async (procedure: "REMOVE" | "RMDIR", path: string) => {
    const [, parent = "", name = ""] = /^(.*?)([^/]+)$/.exec(path) ?? [];
    return statusName((await client.call(procedure, { dir: await walk(parent), name: Buffer.from(name) })).status);
  };
  expect([await take("REMOVE", "d/f"), await list("d"), await usageOf(rig)]).toEqual(["OK", [], { bytes: 20, objects: 3 }]);
  for (const path of ["e/g/h", "e/i"]) expect(await take("REMOVE", path)).toBe("OK");
  for (const path of ["e/g", "e", "d"]) expect(await take("RMDIR", path)).toBe("OK");
  expect([await list(""), await usageOf(rig), await recount(rig)]).toEqual([[], ...Array(2).fill({ bytes: 0, objects: 0 })]);
  await nfs.leave();
  await rig.dispose();
});

test("what one bucket has no room for makes no client of another write again, nor one of its own that lost nothing; operators hear of it once", async () => {
  const rig = await openBucketRig({ max_bytes: 5000 });
  await put(rig, "f", 4000);
  await put(rig, "g", 0);
  const nfs = await openNfsRig({ rig, exports: [{ bucket }, { path: "/other" }] });
  await nfs.put("theirs", pattern(10));
  const [own, other] = [await mountData(nfs), await mountData(nfs, undefined, "/other")];
  const [f, g, theirs] = [await own.walk("f"), await own.walk("g"), await other.walk("theirs")];
  const write = (handle: Uint8Array, size: number, stable: "UNSTABLE" | "FILE_SYNC") =>
    own.client.call("WRITE", { handle, offset: 0n, count: size, stable, data: pattern(size, 9) });
  const commit = (handle: Uint8Array) => own.client.call("COMMIT", { handle, offset: 0n, count: 0 });
  const hex = (reply: { readonly verifier: Uint8Array }) => Buffer.from(reply.verifier).toString("hex");
  const before = hex(okOf(await write(theirs, 500, "UNSTABLE")));
  expect(hex(okOf(await write(g, 500, "UNSTABLE")))).toBe(before);
  expect(statusName((await write(f, 6000, "FILE_SYNC")).status)).toBe("EDQUOT");
  // Who was refused has been told so, and nobody else wrote to that file.
  expect(hex(okOf(await commit(g)))).toBe(before);
  const seen = new Set([before]);
  for (let i = 0; i < 3; i++) {
    okOf(await write(f, 6000, "UNSTABLE"));
    expect(statusName((await write(f, 10, "FILE_SYNC")).status)).toBe("EDQUOT");
    seen.add(hex(okOf(await commit(f))));
  }
  expect(seen.size).toBe(4);
  expect(hex(okOf(await commit(theirs)))).toBe(before);
  const said = rig.node.events.query({ severity: "warning", since: 0, limit: 100 });
  expect(said.filter(({ details }) => details["error"] === "QuotaExceeded")).toMatchObject([{ details: { bucket } }]);
  await nfs.leave();
  await rig.dispose();
});
