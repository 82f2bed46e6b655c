/**
 * A process that calls over kept-alive connections, with TLS where it is given certificates, and reports how many calls were answered per second, and how long they
 * took. Without a rate every connection always has a call in flight. With one, calls begin by a clock that ticks every millisecond,
 * whether or not the ones before were answered; a call that finds no free connection waits for one, and its time runs: what
 * waits for a slow answer is not forgiven. Only this process's own lateness, a tick that came late, is not the server's: the clock stands
 * still for it, and how late ticks were is reported. It shares the processor with the server: it speaks HTTP/1.1 itself, because a client library costs as much as what is
 * measured, and a call leaves next to no garbage.
 */
import { connect as connectPlainly } from "node:net";
import { type ConnectionOptions, connect } from "node:tls";
import { quantile } from "./bench.ts";

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
  /** Of so many, each as long as was said, the middle one counts; default 1. */
  readonly rounds?: number;
  /** Also reports the body of the last answer. */
  readonly keepLast?: boolean;
}

export interface LoadReport {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Of the round in which it was lowest. */
  readonly quietestP99: number;
  /** How late this process was to begin calls, milliseconds. */
  readonly lateP99: number;
  readonly last?: string;
}

/** A connection that carries one call at a time. */
interface Connection {
  /** When its call began. */
  began: number;
  send(request: Buffer): void;
  /** Called when the whole answer is there. */
  answered: () => void;
  close(): void;
}

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

/** Ends the process: a call that fails ends the measurement. */
function fail(error: Error): never {
  console.error(error);
  process.exit(1);
}

function open(): Promise<Connection> {
  const { port, ca, cert, key } = load;
  return new Promise((resolve) => {
    let head: Buffer = Buffer.alloc(0);
    let pieces: Buffer[] = [];
    /** Bytes of the body that are still to come; `undefined` in the head. */
    let missing: number | undefined;

    const take = (chunk: Buffer): void => {
      let rest = chunk;
      if (missing === undefined) {
        const all = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const end = all.indexOf("\r\n\r\n");
        if (end < 0) {
          head = Buffer.from(all);
          return;
        }
        const text = all.toString("latin1", 0, end);
        rest = all.subarray(end + 4);
        head = Buffer.alloc(0);
        missing = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? Number.NaN);
        if (!/^HTTP\/1\.1 [23]/.test(text) || Number.isNaN(missing)) fail(new Error(text.split("\r\n", 1)[0]));
      }
      missing -= rest.length;
      if (load.keepLast === true) pieces.push(Buffer.from(rest));
      if (missing > 0) return;
      if (load.keepLast === true) last = Buffer.concat(pieces).toString("utf8");
      pieces = [];
      missing = undefined;
      connection.answered();
    };
    // What is read lands in one buffer, without a stream.
    const onread = {
      buffer: Buffer.alloc(64 * 1024),
      callback: (length: number, buffer: Uint8Array): boolean => {
        take((buffer as Buffer).subarray(0, length));
        return true;
      },
    };
    // The types do not know that TLS takes `onread` too.
    const secure: ConnectionOptions & { readonly onread: typeof onread } = {
      host: "localhost",
      servername: "localhost",
      port,
      ca,
      cert,
      key,
      onread,
    };
    const socket = ca === undefined ? connectPlainly({ host: "127.0.0.1", port, onread }) : connect(secure);
    const lost = (): never => fail(new Error("the server closed a connection"));
    const connection: Connection = {
      began: 0,
      send: (request) => socket.write(request),
      answered: () => undefined,
      close: () => socket.off("close", lost).destroy(),
    };
    socket
      .setNoDelay()
      .on("error", fail)
      .once("close", lost)
      .once(ca === undefined ? "connect" : "secureConnect", () => resolve(connection));
  });
}

/** How long calls took, or how late ticks were, milliseconds. */
class Times {
  #list = new Float64Array(1 << 16);
  count = 0;

  add(time: number): void {
    if (this.count === this.#list.length) {
      const list = new Float64Array(2 * this.count);
      list.set(this.#list);
      this.#list = list;
    }
    this.#list[this.count++] = time;
  }

  quantile(part: number): number {
    return quantile(this.#list.slice(0, this.count).sort(), part);
  }
}

type Round = Omit<LoadReport, "quietestP99" | "last">;

function roundOf(times: Times, late: Times, elapsed: number): Round {
  return {
    perSecond: (times.count * 1000) / elapsed,
    p50: times.quantile(0.5),
    p99: times.quantile(0.99),
    lateP99: late.quantile(0.99),
  };
}

function reportOf(rounds: readonly Round[]): LoadReport {
  const sorted = (figure: keyof Round): number[] => rounds.map((round) => round[figure]).sort((a, b) => a - b);
  const middle = (figure: keyof Round): number => quantile(sorted(figure), 0.5);
  return {
    perSecond: middle("perSecond"),
    p50: middle("p50"),
    p99: middle("p99"),
    quietestP99: quantile(sorted("p99"), 0),
    lateP99: middle("lateP99"),
    ...(load.keepLast === true ? { last } : {}),
  };
}

/** Every connection always has a call in flight. */
async function busy(connections: readonly Connection[], milliseconds: number): Promise<Round> {
  const start = performance.now();
  const times = new Times();
  await Promise.all(
    connections.map(
      (connection) =>
        new Promise<void>((resolve) => {
          connection.began = start;
          connection.answered = () => {
            const now = performance.now();
            times.add(now - connection.began);
            connection.began = now;
            if (now < start + milliseconds) connection.send(nextRequest());
            else resolve();
          };
          connection.send(nextRequest());
        }),
    ),
  );
  return roundOf(times, new Times(), performance.now() - start);
}

/** Milliseconds between two ticks of the clock, as they come in good times. */
const TICK = 2;

/** Calls begin by the clock. */
async function paced(connections: readonly Connection[], milliseconds: number, rate: number): Promise<Round> {
  const times = new Times();
  const late = new Times();
  const free = [...connections];
  const queue: number[] = [];
  const count = Math.floor((milliseconds * rate) / 1000);
  const start = performance.now();
  await new Promise<void>((resolve) => {
    const serve = (): void => {
      while (queue.length > 0) {
        const connection = free.pop();
        if (connection === undefined) return;
        connection.began = queue.shift() as number;
        connection.send(nextRequest());
      }
    };
    for (const connection of connections)
      connection.answered = () => {
        times.add(performance.now() - connection.began);
        free.push(connection);
        if (times.count === count) resolve();
        else serve();
      };
    let begun = 0;
    let due = performance.now();
    let ticked = due;
    const tick = (): void => {
      const now = performance.now();
      // While this process stood still nobody called: callers elsewhere would not all come at once for it.
      const missed = Math.max(0, now - ticked - TICK);
      due += missed;
      late.add(missed);
      for (ticked = now; begun < count && due <= now; due += 1000 / rate) {
        begun += 1;
        queue.push(now);
      }
      serve();
      if (begun < count) setTimeout(tick, 1);
    };
    tick();
  });
  return roundOf(times, late, performance.now() - start);
}

/**
 * Over connections of its own: the server closes those that are not used for long. The first third is not measured: the server is at work on handshakes
 * that are over for this side.
 */
async function round(): Promise<Round> {
  const { rate, milliseconds } = load;
  const connections = await Promise.all(Array.from({ length: load.connections }, open));
  const run = (time: number): Promise<Round> => (rate === undefined ? busy(connections, time) : paced(connections, time, rate));
  await run(milliseconds / 3);
  const measured = await run(milliseconds);
  for (const connection of connections) connection.close();
  return measured;
}

const rounds: Round[] = [];
while (rounds.length < (load.rounds ?? 1)) rounds.push(await round());
process.send?.(reportOf(rounds), () => process.exit(0));
