import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { customerCipher } from "../../src/storage/objects/customer-key.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { bytesOf, collect, pattern } from "./rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { signedFetch } from "./signed-fetch.ts";

let s3: S3Rig;
const client = () => s3.client();
const Bucket = "sealed";
beforeAll(async () => {
  s3 = await openS3Rig();
  await client().send(new sdk.CreateBucketCommand({ Bucket }));
});
afterAll(() => s3.dispose());

const customer = (key = randomBytes(32)) => ({
  SSECustomerAlgorithm: "AES256",
  SSECustomerKey: key.toString("base64"),
  SSECustomerKeyMD5: createHash("md5").update(key).digest("base64"),
});
const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (e: { $metadata: { httpStatusCode: number }; name: string }) => `${e.$metadata.httpStatusCode} ${e.name}`,
  );
const bytes = async (reply: { Body?: { transformToByteArray(): Promise<Uint8Array> } }) =>
  Buffer.from((await reply.Body?.transformToByteArray()) ?? []);

test("the key stream at any offset is that of the whole, over carries of the counter too", () =>
  fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(9000), fc.nat(9000), async (key, from, length) => {
      const plain = pattern(10_000, 3);
      const salt = Buffer.from(key).toString("base64");
      const sealed = await collect(customerCipher(bytesOf(plain), key, salt));
      const part = sealed.subarray(from, from + length);
      const opened = await collect(customerCipher(bytesOf(part), key, salt, from));
      expect(opened.equals(plain.subarray(from, from + length))).toBe(true);
    }),
  ));

describe("an object under a client's key", () => {
  test("is given to who has the key, whole and in ranges, and to nobody else", async () => {
    const key = customer();
    const body = Buffer.from(pattern(5_000_000, 9));
    const put = await client().send(new sdk.PutObjectCommand({ Bucket, Key: "k", Body: body, ...key }));
    expect(put.SSECustomerKeyMD5).toBe(key.SSECustomerKeyMD5);
    expect((await bytes(await client().send(new sdk.GetObjectCommand({ Bucket, Key: "k", ...key })))).equals(body)).toBe(true);
    const ranged = await client().send(new sdk.GetObjectCommand({ Bucket, Key: "k", Range: "bytes=4194300-4194400", ...key }));
    expect((await bytes(ranged)).equals(body.subarray(4_194_300, 4_194_401))).toBe(true);
    for (const other of [{}, customer()]) {
      expect(await failure(client().send(new sdk.GetObjectCommand({ Bucket, Key: "k", ...other })))).toBe("400 InvalidRequest");
      expect(await failure(client().send(new sdk.HeadObjectCommand({ Bucket, Key: "k", ...other })))).toMatch(/^400/);
      expect(await failure(client().send(new sdk.CopyObjectCommand({ Bucket, Key: "c", CopySource: `${Bucket}/k` })))).toBe(
        "400 InvalidRequest",
      );
    }
    // Nor to what reads without S3.
    const { objects } = s3.rig.node;
    const found = await headObject(objects, "alpha", Bucket, "k");
    await expect(collect(readObject(objects, found))).rejects.toMatchObject({ code: "InvalidRequest" });
  });

  test("leaves neither the key nor what opens without it, in metadata or on devices", async () => {
    const secret = randomBytes(32);
    const key = customer(secret);
    await client().send(new sdk.PutObjectCommand({ Bucket, Key: "small", Body: "attack at dawn", ...key }));
    const found = await headObject(s3.rig.node.objects, "alpha", Bucket, "small");
    const told = JSON.stringify(found);
    for (const form of [
      secret.toString("base64"),
      secret.toString("hex"),
      key.SSECustomerKeyMD5,
      createHash("md5").update("attack at dawn").digest("hex"),
    ])
      expect(told).not.toContain(form);
    const { encryption: _, ...stripped } = found;
    expect((await collect(readObject(s3.rig.node.objects, stripped as typeof found))).toString()).not.toBe("attack at dawn");
    for (const entry of await readdir(s3.rig.directory, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) expect((await readFile(join(entry.parentPath, entry.name))).includes(secret)).toBe(false);
  });

  test("in parts: each under a stream of its own, the same ETag when sent again, refused under another key", async () => {
    const key = customer();
    const { UploadId } = await client().send(new sdk.CreateMultipartUploadCommand({ Bucket, Key: "m", ...key }));
    const parts = [Buffer.from(pattern(5 << 20, 1)), Buffer.from(pattern(70_000, 2))];
    const send = (i: number, own: object) =>
      client().send(
        new sdk.UploadPartCommand({ Bucket, Key: "m", UploadId, PartNumber: i + 1, Body: parts[i] as Buffer, ...own }),
      );
    for (const wrong of [{}, customer()]) expect(await failure(send(0, wrong))).toBe("400 InvalidRequest");
    const etags: (string | undefined)[] = [];
    for (const i of [0, 1]) etags.push((await send(i, key)).ETag);
    expect((await send(1, key)).ETag).toBe(etags[1]);
    const MultipartUpload = { Parts: etags.map((ETag, i) => ({ ETag, PartNumber: i + 1 })) };
    const complete = { Bucket, Key: "m", UploadId, MultipartUpload };
    expect(await failure(client().send(new sdk.CompleteMultipartUploadCommand(complete)))).toBe("400 InvalidRequest");
    await client().send(new sdk.CompleteMultipartUploadCommand({ ...complete, ...key }));
    const whole = Buffer.concat(parts);
    expect((await bytes(await client().send(new sdk.GetObjectCommand({ Bucket, Key: "m", ...key })))).equals(whole)).toBe(true);
    const at = (5 << 20) - 7;
    const across = await client().send(new sdk.GetObjectCommand({ Bucket, Key: "m", Range: `bytes=${at}-${at + 20}`, ...key }));
    expect((await bytes(across)).equals(whole.subarray(at, at + 21))).toBe(true);
  });
});

test("a completion may say how its upload is encrypted, and nothing else", async () => {
  const named = { ServerSideEncryption: "aws:kms", SSEKMSKeyId: "alpha" } as const;
  const { UploadId } = await client().send(new sdk.CreateMultipartUploadCommand({ Bucket, Key: "told", ...named }));
  const part = { Bucket, Key: "told", UploadId, PartNumber: 1 };
  const { ETag } = await client().send(new sdk.UploadPartCommand({ ...part, Body: "part" }));
  const body = Buffer.from(
    `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${ETag}</ETag></Part></CompleteMultipartUpload>`,
  );
  const complete = (headers: Record<string, string>) =>
    signedFetch(s3, { method: "POST", path: `/${Bucket}/told`, query: { uploadId: UploadId ?? "" }, headers, body });
  const header = "x-amz-server-side-encryption";
  for (const wrong of [{ [header]: "AES256" }, { [header]: "aws:kms", [`${header}-aws-kms-key-id`]: "beta" }])
    expect((await complete(wrong)).status).toBe(400);
  expect(await failure(client().send(new sdk.HeadObjectCommand({ Bucket, Key: "told" })))).toBe("404 NotFound");
  const done = await complete({ [header]: "aws:kms", [`${header}-aws-kms-key-id`]: "alpha" });
  expect([done.status, done.headers.get(header), done.headers.get(`${header}-aws-kms-key-id`)]).toEqual([
    200,
    "aws:kms",
    "alpha",
  ]);
});

test("a tenant's key is called as the tenant is: another name is no key, and a bucket's default is what objects get", async () => {
  const put = (more: object) => client().send(new sdk.PutObjectCommand({ Bucket, Key: "kms", Body: "b", ...more }));
  const named = await put({ ServerSideEncryption: "aws:kms", SSEKMSKeyId: "alpha" });
  expect([named.ServerSideEncryption, named.SSEKMSKeyId]).toEqual(["aws:kms", "alpha"]);
  expect(await failure(put({ ServerSideEncryption: "aws:kms", SSEKMSKeyId: "beta" }))).toBe("400 KMS.NotFoundException");
  expect(await failure(put({ ServerSideEncryption: "AES256", ...customer() }))).toBe("400 InvalidArgument");
  const rule = { ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "aws:kms", KMSMasterKeyID: "alpha" } } as const;
  await client().send(new sdk.PutBucketEncryptionCommand({ Bucket, ServerSideEncryptionConfiguration: { Rules: [rule] } }));
  expect((await put({})).SSEKMSKeyId).toBe("alpha");
  expect((await put({ ServerSideEncryption: "AES256" })).ServerSideEncryption).toBe("AES256");
  await client().send(new sdk.DeleteBucketEncryptionCommand({ Bucket }));
  expect((await put({})).ServerSideEncryption).toBe("AES256");
});
