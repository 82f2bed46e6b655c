import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { ReplicationConfiguration } from "@aws-sdk/client-s3";
import { openS3Replicas, type ReplicaTarget } from "@seneschal/adapters/replicas";
import { destinationArn, type ObjectVersion } from "@seneschal/core/storage";
import { CodedError } from "@seneschal/kernel";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { sourceOptions } from "../../../../tools/source-options.ts";
import { storageSettings } from "../../src/storage/index.ts";
import { expireVersions } from "../../src/storage/jobs/expire-versions.ts";
import { setBucketQuota } from "../../src/storage/objects/bucket-usage.ts";
import { changeBucket, createBucket } from "../../src/storage/objects/buckets.ts";
import { deleteObject } from "../../src/storage/objects/delete-object.ts";
import { listVersions } from "../../src/storage/objects/list-keys.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { awaitReplication } from "../../src/storage/objects/replication-puts.ts";
import { findVersion } from "../../src/storage/objects/versions.ts";
import type { BucketDestination } from "../../src/storage/replicate/open-replication.ts";
import { servers, startStorage } from "./harness.ts";
import { openDiskNode } from "./kill-child.ts";
import { destinationsAt } from "./kill-replication-child.ts";
import { bytesOf, operator, pattern } from "./rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { signedFetch } from "./signed-fetch.ts";

const tenant = "alpha";
const Bucket = "docs";
const rigs: S3Rig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.dispose();
});

async function openSite(destinations: ReadonlyMap<string, BucketDestination> = new Map()): Promise<S3Rig> {
  const site = await openS3Rig({ devices: 3, data: 2, parity: 1, tenants: [tenant], extra: { destinations } });
  rigs.push(site);
  return site;
}
/** A site as others copy to it. */
async function to({ gateway, keys }: Pick<S3Rig, "gateway" | "keys">, ...tenants: string[]): Promise<BucketDestination> {
  const target = await openS3Replicas({
    endpoint: gateway.url,
    region: "us-east-1",
    accessKey: keys.access_key,
    secretKey: async () => keys.secret_key,
    timeoutMs: 60_000,
  });
  return { target, tenants: new Set(tenants.length === 0 ? [tenant] : tenants) };
}
const versioned = { versioning: "Enabled" } as const;
const makeBucket = (site: S3Rig, name = Bucket, given: object = versioned) =>
  createBucket(site.rig.node.objects, tenant, name, "us-east-1", given);
type Rule = NonNullable<ReplicationConfiguration["Rules"]>[number];
const rule = (more: Partial<Rule> = {}): Rule => ({
  ID: "all",
  Priority: 1,
  Status: "Enabled",
  Filter: { Prefix: "" },
  DeleteMarkerReplication: { Status: "Enabled" },
  Destination: { Bucket: destinationArn({ name: "west", bucket: "copies" }) },
  ...more,
});
const replicate = (site: S3Rig, ...rules: Rule[]) =>
  site.client().send(
    new sdk.PutBucketReplicationCommand({
      Bucket,
      ReplicationConfiguration: { Role: "arn:aws:iam::alpha:role/copy", Rules: rules },
    }),
  );
const versionsOf = async (site: S3Rig, bucket: string) => {
  const { Versions = [], DeleteMarkers = [] } = await site.client().send(new sdk.ListObjectVersionsCommand({ Bucket: bucket }));
  return [...Versions, ...DeleteMarkers].map(({ Key, VersionId, IsLatest }) => `${Key} ${VersionId} ${IsLatest}`).sort();
};
const status = async (site: S3Rig, Key: string, bucket = Bucket) =>
  (await site.client().send(new sdk.HeadObjectCommand({ Bucket: bucket, Key }))).ReplicationStatus;
const pending = (site: S3Rig) => site.rig.store.count("storage_replications", "by_queue", []);

/** Two sites, the first of which copies a bucket to the second. */
async function openPair(...rules: Rule[]) {
  const west = await openSite();
  await makeBucket(west, "copies");
  const east = await openSite(new Map([["west", await to(west)]]));
  await makeBucket(east);
  await replicate(east, ...(rules.length === 0 ? [rule()] : rules));
  return { east, west };
}

test("a version is copied with its id, time, bytes, type, headers, metadata, tags and checksum, and says so on both sides", async () => {
  const { east, west } = await openPair();
  const put = await east.client().send(
    new sdk.PutObjectCommand({
      Bucket,
      Key: "a/ö +%&?.txt",
      Body: "hello",
      ContentType: "text/plain; charset=utf-8",
      CacheControl: "max-age=3",
      ContentEncoding: "identity",
      ContentDisposition: 'attachment; filename="a b.txt"',
      ContentLanguage: "de",
      Metadata: { colour: "red", "two-words": "a  b" },
      Tagging: "k=v&a+b=c%2Bd",
      ChecksumAlgorithm: "SHA256",
    }),
  );
  expect(await status(east, "a/ö +%&?.txt")).toBe("PENDING");
  await east.rig.node.replication.copy();
  expect(await status(east, "a/ö +%&?.txt")).toBe("COMPLETED");
  const read = (site: S3Rig, bucket: string) =>
    site.client().send(new sdk.GetObjectCommand({ Bucket: bucket, Key: "a/ö +%&?.txt", ChecksumMode: "ENABLED" }));
  const [source, copy] = [await read(east, Bucket), await read(west, "copies")];
  expect(await copy.Body?.transformToString()).toBe("hello");
  const told = ({ $metadata: _, Body: __, ReplicationStatus: ___, ...rest }: typeof source) => rest;
  expect(told(copy)).toEqual(told(source));
  expect(copy).toMatchObject({ VersionId: put.VersionId, ReplicationStatus: "REPLICA", ChecksumSHA256: put.ChecksumSHA256 });
  const tags = (site: S3Rig, bucket: string) =>
    site.client().send(new sdk.GetObjectTaggingCommand({ Bucket: bucket, Key: "a/ö +%&?.txt" }));
  expect((await tags(west, "copies")).TagSet).toEqual((await tags(east, Bucket)).TagSet);
  expect(await pending(east)).toBe(0);
});

const header = fc
  .string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((c) => c !== 0x7f && (c < 0x80 || c > 0x9f))
      .map((c) => String.fromCharCode(c)),
    maxLength: 40,
  })
  .map((text) => text.trim());
const utf8 = fc.string({ unit: "binary", minLength: 1, maxLength: 12 }).filter((text) => !/\0|\p{Surrogate}/u.test(text));

test("whatever keys, types and metadata may be, copies have them byte by byte", { timeout: 120_000 }, async () => {
  const { east, west } = await openPair();
  const described = ({ key, size, etag, content_type, headers, meta, tags, version_id }: ObjectVersion) => ({
    key,
    size,
    etag,
    content_type,
    headers,
    meta,
    tags,
    version_id,
  });
  await fc.assert(
    fc.asyncProperty(utf8, header, header, fc.integer({ min: 0, max: 9000 }), async (key, value, other, length) => {
      const made = await putObject(east.rig.node.objects, {
        tenant,
        bucket: Bucket,
        key,
        body: bytesOf(pattern(length)),
        contentType: "a/b",
        headers: { "content-disposition": value, "cache-control": other },
        meta: { one: value, two: other },
      });
      await east.rig.node.replication.copy();
      const copy = await findVersion(west.rig.node.objects, { bucket: "copies", key });
      expect(copy && described(copy.doc)).toEqual(described(made));
    }),
    {
      numRuns: 60,
      endOnFailure: true,
      examples: [".", "..", "a/../b", "/", "//a//", "a/./"].map((key): [string, string, string, number] => [key, "", "", 1]),
    },
  );
});

test("every version and delete marker of a key is there under its name and in its order; a version that is removed by name is removed here alone", async () => {
  const { east, west } = await openPair();
  const client = east.client();
  const put = (Body: string) => client.send(new sdk.PutObjectCommand({ Bucket, Key: "k", Body }));
  const first = await put("1");
  await put("2");
  await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: "k" }));
  await put("3");
  const unsent = await put("4");
  await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: "k", VersionId: unsent.VersionId }));
  await east.rig.node.replication.copy();
  const all = await versionsOf(east, Bucket);
  expect(all).toHaveLength(4);
  expect(await versionsOf(west, "copies")).toEqual(all);
  await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: "k", VersionId: first.VersionId }));
  await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: "k" }));
  await east.rig.node.replication.copy();
  expect(await versionsOf(west, "copies")).toHaveLength(5);
  expect(await pending(east)).toBe(0);
});

test("an object that was made of parts is made of the same parts, with the ETag and the checksum of them", async () => {
  const { east, west } = await openPair();
  const client = east.client();
  for (const [Key, ChecksumType] of [
    ["composite", "COMPOSITE"],
    ["whole", "FULL_OBJECT"],
  ] as const) {
    const target = { Bucket, Key };
    const { UploadId } = await client.send(
      new sdk.CreateMultipartUploadCommand({ ...target, ChecksumAlgorithm: "CRC32", ChecksumType }),
    );
    const Parts = [];
    for (const [PartNumber, Body] of [
      [2, pattern(5 << 20)],
      [5, pattern(100)],
    ] as const) {
      const { ETag, ChecksumCRC32 } = await client.send(
        new sdk.UploadPartCommand({ ...target, UploadId, PartNumber, Body, ChecksumAlgorithm: "CRC32" }),
      );
      Parts.push({ PartNumber, ETag, ChecksumCRC32 });
    }
    await client.send(new sdk.CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }));
  }
  await east.rig.node.replication.copy();
  for (const Key of ["composite", "whole"]) {
    const head = async (site: S3Rig, bucket: string) => {
      const {
        $metadata: _,
        ReplicationStatus: __,
        ...rest
      } = await site.client().send(new sdk.HeadObjectCommand({ Bucket: bucket, Key, ChecksumMode: "ENABLED" }));
      return rest;
    };
    const copy = await head(west, "copies");
    expect(copy).toEqual(await head(east, Bucket));
    expect(copy.ETag).toMatch(/-2"$/);
    expect(copy.ChecksumCRC32).toBeDefined();
  }
  const { Uploads } = await west.client().send(new sdk.ListMultipartUploadsCommand({ Bucket: "copies" }));
  expect(Uploads ?? []).toEqual([]);
});

test("what no rule covers is not copied, and tells no status: another prefix, other tags, another's key, what was there before, the doing of a lifecycle", async () => {
  const { east, west } = await openPair(
    rule({
      ID: "tagged",
      Priority: 1,
      Filter: { And: { Prefix: "in/", Tags: [{ Key: "k", Value: "v" }] } },
      DeleteMarkerReplication: { Status: "Disabled" },
    }),
    rule({ ID: "logs", Priority: 2, Filter: { Prefix: "logs/" } }),
    rule({ ID: "off", Priority: 3, Status: "Disabled", Filter: { Prefix: "off/" } }),
  );
  const client = east.client();
  const put = (Key: string, more: object = {}) => client.send(new sdk.PutObjectCommand({ Bucket, Key, Body: "x", ...more }));
  await put("in/tagged", { Tagging: "k=v&z=1" });
  await put("in/plain");
  await put("out/tagged", { Tagging: "k=v" });
  await put("off/a");
  await put("logs/a");
  await put("logs/kms", { ServerSideEncryption: "aws:kms" });
  await put("logs/customer", { SSECustomerAlgorithm: "AES256", SSECustomerKey: Buffer.alloc(32, 7).toString("base64") });
  await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: "in/tagged" }));
  await client.send(
    new sdk.PutBucketLifecycleConfigurationCommand({
      Bucket,
      LifecycleConfiguration: { Rules: [{ ID: "r", Status: "Enabled", Filter: { Prefix: "logs/" }, Expiration: { Days: 1 } }] },
    }),
  );
  east.rig.clock.advance(3 * 86_400_000);
  expect(await expireVersions(east.rig.node.parts)).toBeGreaterThan(0);
  east.rig.clock.set(Date.now());
  await east.rig.node.replication.copy();
  const keys = (await versionsOf(west, "copies")).map((line) => line.split(" ")[0]);
  expect(keys).toEqual(["in/tagged", "logs/a"]);
  expect(await status(east, "in/plain")).toBeUndefined();
  expect(await pending(east)).toBe(0);
});

/** A site that is there later. */
function later(): { readonly destination: BucketDestination; be(site: S3Rig): Promise<void> } {
  let target: ReplicaTarget | undefined;
  const there = (): ReplicaTarget => target ?? expect.fail("nobody is there yet");
  return {
    destination: {
      tenants: new Set([tenant]),
      target: {
        open: (...args) => there().open(...args),
        put: (...args) => there().put(...args),
        describe: (...args) => there().describe(...args),
        putMarker: (...args) => there().putMarker(...args),
        close: () => target?.close(),
      },
    },
    async be(site) {
      target = (await to(site)).target;
    },
  };
}
const copyTo = (name: string, bucket: string) =>
  ({
    rules: [
      { id: "r", enabled: true, form: "filter", filter: {}, priority: 1, destination: { name, bucket }, deleteMarkers: true },
    ],
  }) as const;

test("buckets that copy to each other come to an end with the same versions, whoever wrote what and whoever copies first", {
  timeout: 120_000,
}, async () => {
  const toEast = later();
  const west = await openSite(new Map([["east", toEast.destination]]));
  await makeBucket(west, "copies", { ...versioned, replication: copyTo("east", Bucket) });
  const east = await openSite(new Map([["west", await to(west)]]));
  await makeBucket(east, Bucket, { ...versioned, replication: copyTo("west", "copies") });
  await toEast.be(east);
  const sites = [
    { site: east, bucket: Bucket },
    { site: west, bucket: "copies" },
  ] as const;
  const step = fc.record({
    at: fc.constantFrom(0 as const, 1 as const),
    key: fc.constantFrom("a", "b"),
    act: fc.constantFrom("put", "put", "delete", "copy", "later"),
  });
  let n = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      for (const { at, key, act } of steps) {
        const { site, bucket } = sites[at];
        const { node } = site.rig;
        if (act === "put")
          await putObject(node.objects, {
            tenant,
            bucket,
            key,
            body: bytesOf(pattern(9, ++n)),
            contentType: "",
            headers: {},
            meta: {},
          });
        else if (act === "delete") await deleteObject(node.objects, tenant, bucket, key);
        else if (act === "copy") await node.replication.copy();
        else site.rig.clock.advance(1);
      }
      for (const { site } of sites) await site.rig.node.replication.copy();
      // Copies are copied no further.
      for (const { site } of sites) expect(await pending(site)).toBe(0);
      expect(await versionsOf(west, "copies")).toEqual(await versionsOf(east, Bucket));
    }),
    { numRuns: 25 },
  );
});

const failing = (site: S3Rig) => site.rig.node.background.failing();
const counted = async (site: S3Rig, outcome: string, destination = "west") => {
  const metric = await site.rig.node.metrics.replications.get();
  return metric.values.find(({ labels }) => labels.outcome === outcome && labels.destination === destination)?.value ?? 0;
};
const put = (site: S3Rig, Key: string, more: object = {}) =>
  site.client().send(new sdk.PutObjectCommand({ Bucket, Key, Body: Key, ...more }));

test("a destination that is away fails its step and holds up no other; all that waits is copied once it is back", async () => {
  const west = await openSite();
  await makeBucket(west, "copies");
  const north = later();
  let away = true;
  const site = await openSite();
  await makeBucket(site, "copies");
  const { target } = await to(site);
  const east = await openSite(
    new Map([
      ["west", await to(west)],
      [
        "north",
        { ...north.destination, target: { ...target, open: async (bucket) => (away ? unreached() : target.open(bucket)) } },
      ],
    ]),
  );
  await makeBucket(east);
  const both = [
    rule(),
    rule({ ID: "north", Priority: 2, Destination: { Bucket: destinationArn({ name: "north", bucket: "copies" }) } }),
  ];
  await replicate(east, ...both);
  east.rig.node.start();
  await put(east, "a");
  await vi.waitFor(async () => expect(failing(east)).toEqual(["replication to north"]), { timeout: 30_000 });
  await vi.waitFor(async () => expect(await counted(east, "taken")).toBe(1), { timeout: 30_000 });
  expect(await status(east, "a")).toBe("PENDING");
  expect(await status(west, "a", "copies")).toBe("REPLICA");
  east.rig.clock.advance(30_000);
  await east.rig.node.tick();
  const lag = async () => (await east.rig.node.metrics.replicationLag.get()).values;
  expect(await lag()).toEqual([{ labels: { destination: "north", bucket: "docs:copies" }, value: 30 }]);
  expect((await east.rig.node.metrics.replicationVersions.get()).values).toMatchObject([{ value: 1 }]);
  expect((await east.rig.node.metrics.replicationWaitingBytes.get()).values).toMatchObject([{ value: 1 }]);
  await put(east, "b");
  await vi.waitFor(async () => expect(await counted(east, "taken")).toBe(2), { timeout: 30_000 });
  away = false;
  east.rig.clock.advance(61_000);
  await east.rig.node.tick();
  await vi.waitFor(async () => expect(await pending(east)).toBe(0), { timeout: 30_000 });
  await vi.waitFor(() => expect(failing(east)).toEqual([]), { timeout: 30_000 });
  expect([await status(east, "a"), await status(site, "b", "copies")]).toEqual(["COMPLETED", "REPLICA"]);
  await east.rig.node.tick();
  expect(await lag()).toEqual([]);
});
function unreached(): never {
  throw new CodedError("replica_unreached", "away");
}

test("a bucket that is not there, or keeps no versions, holds up its own copies alone", async () => {
  const { east, west } = await openPair(
    rule({ Filter: { Prefix: "a" } }),
    rule({
      ID: "none",
      Priority: 2,
      Filter: { Prefix: "b" },
      Destination: { Bucket: destinationArn({ name: "west", bucket: "none" }) },
    }),
    rule({
      ID: "plain",
      Priority: 3,
      Filter: { Prefix: "c" },
      Destination: { Bucket: destinationArn({ name: "west", bucket: "plain" }) },
    }),
  );
  await makeBucket(west, "plain", {});
  for (const key of ["b", "c", "a"]) await put(east, key);
  const { node } = east.rig;
  await node.replication.copy();
  expect([await status(east, "a"), await status(east, "b"), await status(east, "c")]).toEqual([
    "COMPLETED",
    "PENDING",
    "PENDING",
  ]);
  await makeBucket(west, "none");
  await changeBucket(west.rig.node.objects, tenant, "plain", "versioning", (bucket) => ({ ...bucket, ...versioned }));
  // Not before its time.
  await node.replication.copy();
  expect(await pending(east)).toBe(2);
  east.rig.clock.advance(1000);
  await node.replication.copy();
  expect([await status(east, "b"), await status(east, "c")]).toEqual(["COMPLETED", "COMPLETED"]);
  expect(failing(east)).toEqual([]);
});

test("a version that is refused for what it is has FAILED, is counted and told, and holds up nothing behind it", async () => {
  const west = await openSite();
  await makeBucket(west, "copies");
  const { target } = await to(west);
  const refusing: ReplicaTarget = {
    ...target,
    async put(bucket, replica, signal) {
      if (replica.key === "bad") throw new CodedError("replica_refused", "no");
      return target.put(bucket, replica, signal);
    },
  };
  const east = await openSite(new Map([["west", { target: refusing, tenants: new Set([tenant]) }]]));
  await makeBucket(east);
  await replicate(east, rule());
  for (const key of ["bad", "good", "bad"]) await put(east, key);
  await east.rig.node.replication.copy();
  expect([await status(east, "bad"), await status(east, "good"), await pending(east)]).toEqual(["FAILED", "COMPLETED", 0]);
  expect(await counted(east, "refused")).toBe(2);
  expect(east.rig.node.events.query({ since: 0, limit: 100 }).map(({ message }) => message)).toContain(
    "versions are not taken where they are to be copied: they stay here alone",
  );
});

test("a version that is denied waits by itself, with the later ones of its key, holds up no other, and has FAILED the tenth time", async () => {
  const west = await openSite();
  await makeBucket(west, "copies");
  const { target } = await to(west);
  let asked = 0;
  let denies = true;
  const denying: ReplicaTarget = {
    ...target,
    async put(bucket, replica, signal) {
      if (replica.key.startsWith("denied")) asked += 1;
      if (denies && replica.key.startsWith("denied")) throw new CodedError("replica_denied", "no");
      return target.put(bucket, replica, signal);
    },
  };
  const east = await openSite(new Map([["west", { target: denying, tenants: new Set([tenant]) }]]));
  await makeBucket(east);
  await replicate(east, rule());
  const { replication } = east.rig.node;
  // More than are looked at at a time.
  const keys = Array.from({ length: 105 }, (_, i) => `denied-${i}`);
  for (const key of [...keys, "denied-0", "good"]) await put(east, key);
  await replication.copy();
  expect([asked, await status(east, "good"), await pending(east)]).toEqual([keys.length, "COMPLETED", keys.length + 1]);
  expect(failing(east)).toEqual([]);
  // Not before its time, also when others are.
  await put(east, "better");
  await replication.copy();
  expect([asked, await status(east, "better")]).toEqual([keys.length, "COMPLETED"]);
  denies = false;
  east.rig.clock.advance(1000);
  await replication.copy();
  expect([await status(east, "denied-0"), await pending(east)]).toEqual(["COMPLETED", 0]);
  expect(await versionsOf(west, "copies")).toEqual(await versionsOf(east, Bucket));
  denies = true;
  await put(east, "denied");
  for (let i = 0; i < 9; i++) {
    await replication.copy();
    expect(await status(east, "denied")).toBe("PENDING");
    east.rig.clock.advance(60_000);
  }
  await replication.copy();
  expect([await status(east, "denied"), await pending(east)]).toEqual(["FAILED", 0]);
});

const events = (site: S3Rig, begins: string) =>
  site.rig.node.events.query({ since: 0, limit: 1000 }).filter(({ message }) => message.startsWith(begins));

/** Two sites whose destination is asked through what `over` makes of it. */
async function openOver(over: (target: ReplicaTarget) => Partial<ReplicaTarget>) {
  const west = await openSite();
  await makeBucket(west, "copies");
  const { target } = await to(west);
  const east = await openSite(new Map([["west", { target: { ...target, ...over(target) }, tenants: new Set([tenant]) }]]));
  await makeBucket(east);
  await replicate(east, rule());
  return { east, west };
}

test("whatever number of versions is not taken, operators hear of a bucket once a minute, with how many and one of them", async () => {
  const { east } = await openOver((target) => ({
    async put(bucket, replica, signal) {
      if (replica.key.startsWith("bad")) throw new CodedError("replica_refused", "no");
      return target.put(bucket, replica, signal);
    },
  }));
  const { replication } = east.rig.node;
  const told = () => events(east, "versions are not taken").map(({ details }) => details["versions"]);
  for (let i = 0; i < 5; i++) await put(east, `bad-${i}`);
  await replication.copy();
  expect(told()).toEqual([5]);
  expect(events(east, "versions are not taken")[0]?.details).toMatchObject({ bucket: Bucket, into: "copies", error: "no" });
  for (let i = 5; i < 8; i++) {
    await put(east, `bad-${i}`);
    await replication.copy();
  }
  await replication.watch();
  expect(told()).toEqual([5]);
  east.rig.clock.advance(60_000);
  await replication.watch();
  await replication.watch();
  expect(told()).toEqual([3, 5]);
});

test("a version that finds no room waits with those as large, never to fail, while smaller ones and delete markers are copied", async () => {
  const sent: string[] = [];
  let room = 3;
  const { east } = await openOver((target) => ({
    async put(bucket, replica, signal) {
      sent.push(replica.key);
      const size = replica.parts.reduce((sum, part) => sum + part.size, 0);
      if (size > room) throw new CodedError("replica_full", "full");
      return target.put(bucket, replica, signal);
    },
  }));
  const { replication } = east.rig.node;
  const sized = (Key: string, size: number) => put(east, Key, { Body: Buffer.alloc(size) });
  await sized("huge", 100);
  await replication.copy();
  for (const key of ["as-large", "larger"]) await sized(key, key === "larger" ? 101 : 100);
  await sized("small", 3);
  await sized("huge", 1);
  await sized("gone", 2);
  await east.client().send(new sdk.DeleteObjectCommand({ Bucket, Key: "gone" }));
  await replication.copy();
  expect(sent.sort()).toEqual(["gone", "huge", "small"]);
  const states = async () => Promise.all(["huge", "as-large", "larger", "small"].map((key) => status(east, key)));
  expect(await states()).toEqual(["PENDING", "PENDING", "PENDING", "COMPLETED"]);
  expect([await pending(east), failing(east)]).toEqual([4, []]);
  // However often: a quota is given anew, or room is made.
  for (let i = 0; i < 10; i++) {
    east.rig.clock.advance(60_000);
    await replication.copy();
  }
  expect(await states()).toEqual(["PENDING", "PENDING", "PENDING", "COMPLETED"]);
  expect(events(east, "a bucket has no room")).toHaveLength(1);
  // Not kept by what is larger.
  room = 100;
  east.rig.clock.advance(60_000);
  await replication.copy();
  east.rig.clock.advance(60_000);
  await replication.copy();
  expect(await states()).toEqual(["COMPLETED", "COMPLETED", "PENDING", "COMPLETED"]);
  room = 101;
  east.rig.clock.advance(60_000);
  await replication.copy();
  expect([await status(east, "larger"), await pending(east)]).toEqual(["COMPLETED", 0]);
  expect(events(east, "a bucket has room")).not.toEqual([]);
});

test("a queue of which much waits for room is looked through again when some may be there, however much is written meanwhile", async () => {
  let room = 3;
  let asked = 0;
  const { east } = await openOver((target) => ({
    async open(bucket) {
      asked += 1;
      return target.open(bucket);
    },
    async put(bucket, replica, signal) {
      if (replica.parts.reduce((sum, part) => sum + part.size, 0) > room) throw new CodedError("replica_full", "full");
      return target.put(bucket, replica, signal);
    },
  }));
  const { replication } = east.rig.node;
  const sized = (key: string, size: number) =>
    putObject(east.rig.node.objects, {
      tenant,
      bucket: Bucket,
      key,
      body: bytesOf(pattern(size)),
      contentType: "",
      headers: {},
      meta: {},
    });
  // More than are looked at at a time.
  for (let i = 0; i < 105; i++) await sized(`k${i}`, 4);
  await replication.copy();
  const before = asked;
  await sized("small", 1);
  await replication.copy();
  expect([asked, await pending(east)]).toEqual([before, 106]);
  east.rig.clock.advance(1000);
  await replication.copy();
  expect([await status(east, "small"), await pending(east)]).toEqual(["COMPLETED", 105]);
  room = 4;
  east.rig.clock.advance(60_000);
  await replication.copy();
  expect(await pending(east)).toBe(0);
});

test("a quota there that is used up is no room, and one that is raised is", async () => {
  const { east, west } = await openPair();
  const quota = (max_bytes: number) => setBucketQuota(west.rig.node.objects, "copies", { max_bytes }, operator);
  await quota(10);
  await put(east, "k", { Body: Buffer.alloc(11) });
  await put(east, "small", { Body: "x" });
  await east.rig.node.replication.copy();
  expect([await status(east, "k"), await status(east, "small")]).toEqual(["PENDING", "COMPLETED"]);
  await quota(100);
  east.rig.clock.advance(1000);
  await east.rig.node.replication.copy();
  expect([await status(east, "k"), await pending(east)]).toEqual(["COMPLETED", 0]);
});

test("parts of a description that are not taken leave the copy, and the other parts; later changes are told again", async () => {
  let denied: readonly string[] = ["PutObjectTagging"];
  const west = await openSite();
  await makeBucket(west, "copies", { ...versioned, object_lock: {} });
  const { target } = await to(west);
  const asked: string[] = [];
  const east = await openSite(
    new Map([
      [
        "west",
        {
          tenants: new Set([tenant]),
          target: {
            ...target,
            async put(bucket, replica, signal) {
              asked.push("put");
              return target.put(bucket, replica, signal);
            },
            async describe(bucket, replica, locks, signal) {
              asked.push("describe");
              // As a policy there that denies tags has it.
              await target.describe(bucket, denied.length > 0 ? { ...replica, tags: [] } : replica, locks, signal);
              if (denied.length > 0) throw new CodedError("replica_denied", "tags: no", { parts: ["tags"] });
            },
          },
        },
      ],
    ]),
  );
  await makeBucket(east, Bucket, { ...versioned, object_lock: {} });
  await replicate(east, rule());
  const { replication } = east.rig.node;
  const client = east.client();
  const tag = (Value: string) =>
    client.send(new sdk.PutObjectTaggingCommand({ Bucket, Key: "k", Tagging: { TagSet: [{ Key: "k", Value }] } }));
  const keep = (RetainUntilDate: Date) =>
    client.send(new sdk.PutObjectRetentionCommand({ Bucket, Key: "k", Retention: { Mode: "COMPLIANCE", RetainUntilDate } }));
  const keptThere = async () =>
    (await west.client().send(new sdk.HeadObjectCommand({ Bucket: "copies", Key: "k" }))).ObjectLockRetainUntilDate;
  const days = (count: number) => new Date(Date.now() + count * 86_400_000);
  await put(east, "k");
  await tag("v");
  for (let i = 0; i < 10; i++) {
    await replication.copy();
    east.rig.clock.advance(60_000);
  }
  // Its bytes were sent once.
  expect(asked).toEqual(["put", ...Array.from({ length: 10 }, () => "describe")]);
  const state = async () => (await findVersion(east.rig.node.objects, { bucket: Bucket, key: "k" }))?.doc.replication;
  expect([await state(), await status(east, "k"), await pending(east)]).toEqual([{ "west/copies": "UNDESCRIBED" }, "FAILED", 0]);
  expect(events(east, "versions are not taken")).toEqual([]);
  expect(events(east, "tags or locks of versions")[0]?.details).toMatchObject({ key: "k", error: "tags: no" });
  // The lock goes on, though tags do not.
  const until = days(3);
  await keep(until);
  await replication.copy();
  expect(await keptThere()).toEqual(until);
  denied = [];
  await tag("w");
  await replication.copy();
  east.rig.clock.advance(60_000);
  await replication.copy();
  const { TagSet } = await west.client().send(new sdk.GetObjectTaggingCommand({ Bucket: "copies", Key: "k" }));
  expect([TagSet, await status(east, "k")]).toEqual([[{ Key: "k", Value: "w" }], "COMPLETED"]);
  expect(asked.filter((one) => one === "put")).toHaveLength(1);
});

test("a version whose name has other bytes at the destination, or a delete marker's that is a version there, has FAILED", async () => {
  const { east, west } = await openPair();
  const write = async (key: string, VersionId: string | undefined) => {
    const headers = { "x-seneschal-replica-version": VersionId ?? "" };
    const path = `/copies/${key}`;
    const { status: code } = await signedFetch(west, { method: "PUT", path, headers, body: Buffer.from("others") });
    expect(code).toBe(200);
  };
  await write("k", (await put(east, "k")).VersionId);
  await put(east, "marker");
  await write("marker", (await east.client().send(new sdk.DeleteObjectCommand({ Bucket, Key: "marker" }))).VersionId);
  await put(east, "same");
  await east.rig.node.replication.copy();
  expect([await status(east, "k"), await status(east, "same"), await pending(east)]).toEqual(["FAILED", "COMPLETED", 0]);
  const marker = await findVersion(east.rig.node.objects, { bucket: Bucket, key: "marker" });
  expect(marker?.doc.replication).toEqual({ "west/copies": "FAILED" });
});

test("locks go with versions to a bucket that has them, and not to one that has none", async () => {
  const { east, west } = await openPair(
    rule(),
    rule({ ID: "locked", Priority: 2, Destination: { Bucket: destinationArn({ name: "west", bucket: "locked" }) } }),
  );
  await makeBucket(west, "locked", { ...versioned, object_lock: {} });
  await changeBucket(east.rig.node.objects, tenant, Bucket, "object-lock", (bucket) => ({ ...bucket, object_lock: {} }));
  const ObjectLockRetainUntilDate = new Date(Date.now() + 3_600_000);
  await put(east, "k", { ObjectLockMode: "COMPLIANCE", ObjectLockRetainUntilDate, ObjectLockLegalHoldStatus: "ON" });
  await east.rig.node.replication.copy();
  const head = (bucket: string) => west.client().send(new sdk.HeadObjectCommand({ Bucket: bucket, Key: "k" }));
  const lock = { ObjectLockMode: "COMPLIANCE", ObjectLockRetainUntilDate, ObjectLockLegalHoldStatus: "ON" };
  expect(await head("locked")).toMatchObject(lock);
  expect(await head("copies")).not.toHaveProperty("ObjectLockMode");
});

test("an answer that was lost, and a process that died, make no version twice", async () => {
  const west = await openSite();
  await makeBucket(west, "copies");
  const { target } = await to(west);
  const losing: ReplicaTarget = {
    ...target,
    async put(...args) {
      await target.put(...args);
      unreached();
    },
    async putMarker(...args) {
      await target.putMarker(...args);
      unreached();
    },
  };
  const destination: { target: ReplicaTarget; tenants: ReadonlySet<string> } = { target: losing, tenants: new Set([tenant]) };
  const east = await openSite(new Map([["west", destination]]));
  await makeBucket(east);
  await replicate(east, rule());
  await put(east, "k");
  await east.rig.node.replication.copy();
  expect(await status(east, "k")).toBe("PENDING");
  await east.client().send(new sdk.DeleteObjectCommand({ Bucket, Key: "k" }));
  for (let i = 0; i < 4; i++) {
    east.rig.clock.advance(60_000);
    await east.rig.node.replication.copy();
  }
  expect(await pending(east)).toBe(2);
  expect(await versionsOf(west, "copies")).toHaveLength(1);
  losing.put = target.put;
  east.rig.clock.advance(60_000);
  await east.rig.node.replication.copy();
  losing.putMarker = target.putMarker;
  east.rig.clock.advance(60_000);
  await east.rig.node.replication.copy();
  expect(await pending(east)).toBe(0);
  expect(await versionsOf(west, "copies")).toEqual(await versionsOf(east, Bucket));
});

/** After how many acknowledged writes a process is killed. */
const kills = [20, 33, 46];

test("kill -9 in the middle of copying: what was acknowledged is copied, once, and the copies are the versions of the source", {
  timeout: 120_000 * kills.length,
}, async () => {
  const west = await openSite();
  await makeBucket(west, "copies");
  const directory = await mkdtemp(join(tmpdir(), "seneschal-kill-copy-"));
  const { gateway, keys } = west;
  for (const acknowledged of kills) {
    const child = fileURLToPath(new URL("kill-replication-child.ts", import.meta.url));
    const args = [
      ...sourceOptions,
      child,
      "copy",
      directory,
      gateway.url,
      keys.access_key,
      keys.secret_key,
      `${acknowledged + 20}`,
    ];
    const process = spawn(globalThis.process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
    let lines = 0;
    for await (const _ of createInterface({ input: process.stdout })) if (++lines === acknowledged) process.kill("SIGKILL");
    const destinations = await destinationsAt(gateway.url, keys.access_key, keys.secret_key);
    const { node, close } = await openDiskNode(directory, 0, { destinations });
    await node.replication.copy();
    const query = { prefix: "", delimiter: "", after: "", limit: 1000 };
    const listed = async (objects: typeof node.objects, bucket: string) =>
      (await listVersions(objects, { ...query, bucket })).items.map(
        (v) => `${v.key} ${v.version_id} ${v.delete_marker} ${v.etag}`,
      );
    const all = await listed(node.objects, "source");
    expect(all.length).toBeGreaterThanOrEqual(lines);
    expect(await listed(west.rig.node.objects, "copies")).toEqual(all);
    expect(await node.context.store.count("storage_replications", "by_queue", [])).toBe(0);
    await close();
  }
  await rm(directory, { recursive: true, force: true });
});

test("what waited when the bucket's rules ended is given up; after a restore what waited waits again", async () => {
  const { east, west } = await openPair();
  await put(east, "a");
  const { items } = await east.rig.store.list("storage_replications", "by_queue", [], { limit: 10 });
  const dels = items.map(({ id }) => ({ coll: "storage_replications", id }));
  await east.rig.store.commit({ commitId: "restored", dels });
  await awaitReplication(east.rig.node.context);
  await east.rig.node.replication.copy();
  expect([await status(east, "a"), await status(west, "a", "copies")]).toEqual(["COMPLETED", "REPLICA"]);
  await put(east, "b");
  await east.client().send(new sdk.DeleteBucketReplicationCommand({ Bucket }));
  await expect(east.client().send(new sdk.GetBucketReplicationCommand({ Bucket }))).rejects.toMatchObject({
    name: "ReplicationConfigurationNotFoundError",
  });
  await east.rig.node.replication.copy();
  expect([await pending(east), await status(east, "b"), (await versionsOf(west, "copies")).length]).toEqual([0, undefined, 1]);
});

describe("a configuration", () => {
  const destination = (arn = destinationArn({ name: "west", bucket: "copies" })) =>
    `<Destination><Bucket>${arn}</Bucket></Destination>`;
  const markers = "<DeleteMarkerReplication><Status>Disabled</Status></DeleteMarkerReplication>";
  const one = (inner: string) => `<Rule>${inner}</Rule>`;
  const on = "<Status>Enabled</Status>";
  const filter = (inner = "<Prefix></Prefix>", priority = 1) =>
    `<Priority>${priority}</Priority><Filter>${inner}</Filter>${markers}`;
  const whole = on + filter() + destination();
  const tag = "<Tag><Key>k</Key><Value>v</Value></Tag>";
  test.each([
    ["without rules", "", "400 MalformedXML"],
    ["a rule without a status", one(filter() + destination()), "400 MalformedXML"],
    ["a status that is none", one(`<Status>On</Status>${filter()}${destination()}`), "400 MalformedXML"],
    ["a rule without a destination", one(on + filter()), "400 MalformedXML"],
    ["a filter without a priority", one(`${on}<Filter></Filter>${markers}${destination()}`), "400 InvalidRequest"],
    [
      "a filter without a word on delete markers",
      one(`${on}<Priority>1</Priority><Filter></Filter>${destination()}`),
      "400 InvalidRequest",
    ],
    [
      "a priority that is none",
      one(`${on}<Priority>-1</Priority><Filter></Filter>${markers}${destination()}`),
      "400 MalformedXML",
    ],
    ["delete markers by tags", one(on + filter(tag).replace("Disabled", "Enabled") + destination()), "400 InvalidRequest"],
    ["a filter of two conditions without And", one(on + filter(`<Prefix>a</Prefix>${tag}`) + destination()), "400 MalformedXML"],
    ["a filter and a prefix", one(`${whole}<Prefix>a</Prefix>`), "400 MalformedXML"],
    ["a prefix and a priority", one(`${on}<Prefix>a</Prefix><Priority>1</Priority>${destination()}`), "400 InvalidRequest"],
    [
      "prefixes that overlap",
      one(`${on}<Prefix>a</Prefix>${destination()}`) + one(`${on}<Prefix>ab</Prefix>${destination()}`),
      "400 InvalidRequest",
    ],
    ["a prefix beside a filter", one(`${on}<Prefix>a</Prefix>${destination()}`) + one(whole), "400 InvalidRequest"],
    ["a priority twice", one(whole) + one(whole), "400 InvalidRequest"],
    ["an id twice", one(`<ID>i</ID>${whole}`) + one(`<ID>i</ID>${on}${filter("", 2)}${destination()}`), "400 InvalidArgument"],
    ["an id too long", one(`<ID>${"i".repeat(256)}</ID>${whole}`), "400 InvalidArgument"],
    ["a destination that is no ARN", one(on + filter() + destination("copies")), "400 InvalidArgument"],
    ["a bucket of Amazon's", one(on + filter() + destination("arn:aws:s3:::copies")), "400 InvalidArgument"],
    [
      "a destination that is not configured",
      one(on + filter() + destination("arn:seneschal:replication::north:copies")),
      "400 InvalidRequest",
    ],
    [
      "a bucket there that is not for it",
      one(on + filter() + destination("arn:seneschal:replication::west:theirs")),
      "400 InvalidRequest",
    ],
    [
      "another tenant's destination",
      one(on + filter() + destination("arn:seneschal:replication::theirs:copies")),
      "400 InvalidRequest",
    ],
    [
      "another storage class",
      one(on + filter() + destination().replace("</Dest", "<StorageClass>GLACIER</StorageClass></Dest")),
      "400 InvalidStorageClass",
    ],
    ["another account's role", `<Role>arn:aws:iam::beta:role/r</Role>${one(whole)}`, "400 InvalidArgument"],
    ["a role that is none", `<Role>root</Role>${one(whole)}`, "400 InvalidArgument"],
    ["a time to be held", one(on + filter() + destination().replace("</Dest", "<ReplicationTime/></Dest")), "501 NotImplemented"],
    ["objects under keys of KMS", one(`${whole}<SourceSelectionCriteria/>`), "501 NotImplemented"],
    ["another owner", one(on + filter() + destination().replace("</Dest", "<Account>1</Account></Dest")), "501 NotImplemented"],
    ["an element that is none", one(`${whole}<Speed>1</Speed>`), "400 MalformedXML"],
  ])("of %s is refused before anything changes", async (_, inner, expected) => {
    const east = await openSite(
      new Map([
        ["west", { ...unused(tenant), buckets: new Set(["copies"]) }],
        ["theirs", unused("beta")],
      ]),
    );
    await makeBucket(east);
    const before = (await east.rig.store.changes(0, 10_000)).length;
    const { status: code, text } = await send(east, inner);
    expect(`${code} ${/<Code>(.*?)<\/Code>/.exec(text)?.[1]}`).toBe(expected);
    expect((await east.rig.store.changes(0, 10_000)).length).toBe(before);
    expect((await send(east, one(whole))).status).toBe(200);
  });
  test("that names what is not there is told which it is, the destination or its bucket, and nothing of other tenants", async () => {
    const east = await openSite(
      new Map([
        ["west", { ...unused(tenant), buckets: new Set(["copies"]) }],
        ["theirs", unused("beta")],
      ]),
    );
    await makeBucket(east);
    const said = async (name: string, bucket: string) => {
      const { status, text } = await send(east, one(whole.replace(/arn:[^<]*/, `arn:seneschal:replication::${name}:${bucket}`)));
      return [status, /<Message>(.*?)<\/Message>/.exec(text)?.[1]];
    };
    for (const name of ["nowhere", "theirs"])
      expect(await said(name, "copies")).toEqual([
        400,
        `No replication destination called ${name} is configured for this tenant.`,
      ]);
    expect(await said("west", "others")).toEqual([
      400,
      "The replication destination west is not configured for a bucket called others.",
    ]);
    expect((await said("west", "copies"))[0]).toBe(200);
  });
  const unused = (of: string): BucketDestination => ({ ...later().destination, tenants: new Set([of]) });
  const send = (site: S3Rig, body: string) =>
    signedFetch(site, {
      method: "PUT",
      path: `/${Bucket}`,
      query: { replication: "" },
      headers: {},
      body: Buffer.from(`<ReplicationConfiguration>${body}</ReplicationConfiguration>`),
    });

  test("is given back as it was given, in both forms, and needs a bucket that keeps versions, for as long as it stands", async () => {
    const east = await openSite(new Map([["west", unused(tenant)]]));
    await makeBucket(east, Bucket, {});
    const set = (...rules: Rule[]) => replicate(east, ...rules);
    await expect(set(rule())).rejects.toMatchObject({ name: "InvalidRequest" });
    const versioning = (Status: "Enabled" | "Suspended") =>
      east.client().send(new sdk.PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }));
    await versioning("Enabled");
    const given = [
      rule(),
      rule({
        ID: "b",
        Priority: 7,
        Status: "Disabled",
        Filter: { And: { Prefix: "p", Tags: [{ Key: "k", Value: "v" }] } },
        DeleteMarkerReplication: { Status: "Disabled" },
      }),
    ];
    await set(...given);
    const read = async () => (await east.client().send(new sdk.GetBucketReplicationCommand({ Bucket }))).ReplicationConfiguration;
    expect(await read()).toEqual({ Role: "arn:aws:iam::alpha:role/copy", Rules: given });
    const { Filter: _, Priority: __, DeleteMarkerReplication: ___, ...older } = rule();
    await set({ ...older, Prefix: "logs/" });
    expect((await read())?.Rules).toEqual([{ ...older, Prefix: "logs/" }]);
    await expect(versioning("Suspended")).rejects.toMatchObject({ name: "InvalidBucketState" });
    await east.client().send(new sdk.DeleteBucketReplicationCommand({ Bucket }));
    await versioning("Suspended");
  });
});

describe("who writes a version under a name of its own", () => {
  const name = "x-seneschal-replica-version";
  const version = (at = Date.now()) => at.toString(16).padStart(12, "0") + "ab".repeat(10);
  const write = (site: S3Rig, more: Partial<Parameters<typeof signedFetch>[1]> = {}) =>
    signedFetch(site, { method: "PUT", path: `/${Bucket}/k`, headers: { [name]: version() }, body: Buffer.from("x"), ...more });
  const code = async (answer: ReturnType<typeof write>) => {
    const { status: number, text } = await answer;
    return `${number} ${/<Code>(.*?)<\/Code>/.exec(text)?.[1]}`;
  };

  test("says so under its signature, in a form that versions have, to a bucket that keeps them, of a time that has come", async () => {
    const site = await openSite();
    await makeBucket(site);
    await makeBucket(site, "plain", {});
    const unsigned = write(site, { headers: {}, tamper: ({ headers }) => Object.assign(headers, { [name]: version() }) });
    expect(await code(unsigned)).toBe("403 AccessDenied");
    for (const odd of ["", "null", "x".repeat(32), version().toUpperCase(), `${version()}0`])
      expect(await code(write(site, { headers: { [name]: odd } }))).toBe("400 InvalidArgument");
    for (const at of [Date.now() + 2 * 86_400_000, 0xffffffffffff])
      expect(await code(write(site, { headers: { [name]: version(at) } }))).toBe("400 InvalidArgument");
    expect(await code(write(site, { path: "/plain/k" }))).toBe("400 InvalidRequest");
    for (const method of ["GET", "HEAD", "POST"])
      expect(
        (await write(site, { method, ...(method !== "POST" && { body: undefined }) } as never)).status,
      ).toBeGreaterThanOrEqual(400);
    expect(await versionsOf(site, Bucket)).toEqual([]);
  });

  test("needs leave to replicate, which leave to write is not", async () => {
    const site = await openSite();
    await makeBucket(site);
    await site.rig.node.tenants.create("beta", { dedup: true }, operator);
    const keys = await site.credentials.create("beta", operator);
    const allow = (...Action: string[]) =>
      site.client().send(
        new sdk.PutBucketPolicyCommand({
          Bucket,
          Policy: JSON.stringify({
            Version: "2012-10-17",
            Statement: [{ Effect: "Allow", Principal: { AWS: "beta" }, Action, Resource: `arn:aws:s3:::${Bucket}/*` }],
          }),
        }),
      );
    await allow("s3:PutObject", "s3:DeleteObject");
    expect((await write(site, { keys, headers: {} })).status).toBe(200);
    expect(await code(write(site, { keys }))).toBe("403 AccessDenied");
    expect(await code(write(site, { keys, method: "DELETE" }))).toBe("403 AccessDenied");
    await allow("s3:PutObject", "s3:DeleteObject", "s3:ReplicateObject", "s3:ReplicateDelete");
    expect((await write(site, { keys })).status).toBe(200);
    expect((await write(site, { keys, method: "DELETE", headers: { [name]: version() } })).status).toBe(204);
    const readOnly = await site.credentials.create(tenant, operator, { mode: "read_only" });
    expect(await code(write(site, { keys: readOnly }))).toBe("403 AccessDenied");
  });

  test("replaces nothing, and removes nothing that is held: a version that is there stays what it was", async () => {
    const site = await openSite();
    await makeBucket(site, Bucket, { ...versioned, object_lock: {} });
    const { VersionId } = await site.client().send(
      new sdk.PutObjectCommand({
        Bucket,
        Key: "k",
        Body: "held",
        ObjectLockMode: "COMPLIANCE",
        ObjectLockRetainUntilDate: new Date(Date.now() + 3_600_000),
      }),
    );
    const again = (more: object) => write(site, { headers: { [name]: VersionId ?? "" }, ...more });
    expect((await again({ body: Buffer.from("held") })).status).toBe(200);
    expect(await code(again({}))).toBe("412 PreconditionFailed");
    expect(await code(again({ method: "DELETE", body: undefined }))).toBe("412 PreconditionFailed");
    const marker = { headers: { [name]: version(2000) } };
    for (let i = 0; i < 2; i++) expect((await write(site, { method: "DELETE", ...marker })).status).toBe(204);
    expect(await code(write(site, marker))).toBe("412 PreconditionFailed");
    const { Body, ReplicationStatus } = await site.client().send(new sdk.GetObjectCommand({ Bucket, Key: "k", VersionId }));
    expect([await Body?.transformToString(), ReplicationStatus]).toEqual(["held", undefined]);
    // One of the past lies below what is there.
    expect((await write(site, { headers: { [name]: version(1000) } })).status).toBe(200);
    expect((await versionsOf(site, Bucket)).find((line) => line.includes(VersionId ?? ""))).toMatch(/true$/);
  });
});

test("destinations are settings with a file for their secret; what is none is refused", async () => {
  const west = await openSite();
  await makeBucket(west, "copies");
  const directory = await mkdtemp(join(tmpdir(), "seneschal-destinations-"));
  const secret_key_file = join(directory, "west.secret");
  await writeFile(secret_key_file, `${west.keys.secret_key}\n`);
  const one = { name: "west", tenants: [tenant], endpoint: west.gateway.url, access_key: west.keys.access_key, secret_key_file };
  const [, serve] = servers[0] ?? expect.fail("there are servers");
  const service = await startStorage(serve, { replication: { destinations: [one] } });
  const { node } = service.storage;
  await node.tenants.create(tenant, { dedup: true }, operator);
  await createBucket(node.objects, tenant, Bucket, "us-east-1", versioned);
  await changeBucket(node.objects, tenant, Bucket, "replication", (bucket) => ({
    ...bucket,
    replication: copyTo("west", "copies"),
  }));
  const body = bytesOf(pattern(9));
  await putObject(node.objects, { tenant, bucket: Bucket, key: "k", body, contentType: "", headers: {}, meta: {} });
  await vi.waitFor(async () => expect(await status(west, "k", "copies")).toBe("REPLICA"), { timeout: 30_000 });
  await service.stop();
  await rm(directory, { recursive: true, force: true });
  const parses = (...destinations: object[]) => storageSettings.safeParse({ replication: { destinations } }).success;
  expect(parses(one, { ...one, name: "north" })).toBe(true);
  expect(parses(one, one)).toBe(false);
  for (const odd of [
    { name: "West" },
    { tenants: [] },
    { buckets: [] },
    { endpoint: "ftp://west" },
    { endpoint: "https://a:b@west" },
    { endpoint: "https://west/path" },
    { endpoint: "https://west/?query" },
    { endpoint: "https://west/#fragment" },
    { access_key: "" },
    { secret_key: "s" },
    { timeout: "10ms" },
    { bucket: "b" },
  ])
    expect(parses({ ...one, ...odd })).toBe(false);
});

/** The current version of a key as one that was refused. */
async function refused(site: S3Rig, key: string) {
  const found = (await findVersion(site.rig.node.objects, { bucket: Bucket, key })) ?? expect.fail("it is there");
  const doc = { ...found.doc, replication: { "west/copies": "FAILED" as const } };
  return { coll: found.coll, id: found.id, doc, ifVersion: found.version };
}

test("what was there before the rules is copied where they say so, oldest first, and before what came after; set again, what was refused is sent again", async () => {
  const west = await openSite();
  await makeBucket(west, "copies");
  const heard: string[] = [];
  const { target } = await to(west);
  const telling: ReplicaTarget = {
    ...target,
    async put(bucket, replica, signal) {
      heard.push(replica.version);
      return target.put(bucket, replica, signal);
    },
  };
  const east = await openSite(new Map([["west", { target: telling, tenants: new Set([tenant]) }]]));
  await makeBucket(east);
  const client = east.client();
  const made: (string | undefined)[] = [];
  for (let i = 0; i < 3; i++) made.push((await put(east, "k")).VersionId);
  await put(east, "other/k");
  await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: "gone" }));
  const before = rule({ Filter: { Prefix: "k" }, ExistingObjectReplication: { Status: "Enabled" } });
  await replicate(east, before, rule({ ID: "new", Priority: 2, Filter: { Prefix: "gone" } }));
  expect((await client.send(new sdk.GetBucketReplicationCommand({ Bucket }))).ReplicationConfiguration?.Rules?.[0]).toEqual(
    before,
  );
  made.push((await put(east, "k")).VersionId);
  const { replication } = east.rig.node;
  await replication.copy();
  expect([heard, await pending(east)]).toEqual([[], 1]);
  await replication.awaitExisting();
  await replication.copy();
  expect(heard).toEqual(made);
  expect(await versionsOf(west, "copies")).toEqual((await versionsOf(east, Bucket)).filter((line) => line.startsWith("k ")));
  await replication.awaitExisting();
  expect(await pending(east)).toBe(0);
  await east.rig.store.commit({ commitId: "refused", puts: [await refused(east, "k")] });
  await replicate(east, before);
  await east.rig.node.tick();
  await vi.waitFor(async () => expect(await pending(east)).toBe(1), { timeout: 30_000 });
  const copied = async () => {
    await replication.copy();
    return status(east, "k");
  };
  await vi.waitFor(async () => expect(await copied()).toBe("COMPLETED"), { timeout: 30_000 });
  expect(heard.length).toBe(made.length + 1);
});

test("a look at what was there before goes on where it ended when its process died", async () => {
  const west = await openSite();
  await makeBucket(west, "copies");
  const east = await openSite(new Map([["west", await to(west)]]));
  await makeBucket(east);
  const keys = Array.from({ length: 20 }, (_, i) => `k${String(i).padStart(2, "0")}`);
  const made = new Map<string, string | undefined>();
  for (const key of keys) made.set(key, (await put(east, key)).VersionId);
  const { store } = east.rig;
  await changeBucket(east.rig.node.objects, tenant, Bucket, "replication", (bucket) => {
    const { rules } = copyTo("west", "copies");
    return { ...bucket, replication: { configuration: "c", rules: rules.map((one) => ({ ...one, existing: true })) } };
  });
  const doc = { configuration: "c", done: false, after: "k12", afterVersion: made.get("k12") ?? "" };
  await store.commit({ commitId: "died", puts: [{ coll: "storage_replication_scans", id: Bucket, doc }] });
  await east.rig.node.replication.awaitExisting();
  expect(await pending(east)).toBe(7);
  // One of other rules is begun anew.
  const other = { ...doc, configuration: "d" };
  await store.commit({ commitId: "others", puts: [{ coll: "storage_replication_scans", id: Bucket, doc: other }] });
  await east.rig.node.replication.awaitExisting();
  await east.rig.node.replication.copy();
  expect(await versionsOf(west, "copies")).toEqual(await versionsOf(east, Bucket));
});

test("tags and locks that change later change in the copies, whether the version was sent before, or is not yet", async () => {
  const { east, west } = await openPair(rule({ Destination: { Bucket: destinationArn({ name: "west", bucket: "locked" }) } }));
  await makeBucket(west, "locked", { ...versioned, object_lock: { default: { mode: "GOVERNANCE", unit: "days", count: 9 } } });
  await changeBucket(east.rig.node.objects, tenant, Bucket, "object-lock", (bucket) => ({ ...bucket, object_lock: {} }));
  const client = east.client();
  const tag = (Value: string, VersionId?: string) =>
    client.send(new sdk.PutObjectTaggingCommand({ Bucket, Key: "k", VersionId, Tagging: { TagSet: [{ Key: "k", Value }] } }));
  const told = async (site: S3Rig, bucket: string, VersionId?: string) => {
    const target = { Bucket: bucket, Key: "k", VersionId };
    const { TagSet } = await site.client().send(new sdk.GetObjectTaggingCommand(target));
    const head = await site.client().send(new sdk.HeadObjectCommand(target));
    const { ObjectLockMode, ObjectLockRetainUntilDate, ObjectLockLegalHoldStatus, ReplicationStatus } = head;
    return { tag: TagSet?.[0]?.Value, ObjectLockMode, ObjectLockRetainUntilDate, ObjectLockLegalHoldStatus, ReplicationStatus };
  };
  const { VersionId } = await put(east, "k");
  await tag("not yet sent");
  await put(east, "k");
  const { replication } = east.rig.node;
  await replication.copy();
  expect(await told(west, "locked", VersionId)).toMatchObject({ tag: "not yet sent", ObjectLockMode: "GOVERNANCE" });
  await tag("sent", VersionId);
  expect((await told(east, Bucket, VersionId)).ReplicationStatus).toBe("PENDING");
  const RetainUntilDate = new Date(Date.now() + 20 * 86_400_000);
  const Retention = { Mode: "GOVERNANCE", RetainUntilDate } as const;
  await client.send(new sdk.PutObjectRetentionCommand({ Bucket, Key: "k", VersionId, Retention }));
  const hold = (Status: "ON" | "OFF") =>
    client.send(new sdk.PutObjectLegalHoldCommand({ Bucket, Key: "k", VersionId, LegalHold: { Status } }));
  await hold("ON");
  await replication.copy();
  const there = {
    tag: "sent",
    ObjectLockMode: "GOVERNANCE",
    ObjectLockRetainUntilDate: RetainUntilDate,
    ObjectLockLegalHoldStatus: "ON",
  };
  expect(await told(west, "locked", VersionId)).toEqual({ ...there, ReplicationStatus: "REPLICA" });
  expect(await told(east, Bucket, VersionId)).toEqual({ ...there, ReplicationStatus: "COMPLETED" });
  await hold("OFF");
  await replication.copy();
  expect(await told(west, "locked", VersionId)).toEqual({ ...there, ReplicationStatus: "REPLICA" });
  // What has no lock here ends none there.
  const current = await told(west, "locked");
  await tag("current");
  await replication.copy();
  expect(await told(west, "locked")).toEqual({ ...current, tag: "current" });
  expect([await pending(east), await pending(west)]).toEqual([0, 0]);
});

test("no lock there is weakened by a copy: a retention that is longer there stays, one that was ended here stays, and so does a hold", async () => {
  const { east, west } = await openPair(rule({ Destination: { Bucket: destinationArn({ name: "west", bucket: "locked" }) } }));
  await makeBucket(west, "locked", { ...versioned, object_lock: {} });
  await changeBucket(east.rig.node.objects, tenant, Bucket, "object-lock", (bucket) => ({ ...bucket, object_lock: {} }));
  const { replication } = east.rig.node;
  const days = (count: number) => new Date(Date.now() + count * 86_400_000);
  const [short, long] = [days(3), days(30)];
  const retain = (site: S3Rig, bucket: string, Mode: "GOVERNANCE" | "COMPLIANCE", RetainUntilDate: Date, bypass = false) =>
    site.client().send(
      new sdk.PutObjectRetentionCommand({
        Bucket: bucket,
        Key: "k",
        Retention: { Mode, RetainUntilDate },
        ...(bypass && { BypassGovernanceRetention: true }),
      }),
    );
  const hold = (site: S3Rig, bucket: string, Status: "ON" | "OFF") =>
    site.client().send(new sdk.PutObjectLegalHoldCommand({ Bucket: bucket, Key: "k", LegalHold: { Status } }));
  const lock = async (site: S3Rig, bucket: string) => {
    const head = await site.client().send(new sdk.HeadObjectCommand({ Bucket: bucket, Key: "k" }));
    return [head.ObjectLockMode, head.ObjectLockRetainUntilDate, head.ObjectLockLegalHoldStatus, head.ReplicationStatus];
  };
  await put(east, "k", { ObjectLockMode: "GOVERNANCE", ObjectLockRetainUntilDate: days(2) });
  await replication.copy();
  await retain(west, "locked", "GOVERNANCE", long);
  await hold(west, "locked", "ON");
  await retain(east, Bucket, "GOVERNANCE", short);
  await hold(east, Bucket, "OFF");
  await replication.copy();
  expect(await lock(west, "locked")).toEqual(["GOVERNANCE", long, "ON", "REPLICA"]);
  expect(await lock(east, Bucket)).toEqual(["GOVERNANCE", short, "OFF", "COMPLETED"]);
  await retain(east, Bucket, "GOVERNANCE", days(1), true);
  await replication.copy();
  expect(await lock(west, "locked")).toEqual(["GOVERNANCE", long, "ON", "REPLICA"]);
  await retain(west, "locked", "COMPLIANCE", long, true);
  await retain(east, Bucket, "GOVERNANCE", short);
  await replication.copy();
  expect(await lock(east, Bucket)).toEqual(["GOVERNANCE", short, "OFF", "COMPLETED"]);
  // What is kept otherwise there cannot be kept as long as here: that is said.
  await retain(east, Bucket, "GOVERNANCE", days(40));
  await replication.copy();
  expect(await lock(west, "locked")).toEqual(["COMPLIANCE", long, "ON", "REPLICA"]);
  expect([await status(east, "k"), await pending(east)]).toEqual(["FAILED", 0]);
});

test("a retention that turns from GOVERNANCE to COMPLIANCE turns in the copy, also of a version whose answer was lost, and ends no sooner there", async () => {
  const west = await openSite();
  await makeBucket(west, "copies", { ...versioned, object_lock: {} });
  const { target } = await to(west);
  let lost = false;
  const losing: ReplicaTarget = {
    ...target,
    async put(...args) {
      const put = await target.put(...args);
      if (lost) unreached();
      return put;
    },
  };
  const east = await openSite(new Map([["west", { target: losing, tenants: new Set([tenant]) }]]));
  await makeBucket(east, Bucket, { ...versioned, object_lock: {} });
  await replicate(east, rule());
  const { replication } = east.rig.node;
  const days = (count: number) => new Date(Date.now() + count * 86_400_000);
  const lock = async (Key: string) => {
    const head = await west.client().send(new sdk.HeadObjectCommand({ Bucket: "copies", Key }));
    return [head.ObjectLockMode, head.ObjectLockRetainUntilDate];
  };
  const [two, three] = [days(2), days(3)];
  const retain = (Key: string, Mode: "GOVERNANCE" | "COMPLIANCE", RetainUntilDate: Date) =>
    east
      .client()
      .send(
        new sdk.PutObjectRetentionCommand({ Bucket, Key, Retention: { Mode, RetainUntilDate }, BypassGovernanceRetention: true }),
      );
  for (const [Key, until] of [
    ["same", two],
    ["later", three],
    ["lost", three],
    ["sooner", days(1)],
  ] as const) {
    lost = Key === "lost";
    await put(east, Key, { ObjectLockMode: "GOVERNANCE", ObjectLockRetainUntilDate: two });
    await replication.copy();
    lost = false;
    await retain(Key, "COMPLIANCE", until);
    east.rig.clock.advance(1000);
    await replication.copy();
    const follows = Key !== "sooner";
    expect([Key, ...(await lock(Key)), await status(east, Key)]).toEqual([
      Key,
      ...(follows ? ["COMPLIANCE", until, "COMPLETED"] : ["GOVERNANCE", two, "FAILED"]),
    ]);
  }
  expect(await pending(east)).toBe(0);
});

test("who copies may turn a retention to one that holds as much, of the version that it names, and bypasses none", async () => {
  const site = await openSite();
  await makeBucket(site, Bucket, { ...versioned, object_lock: {} });
  const until = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString();
  const { VersionId = "" } = await put(site, "k", {
    ObjectLockMode: "GOVERNANCE",
    ObjectLockRetainUntilDate: new Date(until(3)),
  });
  const turn = async (mode: string, date: string, replica = VersionId) => {
    const body = Buffer.from(`<Retention><Mode>${mode}</Mode><RetainUntilDate>${date}</RetainUntilDate></Retention>`);
    const headers = { "x-seneschal-replica-version": replica };
    const query = { retention: "", versionId: VersionId };
    return (await signedFetch(site, { method: "PUT", path: `/${Bucket}/k`, query, headers, body })).status;
  };
  expect(await turn("COMPLIANCE", until(2))).toBe(403);
  expect(await turn("GOVERNANCE", until(2))).toBe(403);
  expect(await turn("COMPLIANCE", until(4), "0".repeat(32))).toBe(400);
  expect(await turn("COMPLIANCE", until(4))).toBe(200);
  expect(await turn("GOVERNANCE", until(5))).toBe(403);
});

test("a description that changes while its version is on its way is sent behind it, also when the answer was lost", async () => {
  const west = await openSite();
  await makeBucket(west, "copies");
  const { target } = await to(west);
  let meanwhile = async (): Promise<void> => undefined;
  const changing: ReplicaTarget = {
    ...target,
    async put(...args) {
      const put = await target.put(...args);
      await meanwhile();
      return put;
    },
  };
  const east = await openSite(new Map([["west", { target: changing, tenants: new Set([tenant]) }]]));
  await makeBucket(east);
  await replicate(east, rule());
  const Tagging = { TagSet: [{ Key: "k", Value: "v" }] };
  for (const lost of [false, true]) {
    const Key = `k-${lost}`;
    meanwhile = async () => {
      meanwhile = async () => undefined;
      await east.client().send(new sdk.PutObjectTaggingCommand({ Bucket, Key, Tagging }));
      if (lost) unreached();
    };
    await put(east, Key);
    await east.rig.node.replication.copy();
    east.rig.clock.advance(2000);
    await east.rig.node.replication.copy();
    const { TagSet } = await west.client().send(new sdk.GetObjectTaggingCommand({ Bucket: "copies", Key }));
    expect([TagSet, await status(east, Key), await pending(east)]).toEqual([Tagging.TagSet, "COMPLETED", 0]);
  }
});
