import { randomBytes } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { afterEach, expect, test } from "vitest";
import { pattern } from "../storage/rig.ts";
import { type StorageMachine, startStorageMachine } from "./storage-machine.ts";

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function folder(name: string): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), `seneschal-recovery-${name}-`));
  stops.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function machine(name: string, backups: string, unseal: string): Promise<StorageMachine> {
  const directory = await folder(name);
  await writeFile(join(directory, "unseal.key"), unseal, { mode: 0o600 });
  const started = await startStorageMachine(directory, backups);
  stops.push(started.stop);
  return started;
}

const objects = { inline: pattern(100, 1), small: pattern(50_000, 2), large: pattern(5_000_000, 3) };
const read = async (client: S3Client, Key: string) =>
  Buffer.from((await (await client.send(new GetObjectCommand({ Bucket: "docs", Key }))).Body?.transformToByteArray()) ?? []);

test("backup and unseal key, and nothing else of the lost machine, give every object back on a clean one", async () => {
  const backups = await folder("backups");
  const unseal = randomBytes(32).toString("base64");
  const lost = await machine("lost", backups, unseal);
  await lost.call("POST", "ops/tenants", { tenant_id: "acme" });
  const keys = (await lost.call("POST", "ops/tenants/acme/credentials")).body;
  const before = lost.client(keys);
  await before.send(new CreateBucketCommand({ Bucket: "docs" }));
  await before.send(new PutObjectCommand({ Bucket: "docs", Key: "inline", Body: objects.inline }));
  await before.send(new PutObjectCommand({ Bucket: "docs", Key: "small", Body: objects.small }));
  await lost.call("POST", "ops/keys/rotate");
  await before.send(new PutObjectCommand({ Bucket: "docs", Key: "large", Body: objects.large }));
  const made = await lost.finished("backup", { include_data: true });
  expect(made).toMatchObject({ state: "succeeded" });
  const { snapshot_id } = made.result;
  await lost.stop();

  // What was written says neither whose it is nor any key.
  const written = await readFile(join(backups, snapshot_id, "manifest.json"), "utf8");
  const carried = Buffer.from(JSON.parse(written).vault, "base64").toString("latin1");
  for (const word of ["acme", "docs", unseal])
    expect([written.includes(word), carried.includes(word)], word).toEqual([false, false]);

  // Another unseal key: refused before anything is done.
  const copy = join(await folder("copy"), "backups");
  await cp(backups, copy, { recursive: true });
  const stranger = await machine("stranger", copy, randomBytes(32).toString("base64"));
  expect(await stranger.call("POST", "ops/restore", { snapshot_id })).toMatchObject({
    status: 409,
    body: { error: { code: "FAILED_PRECONDITION", message: expect.stringContaining("unseal key") } },
  });
  expect((await stranger.call("GET", "ops/tenants")).body).toEqual([]);
  expect((await stranger.call("GET", "jobs")).body).toEqual([]);
  await stranger.stop();

  // The same: even on a machine that has had keys and a master epoch of its own already.
  const clean = await machine("clean", copy, unseal);
  await clean.call("POST", "ops/keys/rotate");
  expect(await clean.finished("restore", { snapshot_id })).toMatchObject({ state: "succeeded", error: null });
  const after = clean.client(keys);
  for (const [key, bytes] of Object.entries(objects)) expect((await read(after, key)).equals(bytes), key).toBe(true);
  await after.send(new PutObjectCommand({ Bucket: "docs", Key: "new", Body: objects.small }));
  expect((await read(after, "new")).equals(objects.small)).toBe(true);
  expect(await clean.finished("scrub", {})).toMatchObject({ result: { lost: 0, repaired: 0 } });
});
