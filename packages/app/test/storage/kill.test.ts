import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { sourceOptions } from "../../../../tools/source-options.ts";
import { countReferences } from "../../src/storage/jobs/chunk-pages.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { bodyOf, openDiskNode } from "./kill-child.ts";
import { collect, operator } from "./rig.ts";

const child = fileURLToPath(new URL("kill-child.ts", import.meta.url));
const rounds = Number(process.env["KILL_ROUNDS"] ?? 3);

/** Runs the child until it has acknowledged so much, then kills it at once. Gives its lines. */
async function runAndKill(directory: string, start: number, acknowledgements: number): Promise<readonly string[]> {
  const args = [...sourceOptions, child, "child", directory, String(start)];
  const process = spawn(globalThis.process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  let acknowledged = 0;
  for await (const line of createInterface({ input: process.stdout })) {
    lines.push(line);
    if (!line.startsWith("try")) acknowledged += 1;
    if (acknowledged === acknowledgements) process.kill("SIGKILL");
  }
  return lines;
}

test(
  "kill -9 during writes, deletions, scrub and evacuation loses nothing that was acknowledged, and jobs go on",
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "seneschal-kill-"));
    /** By key: what may be read. Several while the last try was not acknowledged. */
    const allowed = new Map<string, Set<number>>();
    for (let round = 0; round < rounds; round++) {
      for (const line of await runAndKill(directory, round * 1000, 25 + ((round * 17) % 60))) {
        const [verb, key = "", n = ""] = line.split(" ");
        if (verb === "try") allowed.set(key, new Set([...(allowed.get(key) ?? [-1]), Number(n)]));
        else allowed.set(key, new Set([Number(n)]));
      }
      // A minute later, when the dead process's lease on the jobs has run out.
      const { node, close } = await openDiskNode(directory, 60_000);
      for (const [key, values] of allowed) {
        const found = await headObject(node.objects, "alpha", "bucket", key).catch((error: { code: string }) => {
          expect(error.code).toBe("NotFound");
        });
        if (!found) {
          expect(values.has(-1), `${key} is gone`).toBe(true);
          continue;
        }
        const bytes = await collect(readObject(node.objects, found));
        const which = [...values].filter((n) => n >= 0 && bytes.equals(bodyOf(n)));
        expect(which.length, `${key} holds what nobody wrote`).toBeGreaterThan(0);
      }
      await node.jobs.drain();
      for (const device of Object.values(node.cluster.state.devices)) {
        expect(device.state).not.toBe("Evacuating");
        if (device.state === "Removed") expect(await countReferences(node.context.store, device.id)).toBe(0);
      }
      const job = await node.scrub({ kind: "cluster" }, operator);
      await node.jobs.drain();
      expect(await node.jobs.get(job.id)).toMatchObject({ state: "succeeded", result: { lost: 0, repair_errors: 0 } });
      await close();
    }
    await rm(directory, { recursive: true, force: true });
  },
  120_000 * rounds,
);
