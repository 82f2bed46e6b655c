import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CompleteMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListBucketsCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { openLevelStore } from "@seneschal/adapters/level";
import { settableClock } from "@seneschal/adapters/memory";
import { vaultCollections } from "@seneschal/adapters/vault";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { collectGarbage } from "../../src/storage/jobs/collect-garbage.ts";
import { storageSchema } from "../../src/storage/schema.ts";
import { type StorageMachine, startStorageMachine } from "../compose/storage-machine.ts";
import { operator } from "../storage/rig.ts";
import { documentsOf, emptyCollections, oneOfEach } from "./collections.ts";
import { directoryOf, releases, TODAY } from "./releases.ts";
import { readObject, readObjects, type StorageFacts, writeStorage } from "./write-storage.ts";

describe.each(releases)("a storage directory of release %s", (release) => {
  let facts: StorageFacts;
  const path = mkdtempSync(join(tmpdir(), "golden-"));
  let clock: ReturnType<typeof settableClock>;
  let machine: StorageMachine;
  let client: S3Client;
  let empty: readonly string[];
  const start = async (directory = path): Promise<void> => {
    machine = await startStorageMachine(directory, join(path, "backups"), clock);
    client = machine.client(facts.keys);
  };
  const read = (key: string) => readObject(client, key);
  const readAll = () => readObjects(client);

  beforeAll(async () => {
    const directory = await directoryOf(release, writeStorage);
    facts = JSON.parse(readFileSync(join(directory, "storage.json"), "utf8"));
    clock = settableClock(facts.at);
    cpSync(join(directory, "storage"), path, { recursive: true });
    cpSync(join(directory, "storage-backups"), join(path, "backups"), { recursive: true });
    if (release === TODAY) rmSync(directory, { recursive: true });
    chmodSync(join(path, "unseal.key"), 0o600);
    const schema = { ...storageSchema, collections: { ...storageSchema.collections, ...vaultCollections } };
    const store = await openLevelStore({ ...schema, path: join(path, "storage", "metadata") });
    empty = emptyCollections(await documentsOf(store), schema);
    await store.close();
    await start();
  }, 300_000);
  afterAll(async () => {
    await machine.stop();
    rmSync(path, { recursive: true });
  });

  it.runIf(release === TODAY)("holds a document of every collection", () => {
    expect(empty, oneOfEach("golden/storage-kinds.ts")).toEqual([]);
  });

  it("gives every object and what is known of it as the release did, under keys from before and after a rotation", async () => {
    expect(await readAll(), "a stored shape changed (docs/stores-and-logs.md)").toEqual(facts.objects);
    const { Buckets = [] } = await client.send(new ListBucketsCommand({}));
    expect(Buckets.map(({ Name }) => Name)).toEqual(["docs", "empty"]);
  });

  it("tells an administrator of it what the release told, under the same names", async () => {
    for (const [asked, then] of Object.entries(facts.asked)) {
      const { status, body } = await machine.call("GET", asked);
      expect([asked, status]).toEqual([asked, 200]);
      for (const [i, one] of then.entries())
        for (const name of Object.keys(one).filter((name) => /_id$|^(state|kind|class|durability|created_at|dedup)$/.test(name)))
          expect([asked, name, body[i][name]]).toEqual([asked, name, one[name]]);
    }
  });

  it("ends an upload that was under way, takes new objects, and is whole for a scrub", async () => {
    const { id: UploadId, key: Key, etag: ETag, sha256: part } = facts.upload;
    const parts = { MultipartUpload: { Parts: [{ PartNumber: 1, ETag }] } };
    await client.send(new CompleteMultipartUploadCommand({ Bucket: "docs", Key, UploadId, ...parts }));
    expect(await read(Key)).toMatchObject({ sha256: part });
    await client.send(new PutObjectCommand({ Bucket: "docs", Key: "new", Body: "of today" }));
    await client.send(new DeleteObjectCommand({ Bucket: "docs", Key: "copies" }));
    expect(await machine.finished("scrub", {})).toMatchObject({ state: "succeeded", error: null });
    await machine.stop();
    await start();
    const { copies: _deleted, ...left } = facts.objects;
    expect(await readAll()).toMatchObject({ ...left, [Key]: { sha256: part }, new: { length: 8 } });
  });

  it("is restored from a backup of the release to what it was, by the backup and the unseal key alone", async () => {
    await machine.stop();
    const clean = join(path, "clean");
    mkdirSync(clean);
    cpSync(join(path, "unseal.key"), join(clean, "unseal.key"));
    await start(clean);
    const restored = await machine.finished("restore", { snapshot_id: facts.snapshot });
    expect(restored).toMatchObject({ state: "succeeded", error: null });
    expect(await readAll()).toEqual(facts.objects);
  });

  it.runIf(release === TODAY)("keeps nothing longer than what it belongs to, and nothing that is over", async () => {
    await machine.stop();
    await start();
    const hour = 3_600_000;
    const { access_key, secret_key } = (await machine.call("POST", "ops/tenants/alpha/credentials", {})).body;
    const mine = { acme: client, alpha: machine.client({ access_key, secret_key }) };
    for (const one of Object.values(mine)) {
      const { Buckets = [] } = await one.send(new ListBucketsCommand({}));
      for (const { Name: Bucket } of Buckets) {
        const { Versions = [], DeleteMarkers = [] } = await one.send(new ListObjectVersionsCommand({ Bucket }));
        for (const { Key, VersionId } of [...Versions, ...DeleteMarkers])
          await one.send(new DeleteObjectCommand({ Bucket, Key, VersionId }));
        await one.send(new DeleteBucketCommand({ Bucket }));
      }
    }
    await machine.call("PUT", "ops/devices/disk-5/smart", {});
    const { node } = machine;
    for (let days = 1; days <= 40; days += 13) {
      clock.set(facts.at + 24 * hour * days);
      await node.tick();
      clock.set(clock.now() + 2 * hour);
      await node.tick();
      await collectGarbage(node.parts);
      // One may be under way by itself.
      await node.scrub({ kind: "cluster" }, operator).catch(() => undefined);
      await node.jobs.drain();
    }
    const left = await documentsOf(node.context.store);
    const over = [
      ...["storage_buckets", "storage_objects", "storage_versions", "storage_uploads", "storage_parts", "storage_usage"],
      ...["storage_chunks", "storage_staged", "storage_trash", "storage_orphans", "storage_notices", "storage_replication_scans"],
    ];
    expect(over.filter((coll) => (left.get(coll)?.size ?? 0) > 0)).toEqual([]);
    const ended = [...(left.get("jobs")?.values() ?? [])].map(({ finished_at }) => Number(finished_at ?? clock.now()));
    expect(Math.min(...ended)).toBeGreaterThan(clock.now() - 31 * 24 * hour);
  });
});
