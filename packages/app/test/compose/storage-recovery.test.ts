import { createHash, randomBytes } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { openLogger } from "@seneschal/adapters/logging";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { serve } from "@seneschal/server-fastify";
import { afterEach, expect, test } from "vitest";
import { storageServiceSettings } from "../../src/compose/service-settings.ts";
import { startService } from "../../src/platform/index.ts";
import { storageService } from "../../src/storage/service.ts";
import { pattern } from "../storage/rig.ts";

const token = "token-of-the-operator";
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function folder(name: string): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), `seneschal-recovery-${name}-`));
  stops.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** A storage service as `seneschal serve` starts it, embedded vault and all, with the backups' directory beside it. */
async function machine(name: string, backups: string, unseal: string) {
  const directory = await folder(name);
  await writeFile(join(directory, "unseal.key"), unseal, { mode: 0o600 });
  const config = storageServiceSettings.parse({
    admin: { tokens: [{ id: "root", role: "cluster-admin", sha256: createHash("sha256").update(token).digest("hex") }] },
    s3: { port: 0 },
    pools: [{ id: "fast", class: "ssd" }],
    backup: { directory: backups },
    rate_limit: { authenticated: { limit: 1_000_000 } },
  });
  const service = await startService(storageService(directory), config, {
    ...{
      serve,
      listen: { port: 0 },
      clock: systemClock,
      random: systemRandom,
      log: openLogger({ level: "silent" }),
      version: "test",
    },
  });
  const call = async (method: string, path: string, body?: unknown) => {
    const reply = await fetch(`${service.url}/ui/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
    return { status: reply.status, body: (await reply.json()) as any };
  };
  let running = true;
  const stop = async () => {
    if (running) await service.stop();
    running = false;
  };
  stops.push(stop);
  return {
    call,
    stop,
    /** The job that a request began, once it is over. */
    async finished(path: string, body: unknown) {
      const { job_id } = (await call("POST", `ops/${path}`, body)).body;
      for (;;) {
        const job = (await call("GET", `jobs/${job_id}`)).body;
        if (job.state !== "queued" && job.state !== "running") return job;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    client: ({ access_key, secret_key }: { access_key: string; secret_key: string }) => {
      const client = new S3Client({
        endpoint: service.listeners["s3"] ?? "",
        region: "us-east-1",
        forcePathStyle: true,
        credentials: { accessKeyId: access_key, secretAccessKey: secret_key },
      });
      stops.push(async () => client.destroy());
      return client;
    },
  };
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
