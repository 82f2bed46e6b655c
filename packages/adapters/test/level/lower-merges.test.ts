import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sourceOptions } from "../../../../tools/source-options.ts";

const level = new URL("../../src/level/open-level.ts", import.meta.url).href;
/** Prints by how much each thread is nicer than the process, those that are, and what is watched once all is closed. */
const program = `
const { readdirSync, readFileSync } = await import("node:fs");
const { getPriority } = await import("node:os");
const { openLevel } = await import("${level}");
const [one, other] = await Promise.all(process.argv.slice(1).map(openLevel));
const nicer = readdirSync("/proc/self/task").map((id) => getPriority(Number(id)) - getPriority()).filter((by) => by !== 0);
await one.close();
await other.close();
const kept = readdirSync("/proc/self/fdinfo").flatMap((fd) => {
  try {
    return readFileSync("/proc/self/fdinfo/" + fd, "utf8").match(/^inotify wd/gm) ?? [];
  } catch {
    return [];
  }
});
console.log(JSON.stringify({ nicer, watched: kept.length }));`;

describe.runIf(process.platform === "linux")("a process that opens its first two directories at once", () => {
  let path: string;
  let said: { readonly nicer: readonly number[]; readonly watched: number };
  beforeAll(async () => {
    path = await mkdtemp(join(tmpdir(), "lower-merges-"));
    const options = [...sourceOptions, "--input-type=module", "-e", program];
    const { stdout } = await promisify(execFile)(process.execPath, [...options, join(path, "one"), join(path, "other")]);
    said = JSON.parse(stdout);
  });
  afterAll(() => rm(path, { recursive: true }));

  test("has the one thread that merges, and no other, behind those that answer requests", () => {
    expect(said.nicer).toEqual([5]);
  });

  test("watches neither when both are closed", () => {
    expect(said.watched).toBe(0);
  });
});
