import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openS3Backups } from "@seneschal/adapters/backups";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import type { Bucket } from "@seneschal/core/storage";
import { serve } from "@seneschal/server-fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gatewayLog } from "../../src/gateway/index.ts";
import { openArchive, tryArchive, verifyArchiveFiles } from "../../src/platform/index.ts";
import { createCredentials } from "../../src/storage/keys/credentials.ts";
import { changeBucket, createBucket } from "../../src/storage/objects/buckets.ts";
import { deleteObject } from "../../src/storage/objects/delete-object.ts";
import { listUploads } from "../../src/storage/objects/list-keys.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { openRig as openGatewayRig } from "../gateway/rig.ts";
import { type Harness, startStorage } from "./harness.ts";
import { bytesOf, collect, operator, pattern } from "./rig.ts";

const put = (h: Harness, bucket: string, key: string, bytes: Uint8Array, tenant = "alpha") =>
  putObject(h.storage.node.objects, { tenant, bucket, key, body: bytesOf(bytes), contentType: "", headers: {}, meta: {} });
const get = async (h: Harness, key: string, tenant = "alpha", bucket = "docs") =>
  collect(readObject(h.storage.node.objects, await headObject(h.storage.node.objects, tenant, bucket, key)));

async function finished(h: Harness, path: string, body: unknown) {
  const reply = await h.call("root", "POST", `/ui/api/ops/${path}`, body);
  expect(reply.status, reply.text).toBe(200);
  await h.storage.node.jobs.drain();
  return (await h.call("root", "GET", `/ui/api/jobs/${reply.body.job_id}`)).body;
}

/** A second storage service keeps the backups of the first: everything between them goes over S3. */
describe("backup and restore", () => {
  let keeper: Harness;
  let source: Harness;
  let settings: Record<string, unknown>;
  const empty = () => startStorage(serve, settings, { vault: source.vault });

  beforeAll(async () => {
    keeper = await startStorage(serve);
    await keeper.call("root", "POST", "/ui/api/ops/tenants", { tenant_id: "backups" });
    await createBucket(keeper.storage.node.objects, "backups", "vault", "us-east-1");
    const { access_key, secret_key } = (await keeper.call("root", "POST", "/ui/api/ops/tenants/backups/credentials")).body;
    const s3 = { endpoint: keeper.storage.gateway()!.url, bucket: "vault", access_key, secret_key };
    settings = { backup: { directory: join(keeper.directory, "backups"), s3 } };
    source = await startStorage(serve, settings);
    for (const tenant_id of ["alpha", "beta"]) await source.call("root", "POST", "/ui/api/ops/tenants", { tenant_id });
    await createBucket(source.storage.node.objects, "alpha", "docs", "us-east-1");
    await createBucket(source.storage.node.objects, "beta", "other", "us-east-1");
    await put(source, "docs", "secret-plan/inline", pattern(100, 3));
    await put(source, "docs", "large", pattern(9_000_000, 4));
    await put(source, "docs", "twice", pattern(9_000_000, 4));
    await put(source, "docs", "gone", pattern(50_000, 5));
    await put(source, "other", "shared", pattern(9_000_000, 4), "beta");
    await deleteObject(source.storage.node.objects, "alpha", "docs", "gone");
    await source.call("root", "PUT", "/ui/api/ops/buckets/docs/quota", { max_bytes: 50_000_000 });
    const rule = { id: "all", webhook: "hook", events: ["s3:ObjectCreated:*"] };
    const tell = (bucket: Bucket) => ({ ...bucket, notifications: [rule] });
    await changeBucket(source.storage.node.objects, "alpha", "docs", "notifications", tell);
  });
  afterAll(() => Promise.all([source.stop(), keeper.stop()]));

  test.each(["fs", "s3"])("to %s and back into an empty cluster, byte for byte, for every tenant", async (destination) => {
    const made = await finished(source, "backup", { destination, include_data: true });
    expect(made).toMatchObject({ state: "succeeded", result: { shard_count: 3 } });
    const { snapshot_id } = made.result;
    const listed = (await source.call("root", "GET", `/ui/api/ops/backups?destination=${destination}`)).body;
    expect(listed).toMatchObject([{ snapshot_id, include_data: true, object_count: 4 }]);
    const target = await empty();
    expect(
      (await target.call("root", "GET", "/ui/api/ops/backups")).body.map((b: { snapshot_id: string }) => b.snapshot_id),
    ).toContain((await source.call("root", "GET", "/ui/api/ops/backups?destination=fs")).body[0].snapshot_id);
    expect(await finished(target, "restore", { snapshot_id, destination })).toMatchObject({ state: "succeeded" });
    expect((await get(target, "secret-plan/inline")).equals(pattern(100, 3))).toBe(true);
    for (const key of ["large", "twice"]) expect((await get(target, key)).equals(pattern(9_000_000, 4))).toBe(true);
    expect((await get(target, "shared", "beta", "other")).equals(pattern(9_000_000, 4))).toBe(true);
    await expect(get(target, "gone")).rejects.toMatchObject({ code: "NotFound" });
    // A webhook that the bucket names hears of what is written from then on.
    const place = (await target.store.get("storage_webhooks", "hook"))?.doc["seq"] as number;
    expect(place).toBeGreaterThan(0);
    expect(await target.store.changes(place, 1000)).not.toContainEqual(expect.objectContaining({ coll: "storage_objects" }));
    // What a bucket with a quota holds is counted anew.
    const quota = (await target.call("root", "GET", "/ui/api/ops/buckets/docs/quota")).body;
    expect(quota).toMatchObject({ max_bytes: 50_000_000, used_bytes: 18_000_100, used_objects: 3, counting: false });
    // References were counted anew: with one owner gone the shared chunks stay, and a scrub finds nothing to mend.
    await deleteObject(target.storage.node.objects, "alpha", "docs", "large");
    await finished(target, "gc", undefined);
    expect((await get(target, "twice")).equals(pattern(9_000_000, 4))).toBe(true);
    expect(await finished(target, "scrub", {})).toMatchObject({ result: { lost: 0, repaired: 0, orphans: 0 } });
    // New writes use the restored master key, and what was there opens with it.
    await put(target, "docs", "new", pattern(20_000, 6));
    expect((await get(target, "new")).equals(pattern(20_000, 6))).toBe(true);
    const again = await finished(target, "restore", { snapshot_id, destination });
    expect(again).toMatchObject({ state: "failed", error: { code: "restore_not_empty" } });
    expect((await target.call(undefined, "GET", "/ui/api/cluster")).body.maintenance_mode).toBe(false);
    await target.stop();
  });

  test("a backup shows no names, keys or content to whoever holds it", async () => {
    const { result } = await finished(source, "backup", { destination: "fs", include_data: true });
    const directory = join(keeper.directory, "backups", result.snapshot_id);
    const bytes = Buffer.concat([
      await readFile(join(directory, "snapshot.tar")),
      await readFile(join(directory, "manifest.json")),
    ]);
    for (const text of ["secret-plan", "alpha", "docs"]) expect(bytes.includes(text), text).toBe(false);
    expect(bytes.includes(Buffer.from(pattern(9_000_000, 4).subarray(0, 32)))).toBe(false);
  });

  test("a damaged backup is refused before anything is written; an unknown one, or one of another vault, too", async () => {
    const { result } = await finished(source, "backup", { destination: "fs", include_data: true });
    const file = (name: string) => join(keeper.directory, "backups", result.snapshot_id, name);
    const target = await empty();
    const restore = () => finished(target, "restore", { snapshot_id: result.snapshot_id, destination: "fs" });
    const manifest = await readFile(file("manifest.json"), "utf8");
    const tar = await readFile(file("snapshot.tar"));
    const flipped = Buffer.from(tar);
    flipped[tar.length >> 1]! ^= 4;
    await writeFile(file("snapshot.tar"), flipped);
    expect(await restore()).toMatchObject({ state: "failed", error: { code: "backup_corrupt" } });
    await writeFile(file("snapshot.tar"), tar);
    // The facts are under the vault's seal, not only under a checksum that anybody can compute.
    await writeFile(file("manifest.json"), manifest.replace('"include_data": true', '"include_data": false'));
    const ask = (h: Harness) => h.call("root", "POST", "/ui/api/ops/restore", { snapshot_id: result.snapshot_id });
    expect(await ask(target)).toMatchObject({ status: 500, body: { error: { code: "BACKUP_CORRUPT" } } });
    await writeFile(file("manifest.json"), manifest);
    const stranger = await startStorage(serve, settings);
    expect(await ask(stranger)).toMatchObject({
      status: 409,
      body: { error: { code: "FAILED_PRECONDITION", message: expect.stringContaining("restore the vault first") } },
    });
    await stranger.stop();
    expect((await target.call("root", "POST", "/ui/api/ops/restore", { snapshot_id: "no-such" })).status).toBe(404);
    expect((await target.call("incident", "POST", "/ui/api/ops/restore", { snapshot_id: result.snapshot_id })).status).toBe(403);
    expect((await target.call("root", "GET", "/ui/api/ops/tenants")).body).toEqual([]);
    expect(await restore()).toMatchObject({ state: "succeeded" });
    await target.stop();
  });

  test("a restore that ended half way goes on with the same snapshot, refuses another, and takes no writes meanwhile", async () => {
    const { result } = await finished(source, "backup", { destination: "s3", include_data: true });
    const other = await finished(source, "backup", { destination: "s3", include_data: true });
    const target = await empty();
    const { node } = target.storage;
    const { io } = node.parts;
    let left = 2;
    const broken = {
      ...io,
      write: (...args: Parameters<typeof io.write>) => (left-- > 0 ? io.write(...args) : Promise.reject(new Error("cut"))),
    };
    Object.assign(node.parts, { io: broken });
    const restore = (snapshot_id: string) => finished(target, "restore", { snapshot_id, destination: "s3" });
    expect(await restore(result.snapshot_id)).toMatchObject({ state: "failed" });
    expect((await target.call(undefined, "GET", "/ui/api/cluster")).body.maintenance_mode).toBe(true);
    await expect(put(target, "docs", "x", pattern(10))).rejects.toMatchObject({ code: "MaintenanceMode" });
    expect(await restore(other.result.snapshot_id)).toMatchObject({ state: "failed", error: { code: "restore_not_empty" } });
    Object.assign(node.parts, { io });
    expect(await restore(result.snapshot_id)).toMatchObject({ state: "succeeded" });
    expect((await get(target, "large")).equals(pattern(9_000_000, 4))).toBe(true);
    expect((await target.call(undefined, "GET", "/ui/api/cluster")).body.maintenance_mode).toBe(false);
    await target.stop();
  });

  test("audit events of a gateway are archived in a bucket, and verify as they lie there", async () => {
    const credentials = createCredentials(keeper.storage.node.context, keeper.vault);
    const keys = await credentials.create("backups", operator);
    await createBucket(keeper.storage.node.objects, "backups", "audit", "us-east-1");
    const s3 = {
      endpoint: keeper.storage.gateway()!.url,
      bucket: "audit",
      access_key: keys.access_key,
      secret_key: keys.secret_key,
    };
    const archive = { to: { s3 }, after: "1d" };
    const target = await openArchive({ s3: { region: "us-east-1", ...s3 } });
    await tryArchive(target);
    expect(await target.list()).toEqual([]);
    const gateway = await openGatewayRig({ archive: target, settings: { audit: { archive } } });
    await gateway.gateway.archiveAudit(gateway.clock.now() + 3 * 86_400_000);
    const sha256 = (data: Uint8Array): Uint8Array => nodeCrypto.hash("sha256", data);
    expect(await verifyArchiveFiles(target, { forms: [gatewayLog(sha256)] })).toMatchObject({ segments: 1 });
    expect((await gateway.admin("acme")("POST", "/api/v1/audit/verify", {})).body).toMatchObject({ valid: true, archived: {} });
    await gateway.close();
  });

  test("an upload that was interrupted leaves no parts behind once its backup is written or removed", async () => {
    const credentials = createCredentials(keeper.storage.node.context, keeper.vault);
    const keys = await credentials.create("backups", operator);
    await createBucket(keeper.storage.node.objects, "backups", "parts", "us-east-1");
    const target = await openS3Backups({
      endpoint: keeper.storage.gateway()!.url,
      region: "us-east-1",
      bucket: "parts",
      accessKey: keys.access_key,
      secretKey: keys.secret_key,
      partBytes: 5 << 20,
    });
    const cut = async function* () {
      yield pattern(6 << 20);
      throw new Error("cut");
    };
    const open = async () =>
      (
        await listUploads(keeper.storage.node.objects, {
          bucket: "parts",
          prefix: "",
          delimiter: "",
          after: "",
          limit: 9,
        })
      ).items.length;
    await expect(target.write("one", "snapshot.tar", cut())).rejects.toThrow("cut");
    expect(await target.list()).toEqual([]);
    expect(await open()).toBe(0);
    await target.write("one", "snapshot.tar", bytesOf(pattern(11 << 20, 8)));
    expect((await collect(target.read("one", "snapshot.tar"))).equals(pattern(11 << 20, 8))).toBe(true);
    expect(await target.list()).toEqual(["one"]);
    await target.remove("one");
    await target.remove("one");
    expect(await target.list()).toEqual([]);
  });
});
