import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { sourceOptions } from "../../../../tools/source-options.ts";
import { listBackups, verifyBackup } from "../../src/storage/jobs/backup.ts";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { openBackedUpNode } from "./kill-backup-child.ts";
import { bytesOf, collect, operator, pattern } from "./rig.ts";

const child = fileURLToPath(new URL("kill-backup-child.ts", import.meta.url));
const rounds = Number(process.env["KILL_ROUNDS"] ?? 2);
const sizes = [100, 4096, 5000, 60_000, 300_000, 700_000];

/** Runs the child and kills it at a piece. Gives the id of its job, and how many pieces there were. */
async function runAndKill(at: number, ...args: string[]): Promise<{ readonly job: string; readonly pieces: number }> {
  const ran = [...sourceOptions, child, "backup-child", ...args];
  const process = spawn(globalThis.process.execPath, ran, { stdio: ["ignore", "pipe", "inherit"] });
  let job = "";
  let pieces = 0;
  for await (const line of createInterface({ input: process.stdout })) {
    if (line.startsWith("job ")) job = line.slice(4);
    else pieces += 1;
    // The name of the job must have come through, or nobody could ask for it.
    if (pieces >= at && job !== "") process.kill("SIGKILL");
  }
  return { job, pieces };
}

test(
  "kill -9 during a backup and during a restore: the job goes on, and the copy equals the original",
  async () => {
    const root = await mkdtemp(join(tmpdir(), "seneschal-kill-backup-"));
    const source = await openBackedUpNode(root, "source", 0);
    await source.node.tenants.create("alpha", { dedup: true }, operator);
    await createBucket(source.node.objects, "alpha", "bucket", "us-east-1");
    const draft = { tenant: "alpha", bucket: "bucket", contentType: "", headers: {}, meta: {} };
    for (const [i, size] of sizes.entries())
      await putObject(source.node.objects, { ...draft, key: `k${i}`, body: bytesOf(pattern(size, i + 1)) });
    await source.close();

    for (let round = 0; round < rounds; round++) {
      const backup = await runAndKill(1 + ((round * 7) % 60), root, "source");
      // A minute later a round, when the dead process's lease on the jobs has run out.
      const first = await openBackedUpNode(root, "source", (round + 1) * 60_000);
      await first.node.jobs.drain();
      const made = await first.node.jobs.get(backup.job);
      expect(made, `round ${round}`).toMatchObject({ state: "succeeded" });
      const snapshot = String(made?.result?.["snapshot_id"]);
      await verifyBackup(first.target, snapshot);
      expect((await listBackups(first.target)).map((m) => m.snapshot_id)).toEqual([snapshot]);
      expect(await first.target.list()).toEqual([snapshot]);
      await first.close();

      const restore = await runAndKill(1 + ((round * 11) % 60), root, `copy-${round}`, snapshot);
      const second = await openBackedUpNode(root, `copy-${round}`, 60_000);
      await second.node.jobs.drain();
      expect(await second.node.jobs.get(restore.job), `round ${round}`).toMatchObject({ state: "succeeded" });
      expect(second.node.cluster.state.maintenance).toBe(false);
      for (const [i, size] of sizes.entries()) {
        const bytes = await collect(
          readObject(second.node.objects, await headObject(second.node.objects, "alpha", "bucket", `k${i}`)),
        );
        expect(bytes.equals(pattern(size, i + 1)), `round ${round}, k${i}`).toBe(true);
      }
      const scrub = await second.node.scrub({ kind: "cluster" }, operator);
      await second.node.jobs.drain();
      expect(await second.node.jobs.get(scrub.id)).toMatchObject({ state: "succeeded", result: { lost: 0, repaired: 0 } });
      await second.target.remove(snapshot);
      await second.close();
      await rm(join(root, `copy-${round}`), { recursive: true });
    }
    await rm(root, { recursive: true, force: true });
  },
  120_000 * rounds,
);
