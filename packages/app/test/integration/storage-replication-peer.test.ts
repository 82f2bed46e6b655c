import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openS3Replicas } from "@seneschal/adapters/replicas";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownAddress } from "../../../../tools/own-address.ts";
import { changeBucket, createBucket } from "../../src/storage/objects/buckets.ts";
import { pattern } from "../storage/rig.ts";
import { openS3Rig, type S3Rig, sdk } from "../storage/s3-rig.ts";
import { until } from "./storage-fleet.ts";

const own = fileURLToPath(new URL("../../../../.peers/bin/versitygw", import.meta.url));
const versitygw = process.env["VERSITYGW"] ?? (existsSync(own) ? own : "versitygw");
const installed = spawnSync(versitygw, ["--help"]).status === 0;

describe.skipIf(!installed)(
  "buckets that are copied to another make of S3 server, versitygw on plain files (skipped: not installed)",
  () => {
    let directory: string;
    let peer: ChildProcess;
    let east: S3Rig;
    const keys = { access_key: "peer", secret_key: "peer-secret" };
    const copies = { Bucket: "copies" };
    let west: ReturnType<S3Rig["client"]>;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "seneschal-peer-"));
      await mkdir(join(directory, "data"));
      await mkdir(join(directory, "versions"));
      const { host, port } = await ownAddress();
      const endpoint = `http://${host}:${port}`;
      const args = [
        "--port",
        endpoint.slice("http://".length),
        "--access",
        keys.access_key,
        "--secret",
        keys.secret_key,
        "--quiet",
      ];
      peer = spawn(versitygw, [...args, "posix", "--versioning-dir", join(directory, "versions"), join(directory, "data")], {
        stdio: "ignore",
      });
      west = new sdk.S3Client({
        endpoint,
        region: "us-east-1",
        forcePathStyle: true,
        credentials: { accessKeyId: keys.access_key, secretAccessKey: keys.secret_key },
      });
      await until("versitygw makes a bucket", () =>
        west.send(new sdk.CreateBucketCommand(copies)).then(
          () => true,
          () => false,
        ),
      );
      await west.send(new sdk.PutBucketVersioningCommand({ ...copies, VersioningConfiguration: { Status: "Enabled" } }));
      const target = await openS3Replicas({
        endpoint,
        region: "us-east-1",
        accessKey: keys.access_key,
        secretKey: async () => keys.secret_key,
      });
      const destinations = new Map([["peer", { target, tenants: new Set(["alpha"]) }]]);
      east = await openS3Rig({ devices: 3, data: 2, parity: 1, tenants: ["alpha"], extra: { destinations } });
      const destination = { name: "peer", bucket: "copies" };
      const rule = { id: "r", enabled: true, form: "filter", filter: {}, priority: 1, destination, deleteMarkers: true } as const;
      const { objects } = east.rig.node;
      await createBucket(objects, "alpha", "docs", "us-east-1", { versioning: "Enabled" });
      await changeBucket(objects, "alpha", "docs", "replication", (bucket) => ({ ...bucket, replication: { rules: [rule] } }));
    }, 120_000);
    afterAll(async () => {
      west?.destroy();
      await east?.dispose();
      peer?.kill("SIGKILL");
      await rm(directory, { recursive: true, force: true });
    });

    test("versions, delete markers, parts, metadata and tags are there as they were written, each once", {
      timeout: 120_000,
    }, async () => {
      const client = east.client();
      const docs = { Bucket: "docs" };
      const described = { ContentType: "text/plain", CacheControl: "max-age=3", Metadata: { colour: "red" }, Tagging: "k=v" };
      for (const Body of ["one", "two"])
        await client.send(new sdk.PutObjectCommand({ ...docs, Key: "in/k", Body, ...described }));
      await client.send(new sdk.PutObjectCommand({ ...docs, Key: "gone", Body: "x" }));
      await client.send(new sdk.DeleteObjectCommand({ ...docs, Key: "gone" }));
      const parts = { ...docs, Key: "parts" };
      const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(parts));
      const Parts = [];
      for (const [i, Body] of [pattern(5 << 20), pattern(9)].entries()) {
        const { ETag } = await client.send(new sdk.UploadPartCommand({ ...parts, UploadId, PartNumber: i + 1, Body }));
        Parts.push({ PartNumber: i + 1, ETag });
      }
      const made = await client.send(new sdk.CompleteMultipartUploadCommand({ ...parts, UploadId, MultipartUpload: { Parts } }));
      await east.rig.node.replication.copy();
      expect(await east.rig.store.count("storage_replications", "by_queue", [])).toBe(0);
      const { Versions = [], DeleteMarkers = [] } = await west.send(new sdk.ListObjectVersionsCommand(copies));
      expect(Versions.map(({ Key }) => Key).sort()).toEqual(["gone", "in/k", "in/k", "parts"]);
      expect(DeleteMarkers.map(({ Key, IsLatest }) => `${Key} ${IsLatest}`)).toEqual(["gone true"]);
      const copy = await west.send(new sdk.GetObjectCommand({ ...copies, Key: "in/k" }));
      expect(await copy.Body?.transformToString()).toBe("two");
      const { Tagging: _, ...headers } = described;
      expect(copy).toMatchObject(headers);
      const { TagSet } = await west.send(new sdk.GetObjectTaggingCommand({ ...copies, Key: "in/k" }));
      expect(TagSet).toEqual([{ Key: "k", Value: "v" }]);
      expect((await west.send(new sdk.HeadObjectCommand({ ...copies, Key: "parts" }))).ETag).toBe(made.ETag);
      const status = async (Key: string) => (await client.send(new sdk.HeadObjectCommand({ ...docs, Key }))).ReplicationStatus;
      expect([await status("in/k"), await status("parts")]).toEqual(["COMPLETED", "COMPLETED"]);
      // That server calls the version otherwise: what changes later it cannot be told of.
      await client.send(
        new sdk.PutObjectTaggingCommand({ ...docs, Key: "in/k", Tagging: { TagSet: [{ Key: "k", Value: "w" }] } }),
      );
      await east.rig.node.replication.copy();
      expect(await status("in/k")).toBe("FAILED");
    });
  },
);
