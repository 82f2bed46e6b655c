/**
 * A process that calls over kept-alive connections, with TLS where it is given certificates, and reports how many calls were answered per second, and how long they
 * took. Without a rate every connection always has a call in flight. With one, calls begin by a clock that ticks every millisecond,
 * whether or not the ones before were answered; a call that finds no free connection waits for one, and its time runs: what
 * waits for a slow answer is not forgiven. Only this process's own lateness, a tick that came late, is not the server's: the clock stands
 * still for it, and how late ticks were is reported. It speaks HTTP/1.1 itself, because a client library costs as much as the server that is measured.
 */
import { connect as connectPlainly } from "node:net";
import { connect } from "node:tls";

export interface Load {
  readonly port: number;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path: string;
  readonly method: string;
  /** Several are sent in turn. `{n}` in one is replaced by a number that no other call has. */
  readonly body?: string | readonly string[];
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
  /** How late this process was to begin calls, milliseconds. */
  readonly lateP99: number;
  readonly last?: string;
}

/** Sends one request and resolves when its whole answer is there. One at a time. */
type Exchange = (request: Buffer) => Promise<void>;

const load = await new Promise<Load>((resolve) => process.once("message", (message) => resolve(message as Load)));
const bodies = typeof load.body === "object" ? load.body : [load.body];
const constant = bodies.map((body) => (body?.includes("{n}") === true ? undefined : requestOf(body)));
let calls = 0;
let last = "";

function requestOf(body: string | undefined): Buffer {
  const lines = [`${load.method} ${load.path} HTTP/1.1`, `host: localhost:${load.port}`];
  for (const [name, value] of Object.entries(load.headers ?? {})) lines.push(`${name}: ${value}`);
  if (body !== undefined) lines.push("content-type: application/json", `content-length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
}

function nextRequest(): Buffer {
  const call = calls++;
  const turn = call % bodies.length;
  return constant[turn] ?? requestOf(bodies[turn]?.replace("{n}", `${process.pid}-${call}`));
}

function open(): Promise<Exchange> {
  const { port, ca, cert, key } = load;
  return new Promise((resolveOpen, rejectOpen) => {
    const socket =
      ca === undefined
        ? connectPlainly({ host: "127.0.0.1", port })
        : connect({ host: "localhost", servername: "localhost", port, ca, cert, key });
    let waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;
    let head: Buffer = Buffer.alloc(0);
    let pieces: Buffer[] = [];
    /** Bytes of the body that are still to come; `undefined` in the head. */
    let missing: number | undefined;

    const fail = (error: Error): void => {
      socket.destroy();
      rejectOpen(error);
      waiting?.reject(error);
    };
    const take = (chunk: Buffer): void => {
      let rest = chunk;
      if (missing === undefined) {
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const end = head.indexOf("\r\n\r\n");
        if (end < 0) return;
        const text = head.toString("latin1", 0, end);
        rest = head.subarray(end + 4);
        head = Buffer.alloc(0);
        missing = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? Number.NaN);
        if (!/^HTTP\/1\.1 [23]/.test(text) || Number.isNaN(missing)) {
          fail(new Error(text.split("\r\n", 1)[0]));
          return;
        }
      }
      missing -= rest.length;
      if (load.keepLast === true) pieces.push(rest);
      if (missing > 0) return;
      if (load.keepLast === true) last = Buffer.concat(pieces).toString("utf8");
      pieces = [];
      missing = undefined;
      waiting?.resolve();
    };
    socket
      .setNoDelay()
      .on("data", take)
      .on("error", fail)
      .once("close", () => fail(new Error("the server closed a connection")))
      .once(ca === undefined ? "connect" : "secureConnect", () =>
        resolveOpen(
          (request) =>
            new Promise((resolve, reject) => {
              waiting = { resolve, reject };
              socket.write(request);
            }),
        ),
      );
  });
}

function report(times: number[], late: number[], elapsed: number): LoadReport {
  const at = (list: number[], part: number): number =>
    list.sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * part))] ?? 0;
  const figures = {
    perSecond: (times.length * 1000) / elapsed,
    p50: at(times, 0.5),
    p99: at(times, 0.99),
    lateP99: at(late, 0.99),
  };
  return { ...figures, ...(load.keepLast === true ? { last } : {}) };
}

/** Every connection always has a call in flight. */
async function busy(milliseconds: number): Promise<LoadReport> {
  const start = performance.now();
  const times: number[] = [];
  await Promise.all(
    exchanges.map(async (exchange) => {
      for (let began = performance.now(); began < start + milliseconds; began = performance.now()) {
        await exchange(nextRequest());
        times.push(performance.now() - began);
      }
    }),
  );
  return report(times, [], performance.now() - start);
}

/** Milliseconds between two ticks of the clock, as they come in good times. */
const TICK = 2;

/** Calls begin by the clock. */
async function paced(milliseconds: number, rate: number): Promise<LoadReport> {
  const times: number[] = [];
  const late: number[] = [];
  const free = [...exchanges];
  const queue: number[] = [];
  const count = Math.floor((milliseconds * rate) / 1000);
  const start = performance.now();
  await new Promise<void>((resolve, reject) => {
    const serve = (): void => {
      while (queue.length > 0) {
        const exchange = free.pop();
        if (exchange === undefined) return;
        const began = queue.shift() as number;
        exchange(nextRequest()).then(() => {
          times.push(performance.now() - began);
          free.push(exchange);
          if (times.length === count) resolve();
          else serve();
        }, reject);
      }
    };
    let begun = 0;
    let due = performance.now();
    let ticked = due;
    const tick = (): void => {
      const now = performance.now();
      // While this process stood still nobody called: callers elsewhere would not all come at once for it.
      const missed = Math.max(0, now - ticked - TICK);
      due += missed;
      late.push(missed);
      for (ticked = now; begun < count && due <= now; due += 1000 / rate) {
        begun += 1;
        queue.push(now);
      }
      serve();
      if (begun < count) setTimeout(tick, 1);
    };
    tick();
  });
  return report(times, late, performance.now() - start);
}

const exchanges = await Promise.all(Array.from({ length: load.connections }, open));
const { rate, milliseconds } = load;
const run = (time: number): Promise<LoadReport> => (rate === undefined ? busy(time) : paced(time, rate));
await run(milliseconds / 3);
process.send?.(await run(milliseconds), () => process.exit(0));
