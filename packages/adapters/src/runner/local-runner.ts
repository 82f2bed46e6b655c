import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { checkOptions } from "@seneschal/kernel";

/** One line of a command's output. */
export interface RunnerLine {
  readonly at: number;
  /** `info` for standard output, `error` for standard error. */
  readonly level: "info" | "error";
  readonly message: string;
  readonly source: "stdout" | "stderr";
}

/** Executes shell commands on this machine, one per allocation. */
export interface LocalRunner {
  /** Starts `/bin/sh -c command`; calls back once with its exit code (-1: killed by a signal or not started). */
  start(id: string, command: string, env: Readonly<Record<string, string>>, ended: (exitCode: number) => void): void;
  /** Ends the command and everything that it started: SIGTERM, then SIGKILL after the grace. */
  kill(id: string): void;
  running(): readonly string[];
  tail(id: string, lines: number): readonly RunnerLine[] | undefined;
  follow(id: string, callback: (line: RunnerLine) => void): () => void;
  /** Kills everything and waits for it. */
  close(): Promise<void>;
}

export interface LocalRunnerOptions {
  readonly now: () => number;
  /** Milliseconds between SIGTERM and SIGKILL; default 5,000. */
  readonly graceMs?: number;
  /** Lines kept per allocation; default 10,000. */
  readonly lines?: number;
  /** Ended allocations whose lines are kept; default 1,000. */
  readonly keep?: number;
}

interface Job {
  readonly lines: RunnerLine[];
  readonly followers: Set<(line: RunnerLine) => void>;
  child: ChildProcess | undefined;
  done: Promise<void>;
}

/** A line longer than this is cut. */
const MAX_LINE = 16_384;

/**
 * The local runner, for demonstration and tests. It gives commands a bare environment (PATH and what is passed), never
 * that of this process; it isolates nothing else: whoever may submit work may do what this process may do.
 */
export function localRunner(options: LocalRunnerOptions): LocalRunner {
  checkOptions("options", options, { now: "function", graceMs: "number?", lines: "number?", keep: "number?" });
  const { now, graceMs = 5000, lines: limit = 10_000, keep = 1000 } = options;
  const jobs = new Map<string, Job>();

  const signal = (child: ChildProcess, name: "SIGTERM" | "SIGKILL"): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name); // the whole group
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  };

  const kill = (id: string): void => {
    const child = jobs.get(id)?.child;
    if (child === undefined) return;
    signal(child, "SIGTERM");
    const timer = setTimeout(() => signal(child, "SIGKILL"), graceMs);
    child.once("close", () => clearTimeout(timer));
  };

  return {
    start(id, command, env, ended) {
      if (jobs.get(id)?.child !== undefined) return;
      const child = spawn("/bin/sh", ["-c", command], {
        env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", ...env },
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      });
      const before = jobs.get(id);
      const job: Job = { lines: before?.lines ?? [], followers: before?.followers ?? new Set(), child, done: Promise.resolve() };
      jobs.delete(id);
      jobs.set(id, job);
      for (const [source, level] of [
        ["stdout", "info"],
        ["stderr", "error"],
      ] as const)
        createInterface({ input: child[source] }).on("line", (text) => {
          const line: RunnerLine = { at: now(), level, message: text.slice(0, MAX_LINE), source };
          job.lines.push(line);
          if (job.lines.length > limit) job.lines.shift();
          for (const follower of job.followers) follower(line);
        });
      job.done = new Promise((resolve) => {
        let told = false;
        const end = (exitCode: number): void => {
          if (told) return;
          told = true;
          job.child = undefined;
          for (const [old, { child: alive }] of jobs) {
            if (jobs.size <= keep) break;
            if (alive === undefined) jobs.delete(old);
          }
          resolve();
          ended(exitCode);
        };
        child.once("error", () => end(-1));
        child.once("close", (code) => end(code ?? -1));
      });
    },
    kill,
    running: () => [...jobs].filter(([, { child }]) => child !== undefined).map(([id]) => id),
    tail: (id, count) => jobs.get(id)?.lines.slice(-count),
    follow(id, callback) {
      const followers = jobs.get(id)?.followers;
      followers?.add(callback);
      return () => followers?.delete(callback);
    },
    async close() {
      const alive = [...jobs].filter(([, { child }]) => child !== undefined);
      for (const [id] of alive) kill(id);
      await Promise.all(alive.map(([, { done }]) => done));
    },
  };
}
