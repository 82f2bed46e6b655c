import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chunkPage } from "../../src/storage/jobs/chunk-pages.ts";
import type { ChunkDoc } from "../../src/storage/schema.ts";
import { flipExtent } from "./damage-extent.ts";
import { collect, pattern } from "./rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";

let s3: S3Rig;
const MiB = 1 << 20;
const Bucket = "large";
/** Sizes about the chunk's, above and below what is worked on in threads. */
const bodies = [600_000, 4 * MiB - 1, 4 * MiB, 4 * MiB + 1, 9 * MiB].map((size, i) => Buffer.from(pattern(size, i + 1)));
const md5 = (bytes: Uint8Array) => `"${createHash("md5").update(bytes).digest("hex")}"`;
const put = (Key: string, Body: Uint8Array) => s3.client().send(new sdk.PutObjectCommand({ Bucket, Key, Body }));
const open = async (Key: string, Range?: string): Promise<Readable> =>
  (await s3.client().send(new sdk.GetObjectCommand({ Bucket, Key, ...(Range && { Range }) }))).Body as Readable;
const get = async (key: string, range?: string): Promise<Buffer> => collect(await open(key, range));
const sum = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

beforeAll(async () => {
  s3 = await openS3Rig({ capacityBytes: 256 * MiB });
  await s3.client().send(new sdk.CreateBucketCommand({ Bucket }));
});
afterAll(() => s3.dispose());

test("however many put and get at once, some slowly and some that leave: everybody has the bytes and the ETag of their own object", async () => {
  const etags = await Promise.all(bodies.map((body, i) => put(`k${i}`, body)));
  expect(etags.map(({ ETag }) => ETag)).toEqual(bodies.map(md5));
  /** They have begun, and take nothing until the others are done. */
  const slow = await Promise.all(bodies.map((_, i) => open(`k${i}`)));
  const leaving = await Promise.all(bodies.map((_, i) => open(`k${i}`)));
  for (const body of leaving) body.on("error", () => undefined).destroy();
  const rounds = Array.from({ length: 4 }, (_, round) =>
    bodies.map(async (body, i) => {
      if (round === 2) await put(`again${i}`, Buffer.concat([body, Buffer.from([i])]));
      const [start, end] = [i * 1000, body.length - i * 70_000];
      const part = await get(`k${i}`, `bytes=${start}-${end - 1}`);
      expect(sum(part)).toBe(sum(body.subarray(start, end)));
      expect(sum(await get(`k${i}`))).toBe(sum(body));
    }),
  );
  await Promise.all(rounds.flat());
  for (const [i, body] of bodies.entries()) {
    expect(sum(await collect(slow[i] as Readable))).toBe(sum(body));
    expect(sum(await get(`again${i}`))).toBe(sum(Buffer.concat([body, Buffer.from([i])])));
  }
}, 60_000);

test("a copy owns its bytes: what is copied, and what it was copied from, read back as they were", async () => {
  const client = s3.client();
  await Promise.all(
    bodies.map((_, i) => client.send(new sdk.CopyObjectCommand({ Bucket, Key: `copy${i}`, CopySource: `${Bucket}/k${i}` }))),
  );
  for (const [i, body] of bodies.entries()) for (const key of [`copy${i}`, `k${i}`]) expect(sum(await get(key))).toBe(sum(body));
}, 60_000);

test("of a large chunk two damaged fragments are made good, and with a third no byte of it leaves", async () => {
  const body = Buffer.from(pattern(3 * MiB, 77));
  await put("damaged", body);
  const found = (await chunkPage(s3.rig.store, undefined, 1000)).chunks.map(({ doc }) => doc as ChunkDoc);
  const { fragments } = found.find(({ size }) => size === body.length) as ChunkDoc;
  const damage = async (i: number): Promise<void> => {
    const { device = "", extent } = fragments[i] ?? {};
    const stored = (await s3.rig.extents(device)).find(({ name }) => name === extent);
    if (stored !== undefined) await flipExtent(stored);
  };
  await damage(0);
  await damage(2);
  expect(sum(await get("damaged"))).toBe(sum(body));
  for (const i of [1, 3, 4, 5]) await damage(i);
  await expect(get("damaged")).rejects.toMatchObject({ name: "InternalError" });
});
