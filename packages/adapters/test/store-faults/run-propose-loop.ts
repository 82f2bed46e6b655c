import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { sourceOptions } from "../../../../tools/source-options.ts";

const repository = new URL("../../../..", import.meta.url).pathname;

/** Runs the propose loop until it has printed `until` answers, kills it, and gives command ids and answers. */
export function runProposeLoop(place: string, run: string, until: number): Promise<ReadonlyMap<string, string>> {
  const script = new URL("propose-loop.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [...sourceOptions, script, place, run], {
    cwd: repository,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const answers = new Map<string, string>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const [, id = "", ...answer] = line.split(" ");
    answers.set(id, answer.join(" "));
    if (answers.size === until) child.kill("SIGKILL");
  });
  return new Promise((resolve) => child.on("close", () => resolve(answers)));
}
