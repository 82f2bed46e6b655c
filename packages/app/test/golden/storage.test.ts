import { createHash } from "node:crypto";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CompleteMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { settableClock } from "@seneschal/adapters/memory";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type StorageMachine, startStorageMachine } from "../compose/storage-machine.ts";

/** What is known of a directory: `storage.json` beside the metadata, cluster log, devices and backups that a release wrote. */
interface Facts {
  /** When it was written. */
  readonly at: number;
  /** Of the tenant `acme`. */
  readonly keys: { readonly access_key: string; readonly secret_key: string };
  /** Of the bucket `docs`, as a client read them then, one with a key that was rotated away since; SHA-256 of the content. */
  readonly objects: Readonly<Record<string, StoredObject>>;
  /** An upload in parts that was under way, and its first part. */
  readonly upload: { readonly id: string; readonly key: string; readonly etag: string; readonly sha256: string };
  /** A backup of metadata and content. */
  readonly snapshot: string;
  /** What the release answered an administrator. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever it was
  readonly asked: Readonly<Record<string, any>>;
}

interface StoredObject {
  readonly etag: string;
  readonly length: number;
  readonly type: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly modified: string;
  readonly sha256: string;
}

const folder = new URL(".", import.meta.url).pathname;
const releases = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describe.each(releases.map(({ name }) => name))("a storage directory of release %s", (release) => {
  const facts = JSON.parse(readFileSync(join(folder, release, "storage.json"), "utf8")) as Facts;
  const path = mkdtempSync(join(tmpdir(), "golden-"));
  const clock = settableClock(facts.at);
  let machine: StorageMachine;
  let client: S3Client;
  const start = async (directory = path): Promise<void> => {
    machine = await startStorageMachine(directory, join(path, "backups"), clock);
    client = machine.client(facts.keys);
  };
  const read = async (Key: string): Promise<StoredObject> => {
    const { ETag, ContentLength, ContentType, Metadata, LastModified, Body } = await client.send(
      new GetObjectCommand({ Bucket: "docs", Key }),
    );
    const content = (await Body?.transformToByteArray()) ?? new Uint8Array();
    return {
      etag: ETag ?? "",
      length: ContentLength ?? 0,
      type: ContentType ?? "",
      metadata: Metadata ?? {},
      modified: LastModified?.toISOString() ?? "",
      sha256: sha256(content),
    };
  };
  const readAll = async (): Promise<Record<string, StoredObject>> => {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: "docs" }));
    return Object.fromEntries(await Promise.all(Contents.map(async ({ Key = "" }) => [Key, await read(Key)])));
  };

  beforeAll(async () => {
    cpSync(join(folder, release, "storage"), path, { recursive: true });
    cpSync(join(folder, release, "storage-backups"), join(path, "backups"), { recursive: true });
    chmodSync(join(path, "unseal.key"), 0o600);
    await start();
  });
  afterAll(async () => {
    await machine.stop();
    rmSync(path, { recursive: true });
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
