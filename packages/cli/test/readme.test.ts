import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { run } from "../src/run.ts";
import { scriptedHost } from "./scripted-host.ts";

it("the commands of the README run as they stand there", async () => {
  const page = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const [, commands = ""] = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block]) => block ?? "");
  const cwd = await mkdtemp(join(tmpdir(), "seneschal-readme-"));
  try {
    const said: string[] = [];
    // The data directory of a process is relative to where it runs.
    for (const line of commands.replaceAll("./data", join(cwd, "data")).trim().split("\n")) {
      const [command, ...args] = line.split(" ");
      if (command !== "seneschal") {
        execFileSync("sh", ["-c", line], { cwd });
        continue;
      }
      const host = scriptedHost({ cwd });
      expect([line, await run(args, host), host.errors]).toEqual([line, 0, []]);
      said.push(host.lines.join("\n"));
    }
    expect(said.at(-1)).toBe("true");
    expect(said).toHaveLength(3);
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
});
