/**
 * A process that sends requests by the clock over kept-alive connections and reports how long the answers took, from when each was due: what waits for a
 * slow one is not forgiven. It speaks HTTP/1.1 over bare sockets, one request in flight per connection, so that it leaves the machine to the service.
 */
import { connect, type Socket } from "node:net";

interface Load {
  readonly port: number;
  readonly path: string;
  readonly bodies: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly perSecond: number;
  readonly milliseconds: number;
}

const CONNECTIONS = 64;

const load = await new Promise<Load>((resolve) => process.once("message", (message) => resolve(message as Load)));
const head = Object.entries({ host: "localhost", "content-type": "application/json", ...load.headers })
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join("");
const requests = load.bodies.map((body) =>
  Buffer.from(`POST ${load.path} HTTP/1.1\r\n${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
);

/** One connection: calls `done` with the status of each answer when the whole of it is there. */
function open(done: (status: number) => void): Promise<Socket> {
  const socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true });
  let text = "";
  socket.on("data", (piece) => {
    text += piece.toString("latin1");
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/content-length: *(\d+)/i.exec(text.slice(0, end))?.[1]);
    if (text.length < end + 4 + length) return;
    const status = Number(text.slice(9, 12));
    text = text.slice(end + 4 + length);
    done(status);
  });
  socket.on("error", fail).on("end", () => fail(new Error("the service closed a connection")));
  return new Promise((resolve) => socket.once("connect", () => resolve(socket)));
}

function fail(error: unknown): never {
  throw error;
}

const free: Socket[] = [];
const waiting: { readonly due: number; readonly bytes: Buffer }[] = [];
const due = new Map<Socket, number>();
let times: number[] = [];
let finished: () => void = () => undefined;

function next(socket: Socket): void {
  const job = waiting.shift();
  if (job === undefined) {
    due.delete(socket);
    free.push(socket);
    if (free.length === CONNECTIONS) finished();
    return;
  }
  due.set(socket, job.due);
  socket.write(job.bytes);
}

async function run(milliseconds: number): Promise<number> {
  times = [];
  const start = performance.now();
  const total = Math.floor((milliseconds / 1000) * load.perSecond);
  for (let i = 0; i < total; ) {
    // A late client sends what is due at once: waiting for a connection counts as time.
    for (; i < total && (i * 1000) / load.perSecond <= performance.now() - start; i++) {
      waiting.push({
        due: start + (i * 1000) / load.perSecond,
        bytes: requests[i % requests.length] ?? fail(new Error("no bodies")),
      });
      const socket = free.pop();
      if (socket !== undefined) next(socket);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  if (free.length < CONNECTIONS) {
    await new Promise<void>((resolve) => {
      finished = resolve;
    });
  }
  return (total * 1000) / (performance.now() - start);
}

for (let i = 0; i < CONNECTIONS; i++) {
  const socket: Socket = await open((status) => {
    if (status >= 400) fail(new Error(`status ${status}`));
    times.push(performance.now() - (due.get(socket) ?? Number.NaN));
    next(socket);
  });
  free.push(socket);
}
await run(load.milliseconds / 3);
const perSecond = await run(load.milliseconds);
times.sort((a, b) => a - b);
const at = (share: number): number | undefined => times[Math.min(times.length - 1, Math.floor(times.length * share))];
for (const socket of free) socket.removeAllListeners("end").destroy();
process.send?.({ perSecond, p50: at(0.5), p99: at(0.99) });
process.disconnect();
