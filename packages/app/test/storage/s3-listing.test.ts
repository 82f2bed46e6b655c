import type { ListMultipartUploadsCommandOutput } from "@aws-sdk/client-s3";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { listKeys, listUploads } from "../../src/storage/objects/list-keys.ts";
import { createUpload } from "../../src/storage/objects/multipart.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { bytesOf } from "./rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";

let s3: S3Rig;
beforeAll(async () => {
  s3 = await openS3Rig();
});
afterAll(() => s3.dispose());

const key = fc.stringMatching(/^[ab/]{1,4}$/);
const common = { tenant: "alpha", headers: {}, meta: {} };
let made = 0;
const freshBucket = async () => {
  const name = `listed-${++made}`;
  await createBucket(s3.rig.node.objects, "alpha", name, "us-east-1");
  return name;
};
/** What a listing of these keys shows, of which each stands `times` times. */
const expected = (keys: readonly string[], prefix: string, delimiter: string): readonly string[] => {
  const shown = keys
    .filter((k) => k.startsWith(prefix))
    .map((k) => {
      const at = delimiter === "" ? -1 : k.indexOf(delimiter, prefix.length);
      return at < 0 ? k : `${k.slice(0, at + delimiter.length)}*`;
    });
  const sorted = [...shown].sort((x, y) => (x.replace("*", "") < y.replace("*", "") ? -1 : 1));
  return sorted.filter((entry, i) => !entry.endsWith("*") || entry !== sorted[i - 1]);
};

test("pages of any size give every key once, whatever prefix and delimiter are, a key that is the prefix itself too", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(key, { maxLength: 12 }),
      fc.constantFrom("", "a", "a/", "a/b", "/"),
      fc.constantFrom("", "/", "b", "a/"),
      fc.integer({ min: 1, max: 4 }),
      async (keys, prefix, delimiter, limit) => {
        const { objects } = s3.rig.node;
        const bucket = await freshBucket();
        const draft = { ...common, bucket, contentType: "" };
        for (const k of keys) await putObject(objects, { ...draft, key: k, body: bytesOf(Buffer.from("x")) });
        const seen: string[] = [];
        for (let after = ""; ; ) {
          const page = await listKeys(objects, { bucket, prefix, delimiter, after, limit });
          const all = [...page.items.map((o) => o.key), ...page.prefixes.map((p) => `${p}*`)];
          expect(all.length).toBeLessThanOrEqual(limit);
          seen.push(...all.sort((x, y) => (x.replace("*", "") < y.replace("*", "") ? -1 : 1)));
          if (page.next === undefined) break;
          after = page.next;
        }
        expect(seen).toEqual(expected(keys, prefix, delimiter));
      },
    ),
    { numRuns: Number(process.env["FC_RUNS"] ?? 60) },
  );
});

test("pages of any size give every upload once, however many a key has", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(key, { maxLength: 12 }),
      fc.constantFrom("", "a", "a/"),
      fc.constantFrom("", "/"),
      fc.integer({ min: 1, max: 4 }),
      async (keys, prefix, delimiter, limit) => {
        const { objects } = s3.rig.node;
        const bucket = await freshBucket();
        const ids: string[] = [];
        for (const k of keys) ids.push(await createUpload(objects, { ...common, bucket, key: k, content_type: "" }));
        const seen: string[] = [];
        const found: string[] = [];
        let [after, afterUpload]: [string, string | undefined] = ["", undefined];
        for (;;) {
          const page = await listUploads(objects, { bucket, prefix, delimiter, after, afterUpload, limit });
          const all = [...page.items.map((u) => u.key), ...page.prefixes.map((p) => `${p}*`)];
          found.push(...page.items.map(({ id }) => id));
          seen.push(...all.sort((x, y) => (x.replace("*", "") < y.replace("*", "") ? -1 : 1)));
          if (page.next === undefined) break;
          const last = page.items.at(-1);
          [after, afterUpload] = [page.next, last?.key === page.next ? last.id : undefined];
        }
        expect(seen).toEqual(expected(keys, prefix, delimiter));
        const listed = keys.flatMap((k, i) =>
          k.startsWith(prefix) && (delimiter === "" || k.indexOf(delimiter, prefix.length) < 0) ? [ids[i]] : [],
        );
        expect([...found].sort()).toEqual(listed.sort());
      },
    ),
    { numRuns: Number(process.env["FC_RUNS"] ?? 60) },
  );
});

test("a client goes on behind the key and the upload that a page ends with", async () => {
  const Bucket = await freshBucket();
  const client = s3.client();
  const begin = async (Key: string) => (await client.send(new sdk.CreateMultipartUploadCommand({ Bucket, Key }))).UploadId;
  const ids = [await begin("a"), await begin("k"), await begin("k"), await begin("k"), await begin("z")];
  const seen: (string | undefined)[] = [];
  let [KeyMarker, UploadIdMarker]: [string | undefined, string | undefined] = [undefined, undefined];
  for (;;) {
    const asked = new sdk.ListMultipartUploadsCommand({ Bucket, MaxUploads: 2, KeyMarker, UploadIdMarker });
    const page: ListMultipartUploadsCommandOutput = await client.send(asked);
    seen.push(...(page.Uploads ?? []).map((u) => u.UploadId));
    if (page.IsTruncated !== true) break;
    [KeyMarker, UploadIdMarker] = [page.NextKeyMarker, page.NextUploadIdMarker];
  }
  expect([...seen].sort()).toEqual([...ids].sort());
  // Without a key an upload marks nothing.
  const all = await client.send(new sdk.ListMultipartUploadsCommand({ Bucket, UploadIdMarker: "g" }));
  expect(all.Uploads).toHaveLength(5);
});
