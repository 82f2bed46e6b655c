import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

describe("seneschal serve", () => {
  let cwd = "";
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "seneschal-serve-"));
  });
  afterAll(() => rm(cwd, { recursive: true, force: true }));

  it.each([[[]], [["--json"]]])("writes JSON lines, as its log is, and nothing else on standard output: %j", async (flags) => {
    const host = scriptedHost({ cwd, interrupted: Promise.resolve() });
    const settings = [`data_dir=${cwd}/data`, "log.level=silent", "scheduler.server.port=0", "scheduler.server.host=127.0.0.1"];
    const code = await run(["serve", "--services", "scheduler", ...settings.flatMap((s) => ["--set", s]), ...flags], host);
    expect([code, host.errors]).toEqual([0, []]);
    const lines = host.lines.flatMap((text) => text.split("\n")).map((line): unknown => JSON.parse(line));
    expect(lines).toEqual([{ services: [{ name: "scheduler", url: expect.stringMatching(/^http:/) }] }]);
  });
});
