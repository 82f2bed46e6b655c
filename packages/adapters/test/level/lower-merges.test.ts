import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { sourceOptions } from "../../../../tools/source-options.ts";

const level = new URL("../../src/level/open-level.ts", import.meta.url).href;
/** Prints by how much each thread is nicer than the process, those that are. */
const program = `
const { readdirSync } = await import("node:fs");
const { getPriority } = await import("node:os");
const { openLevel } = await import("${level}");
const [one, other] = await Promise.all(process.argv.slice(1).map(openLevel));
const nicer = readdirSync("/proc/self/task").map((id) => getPriority(Number(id)) - getPriority());
console.log(JSON.stringify(nicer.filter((by) => by !== 0)));
await one.close();
await other.close();`;

test.runIf(process.platform === "linux")(
  "the one thread that merges, and no other, is behind those that answer requests",
  async () => {
    const path = await mkdtemp(join(tmpdir(), "lower-merges-"));
    onTestFinished(() => rm(path, { recursive: true }));
    const options = [...sourceOptions, "--input-type=module", "-e", program];
    const { stdout } = await promisify(execFile)(process.execPath, [...options, join(path, "one"), join(path, "other")]);
    expect(JSON.parse(stdout)).toEqual([5]);
  },
);
