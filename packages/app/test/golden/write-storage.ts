import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { settableClock } from "@seneschal/adapters/memory";
import { systemRandom } from "@seneschal/adapters/system";
import { makeUnsealKey } from "../../src/compose/make-unseal-key.ts";
import { startStorageMachine } from "../compose/storage-machine.ts";
import { pattern } from "../storage/rig.ts";
import { makeTheRest, tellingSettings } from "./storage-kinds.ts";

export interface StoredObject {
  readonly etag: string;
  readonly length: number;
  readonly type: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly modified: string;
  readonly sha256: string;
}

/** What is known of a directory: `storage.json` beside the metadata, cluster log, devices and backups that a release wrote. */
export interface StorageFacts {
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

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** The object of a key in the bucket `docs`, as a client reads it. */
export async function readObject(client: S3Client, Key: string): Promise<StoredObject> {
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
}

/** Every object of the bucket `docs`. */
export async function readObjects(client: S3Client): Promise<Record<string, StoredObject>> {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: "docs" }));
  return Object.fromEntries(await Promise.all(Contents.map(async ({ Key = "" }) => [Key, await readObject(client, Key)])));
}

/** Writes what a storage node keeps, and what is known of it: `storage`, `storage-backups` and `storage.json`. */
export async function writeStorage(directory: string): Promise<void> {
  const path = join(directory, "storage");
  const backups = join(directory, "storage-backups");
  mkdirSync(path, { recursive: true });
  mkdirSync(backups);
  await makeUnsealKey(join(path, "unseal.key"), systemRandom);
  const clock = settableClock(Date.UTC(2026, 0, 1));
  const scratch = mkdtempSync(join(tmpdir(), "golden-"));
  const machine = await startStorageMachine(path, backups, clock, tellingSettings(scratch));
  try {
    const ok = async (method: string, at: string, body?: unknown) => {
      const answer = await machine.call(method, at, body);
      if (answer.status >= 300) throw new Error(`${method} ${at}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    };
    await ok("POST", "ops/tenants", { tenant_id: "acme" });
    const { access_key, secret_key } = await ok("POST", "ops/tenants/acme/credentials", {});
    const keys = { access_key, secret_key };
    const client = machine.client(keys);
    for (const Bucket of ["docs", "empty"]) await client.send(new CreateBucketCommand({ Bucket }));
    const put = (Key: string, Body: Uint8Array) =>
      client.send(new PutObjectCommand({ Bucket: "docs", Key, Body, ContentType: "text/x-golden", Metadata: { of: "golden" } }));
    await put("nothing", new Uint8Array());
    await put("inline", pattern(100));
    await put("small/ä", pattern(50_000, 2));
    await put("copies", pattern(50_000, 2));
    const begun = await client.send(new CreateMultipartUploadCommand({ Bucket: "docs", Key: "under way" }));
    const part = pattern(60_000, 3);
    const at = { Bucket: "docs", Key: "under way", UploadId: begun.UploadId, PartNumber: 1 };
    const { ETag = "" } = await client.send(new UploadPartCommand({ ...at, Body: part }));
    await ok("POST", "ops/keys/rotate");
    await put("after", pattern(20_000, 4));
    await makeTheRest(machine, { clock, scratch });
    const objects = await readObjects(client);
    const { result } = await machine.finished("backup", { include_data: true });
    const lists = ["jobs", "ops/tenants", "devices", "ops/backups", "pools"];
    const asked = Object.fromEntries(await Promise.all(lists.map(async (list) => [list, await ok("GET", list)])));
    const facts: StorageFacts = {
      at: clock.now(),
      keys,
      objects,
      upload: { id: begun.UploadId ?? "", key: "under way", etag: ETag, sha256: sha256(part) },
      snapshot: result.snapshot_id,
      asked,
    };
    writeFileSync(join(directory, "storage.json"), JSON.stringify(facts));
  } finally {
    await machine.stop();
    rmSync(scratch, { recursive: true });
  }
}
