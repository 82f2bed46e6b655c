import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { ownAddress } from "../../../../tools/own-address.ts";
import { sourceCommand } from "../../../../tools/source-options.ts";
import { type Answer, keepAliveCall } from "./keep-alive-call.ts";

export const ADMIN = "token-of-the-administrator";

/** Scheduler processes on one log. */
export interface Fleet {
  readonly urls: readonly string[];
  kill(at: number): Promise<void>;
  /** `checkout`: whose process it is, where it is not the fleet's. */
  start(at: number, checkout?: string): Promise<void>;
  /** Sends a line to its standard input: see `scheduler-process.ts`. */
  tell(at: number, line: string): void;
  /** Resolves when the process has ended by itself. */
  ended(at: number): Promise<void>;
  pause(at: number): void;
  resume(at: number): void;
  destroy(): Promise<void>;
}

/** Starts so many, of another checkout where one is named. */
export async function startFleet(count: number, storage: Record<string, unknown>, checkout?: string): Promise<Fleet> {
  const addresses = await Promise.all(Array.from({ length: count }, ownAddress));
  const urls = addresses.map(({ host, port }) => `http://${host}:${port}`);
  const children: (ChildProcess | undefined)[] = [];
  const start = async (at: number, from = checkout): Promise<void> => {
    const config = {
      server: { ...addresses[at], instance_id: `scheduler-${at}` },
      tokens: [{ id: "root", role: "system-admin", sha256: createHash("sha256").update(ADMIN).digest("hex") }],
      rate_limit: { authenticated: { limit: 1_000_000_000 } },
      storage,
      scheduling: { keep_ended: "10m" },
      cluster: { address: urls[at], token: "token-of-the-peers" },
    };
    const command = sourceCommand(new URL("scheduler-process.ts", import.meta.url), from);
    const child = spawn(process.execPath, [...command, JSON.stringify(config)], { stdio: ["pipe", "pipe", "inherit"] });
    children[at] = child;
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: child.stdout as Readable }).once("line", () => resolve());
      child.once("exit", (code) => reject(new Error(`scheduler ${at} ended with ${code}`)));
    });
  };
  const kill = async (at: number): Promise<void> => {
    const child = children[at];
    children[at] = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  };
  const destroy = async (): Promise<void> => {
    await Promise.all(children.map((_, at) => kill(at)));
  };
  try {
    await Promise.all(urls.map((_, at) => start(at)));
  } catch (error) {
    await destroy();
    throw error;
  }
  return {
    urls,
    start,
    kill,
    tell: (at, line) => void children[at]?.stdin?.write(`${line}\n`),
    ended: async (at) => {
      const child = children[at];
      if (child !== undefined && child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
    pause: (at) => void children[at]?.kill("SIGSTOP"),
    resume: (at) => void children[at]?.kill("SIGCONT"),
    destroy,
  };
}

/** One request of the administrator; `key` is its idempotency key. */
export function call(url: string, method: string, path: string, body?: unknown, key?: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${ADMIN}`, ...(key === undefined ? {} : { "idempotency-key": key }) };
  return keepAliveCall({ url, method, path, headers, ...(body === undefined ? {} : { body }) });
}

/** Asks process after process until one gives a definite answer; the key makes sure that it happens once. */
export async function insist(
  fleet: Pick<Fleet, "urls">,
  at: number,
  method: string,
  path: string,
  body?: unknown,
  key?: string,
): Promise<Answer> {
  for (let attempt = 0; ; attempt++) {
    const url = fleet.urls[(at + attempt) % fleet.urls.length] as string;
    try {
      const answer = await call(url, method, path, body, key);
      // 408: it stalled on the way, like one without an answer
      if (answer.status < 500 && answer.status !== 408) return answer;
    } catch {
      // no answer: unknown whether it happened
    }
    await wait(20);
  }
}
