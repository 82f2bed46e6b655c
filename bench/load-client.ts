/**
 * A process that calls over keep-alive HTTPS connections and reports how many calls were answered per second, and how long they
 * took. Without a rate every connection always has a call in flight. With one, calls begin by the clock whether or not the
 * ones before were answered, and their time counts from the moment they were due: what waits for a slow one is not forgiven.
 */
import { Agent, type RequestOptions, request } from "node:https";
import { setTimeout as wait } from "node:timers/promises";

export interface Load {
  readonly port: number;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly path: string;
  readonly method: string;
  /** `{n}` in it is replaced by a number that no other call has. */
  readonly body?: string;
  readonly connections: number;
  readonly milliseconds: number;
  /** Calls per second. */
  readonly rate?: number;
  /** Also reports the body of the last answer. */
  readonly keepLast?: boolean;
}

export interface LoadReport {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly last?: string;
}

const load = await new Promise<Load>((resolve) => process.once("message", (message) => resolve(message as Load)));
const agent = new Agent({ keepAlive: true, maxSockets: load.connections, ca: load.ca, cert: load.cert, key: load.key });
let calls = 0;
let last = "";

function once(): Promise<void> {
  const body = load.body?.replace("{n}", `${process.pid}-${calls++}`);
  const options: RequestOptions = {
    ...{ agent, host: "localhost", port: load.port, path: load.path, method: load.method },
    headers: body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
  };
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      const bad = (response.statusCode ?? 500) >= 400;
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () => {
        if (load.keepLast === true) last = Buffer.concat(pieces).toString("utf8");
        if (bad) reject(new Error(`status ${response.statusCode}`));
        else resolve();
      });
    });
    sent.on("error", reject).end(body);
  });
}

function report(times: number[], elapsed: number): LoadReport {
  times.sort((a, b) => a - b);
  const at = (part: number): number => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
  return { perSecond: (times.length * 1000) / elapsed, p50: at(0.5), p99: at(0.99), ...(load.keepLast === true ? { last } : {}) };
}

async function closed(milliseconds: number): Promise<LoadReport> {
  const start = performance.now();
  const times: number[] = [];
  await Promise.all(
    Array.from({ length: load.connections }, async () => {
      for (let began = performance.now(); began < start + milliseconds; began = performance.now()) {
        await once();
        times.push(performance.now() - began);
      }
    }),
  );
  return report(times, performance.now() - start);
}

async function open(milliseconds: number, rate: number): Promise<LoadReport> {
  const start = performance.now();
  const times: number[] = [];
  const all: Promise<void>[] = [];
  const count = Math.floor((milliseconds * rate) / 1000);
  for (let n = 0; n < count; ) {
    for (const now = performance.now(); n < count && start + (n * 1000) / rate <= now; n++) {
      const due = start + (n * 1000) / rate;
      all.push(
        once().then(() => {
          times.push(performance.now() - due);
        }),
      );
    }
    await wait(1);
  }
  await Promise.all(all);
  return report(times, performance.now() - start);
}

const { rate, milliseconds } = load;
const run = (time: number): Promise<LoadReport> => (rate === undefined ? closed(time) : open(time, rate));
await run(milliseconds / 3);
process.send?.(await run(milliseconds));
agent.destroy();
process.disconnect();
