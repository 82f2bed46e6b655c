import { execFile } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { exitCode } from "./exit-code.ts";
import type { Host } from "./host.ts";

/** The real machine. */
export function processHost(): Host {
  return {
    env: process.env,
    cwd: process.cwd(),
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    stdin: () => text(process.stdin),
    readLines,
    askSecret,
    interrupted: new Promise((resolve) => {
      process.once("SIGINT", () => resolve());
      process.once("SIGTERM", () => resolve());
    }),
    endWithin(ms, late) {
      const end = (): never => {
        late([...new Set(process.getActiveResourcesInfo())]);
        process.exit(exitCode.unavailable);
      };
      setTimeout(end, ms).unref();
    },
    onHangup: (callback) => void process.on("SIGHUP", callback),
    tellReady,
    progress(line) {
      if (process.stderr.isTTY) process.stderr.write(`\r${line}\u001b[K`);
    },
  };
}

/** Tells systemd, of a unit with `Type=notify` (sd_notify(3)). By its own command: Node has no sockets for datagrams of this machine. */
async function tellReady(): Promise<void> {
  if (process.env["NOTIFY_SOCKET"] === undefined) return;
  await promisify(execFile)("systemd-notify", ["--ready"]);
}

async function* readLines(prompt: () => string): AsyncGenerator<string> {
  const terminal = process.stdin.isTTY === true;
  const reader = createInterface({ input: process.stdin, ...(terminal ? { output: process.stdout, historySize: 1000 } : {}) });
  const ask = (): void => {
    if (!terminal) return;
    reader.setPrompt(prompt());
    reader.prompt();
  };
  try {
    ask();
    for await (const line of reader) {
      yield line;
      ask();
    }
  } finally {
    reader.close();
  }
}

/** Lines of a pipe, in the order that they are asked for: a reader of its own for each question would lose what it had read ahead. */
let piped: { readonly lines: Interface; readonly next: AsyncIterator<string> } | undefined;

/** Reads a line while nothing is echoed; from a pipe it takes the next line. */
async function askSecret(question: string): Promise<string> {
  process.stderr.write(question);
  try {
    return process.stdin.isTTY === true ? await typed() : await nextOfPipe();
  } finally {
    process.stderr.write("\n");
  }
}

async function typed(): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await new Promise<string>((resolve) => {
      lines.once("line", resolve);
      lines.once("close", () => resolve(""));
    });
  } finally {
    lines.close();
  }
}

async function nextOfPipe(): Promise<string> {
  if (piped === undefined) {
    const lines = createInterface({ input: process.stdin });
    piped = { lines, next: lines[Symbol.asyncIterator]() };
  }
  piped.lines.resume();
  const { value, done } = await piped.next.next();
  // An open pipe must not hold the process.
  piped.lines.pause();
  return done === true ? "" : value;
}
