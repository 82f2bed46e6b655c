import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CompleteMultipartUploadCommand,
  DeleteObjectCommand,
  ListBucketsCommand,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { openLevelStore } from "@seneschal/adapters/level";
import { settableClock } from "@seneschal/adapters/memory";
import { vaultCollections } from "@seneschal/adapters/vault";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { storageSchema } from "../../src/storage/schema.ts";
import { type StorageMachine, startStorageMachine } from "../compose/storage-machine.ts";
import { emptyCollections, oneOfEach } from "./collections.ts";
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
    empty = await emptyCollections(store, schema);
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
});
