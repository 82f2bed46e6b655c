import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Host } from "./host.ts";

/** The real machine. */
export function processHost(): Host {
  return {
    env: process.env,
    cwd: process.cwd(),
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    stdin: () => text(process.stdin),
    askSecret,
    interrupted: new Promise((resolve) => {
      process.once("SIGINT", () => resolve());
      process.once("SIGTERM", () => resolve());
    }),
    onHangup: (callback) => void process.on("SIGHUP", callback),
    progress(line) {
      if (process.stderr.isTTY) process.stderr.write(`\r${line}\u001b[K`);
    },
  };
}

/** Reads a line while nothing is echoed; from a pipe it takes the first line. */
async function askSecret(question: string): Promise<string> {
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: process.stdin.isTTY === true });
  try {
    return await new Promise<string>((resolve) => {
      lines.once("line", resolve);
      lines.once("close", () => resolve(""));
    });
  } finally {
    lines.close();
    process.stderr.write("\n");
  }
}
