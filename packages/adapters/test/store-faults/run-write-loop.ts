import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { sourceOptions } from "../../../../tools/source-options.ts";

const repository = new URL("../../../..", import.meta.url).pathname;

/** Runs the write loop, hands every line to `onLine`, and resolves at its end. `fileBlocks` limits the size of its files. */
export function runWriteLoop(
  place: string,
  first: number,
  onLine: (line: string, kill: () => void) => void,
  fileBlocks?: number,
): Promise<void> {
  const script = new URL("write-loop.ts", import.meta.url).pathname;
  const args = [...sourceOptions, script, place, String(first)];
  const child =
    fileBlocks === undefined
      ? spawn(process.execPath, args, { cwd: repository, stdio: ["ignore", "pipe", "inherit"] })
      : spawn("/bin/sh", ["-c", `ulimit -f ${fileBlocks}; exec "$0" "$@"`, process.execPath, ...args], {
          cwd: repository,
          stdio: ["ignore", "pipe", "inherit"],
        });
  createInterface({ input: child.stdout }).on("line", (line) => onLine(line, () => child.kill("SIGKILL")));
  return new Promise((resolve) => child.on("close", () => resolve()));
}
