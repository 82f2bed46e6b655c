import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BackupTarget, directoryBackups, openS3Backups } from "@seneschal/adapters/backups";
import type { BackupManifest } from "@seneschal/core/storage";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { expireBackups, listBackups } from "../../src/storage/jobs/backup.ts";
import { bytesOf, collect } from "./rig.ts";

const made: string[] = [];
async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "seneschal-backups-"));
  made.push(directory);
  return directory;
}
afterAll(() => Promise.all(made.map((directory) => rm(directory, { recursive: true, force: true }))));

const NOON = Date.UTC(2026, 5, 1, 12);
const dayMs = 86_400_000;
const facts = { writing: [] as readonly string[], retentionDays: 7, now: NOON };

type Kept = { readonly id: string; readonly state: "young" | "old" | "torso" | "damaged" | "unread" };
const keptOnes: fc.Arbitrary<readonly Kept[]> = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom("a", "b", "c", "d", "e", "f"),
    state: fc.constantFrom<Kept["state"]>("young", "old", "torso", "damaged", "unread"),
  }),
  { selector: ({ id }) => id },
);

const manifestMade = (id: string, made: number): BackupManifest => ({
  format: "seneschal-backup/1",
  snapshot_id: id,
  created_at: new Date(made).toISOString(),
  elapsed_millis: 1,
  metadata_bytes: 1,
  data_bytes: 1,
  shard_count: 1,
  chunk_count: 0,
  object_count: 0,
  include_data: false,
  files: {},
  key: "sealed",
});
const times = { young: NOON - dayMs, old: NOON - 9 * dayMs };

/** A directory with backups in these states; what is `unread` has a manifest that cannot be read for now. */
async function keptIn(directory: string, kept: readonly Kept[]) {
  const real = directoryBackups(directory);
  for (const { id, state } of kept) {
    await real.write(id, "snapshot.tar", bytesOf(Buffer.from("tar")));
    if (state === "young" || state === "old" || state === "unread") {
      const manifest = manifestMade(id, state === "old" ? times.old : times.young);
      await real.write(id, "manifest.json", bytesOf(Buffer.from(JSON.stringify(manifest))));
    }
    if (state === "damaged") await real.write(id, "manifest.json", bytesOf(Buffer.from('{"format": "sen')));
  }
  const down = new Error("connection reset");
  const target: BackupTarget = {
    ...real,
    async *read(id, file) {
      if (kept.some((one) => one.id === id && one.state === "unread")) throw down;
      yield* real.read(id, file);
    },
  };
  return { real, target, down };
}

test("a backup goes by what its manifest says, or because it has none: one that is damaged stays and is told, and where one cannot be read for now nothing goes and nothing is listed", async () => {
  await fc.assert(
    fc.asyncProperty(keptOnes, async (kept) => {
      const { real, target, down } = await keptIn(await temporaryDirectory(), kept);
      const told: unknown[] = [];
      const emit = (...[, , , details]: readonly unknown[]) => void told.push(details);
      const expired = expireBackups({ emit }, target, facts);
      if (kept.some(({ state }) => state === "unread")) {
        await expect(expired).rejects.toBe(down);
        await expect(listBackups(target)).rejects.toBe(down);
        expect(await real.list()).toEqual(kept.map(({ id }) => id).sort());
        return;
      }
      await expired;
      const named = (...states: readonly Kept["state"][]) =>
        kept
          .filter(({ state }) => states.includes(state))
          .map(({ id }) => id)
          .sort();
      expect(await real.list()).toEqual(named("young", "damaged"));
      expect(told).toEqual(named("damaged").map((snapshot) => ({ snapshot })));
      expect((await listBackups(target)).map(({ snapshot_id }) => snapshot_id).sort()).toEqual(named("young"));
    }),
    { numRuns: 40 },
  );
});

test("a file that is not there has a code of its own, in a directory and over S3; what cannot be read otherwise has another", async () => {
  const absent = { code: "backup_file_absent", details: { backup: "one", file: "manifest.json" } };
  const directory = directoryBackups(await temporaryDirectory());
  await directory.write("one", "snapshot.tar", bytesOf(Buffer.from("tar")));
  await expect(collect(directory.read("one", "manifest.json"))).rejects.toMatchObject(absent);
  let answer = { status: 404, code: "NoSuchKey" };
  const server = createServer((request, reply) => {
    request.resume();
    reply.writeHead(answer.status, { "content-type": "application/xml" });
    reply.end(`<?xml version="1.0"?><Error><Code>${answer.code}</Code><Message>no</Message></Error>`);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const s3 = await openS3Backups({ endpoint, region: "us-east-1", bucket: "b", accessKey: "a", secretKey: "s" });
  try {
    await expect(collect(s3.read("one", "manifest.json"))).rejects.toMatchObject(absent);
    for (const other of [
      { status: 403, code: "AccessDenied" },
      { status: 404, code: "NoSuchBucket" },
    ]) {
      answer = other;
      await expect(collect(s3.read("one", "manifest.json"))).rejects.not.toMatchObject({ code: "backup_file_absent" });
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
