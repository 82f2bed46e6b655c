import { type ChildProcess, fork } from "node:child_process";
import { createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import {
  type BodyReader,
  checkArgument,
  type Dispatch,
  type Incoming,
  type PeerCertificate,
  type RunningServer,
  type Serve,
  type ServeOptions,
  situation,
  type TlsOptions,
} from "@seneschal/contract";
import { bind, placeOn } from "../listen.ts";
import {
  ASKED,
  type Frame,
  type Frames,
  framesOn,
  headOf,
  PIECE,
  type SentConnection,
  type SentReply,
  type SentRequest,
  sendPieces,
  TOLD,
} from "./frames.ts";
import type { Order } from "./front.ts";

/** A request of a front. */
interface Request {
  /** Of its body, while that is read. */
  reading?: {
    readonly limit: number;
    readonly pieces: Buffer[];
    size: number;
    readonly resolve: (bytes: Uint8Array | undefined) => void;
    readonly reject: (error: Error) => void;
  };
  /** Called when the caller leaves before the reply is complete. */
  readonly left: (() => void)[];
  gone: boolean;
  /** Of a streamed reply: what gives its pieces, and what was not sent yet of the last one. */
  stream?: AsyncIterator<Uint8Array>;
  rest: Uint8Array;
}

interface Front {
  readonly child: ChildProcess;
  readonly frames: Frames;
  /** Live connections with TLS. */
  readonly connections: Map<number, { readonly address: string; readonly peer?: PeerCertificate }>;
  readonly requests: Map<number, Request>;
  ready: boolean;
}

/** Milliseconds until a front that ended before it served is replaced. */
const AGAIN = 1000;
/** Milliseconds that a front has beyond the grace of its requests. */
const LATE = 5000;

/**
 * Serves by so many processes in front of this one: they end TLS and read and write HTTP, this one accepts connections and answers requests. Each has a
 * pipe to this process that nobody else can open, and nothing of its environment. One that ends is replaced, and counted.
 */
export function serveByProcesses(count: number): Serve {
  checkArgument("count", count, "number");
  return (dispatch, options) => serve(dispatch, options, count);
}

async function serve(dispatch: Dispatch, options: ServeOptions, count: number): Promise<RunningServer> {
  const { host = "127.0.0.1", port, proxyProtocol, grace = 10_000, ...given } = options;
  let { tls } = given;
  const fronts = new Set<Front>();
  let turn = 0;
  let replaced = 0;
  let closing: Promise<void> | undefined;
  const again = new Set<NodeJS.Timeout>();

  /** Starts a front, and another in its place when it ends. Resolves once it serves; rejects when it ends before. */
  const start = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const front = open(dispatch);
      const { child } = front;
      fronts.add(front);
      order(child, {
        kind: "begin",
        options: { ...given, grace, ...(tls === undefined ? {} : { tls }) },
        proxies: proxyProtocol !== undefined,
      });
      // The certificate of before may have been replaced meanwhile.
      const began = tls;
      child.on("message", () => {
        front.ready = true;
        if (tls !== undefined && tls !== began) order(child, { kind: "secure", tls });
        resolve();
      });
      child.once("exit", () => {
        fronts.delete(front);
        leave(front);
        reject(new Error("a process in front of this one ended"));
        if (closing !== undefined || !listening) return;
        replaced++;
        if (front.ready) void start().catch(() => undefined);
        else {
          const timer = setTimeout(() => {
            again.delete(timer);
            void start().catch(() => undefined);
          }, AGAIN);
          again.add(timer.unref());
        }
      });
    });

  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (socket) => {
    const ready = [...fronts].filter((front) => front.ready);
    const front = ready[turn++ % Math.max(1, ready.length)];
    socket.on("error", () => undefined);
    if (front === undefined || closing !== undefined) socket.destroy();
    else order(front.child, { kind: "connection", proxy: proxyProtocol?.(socket.remoteAddress ?? "") ?? false }, socket);
  });
  let listening = false;
  const end = async (): Promise<void> => {
    for (const timer of again) clearTimeout(timer);
    server.close();
    await Promise.all([...fronts].map((front) => ended(front, grace + LATE)));
  };
  try {
    await bind(server, { host, port });
    await Promise.all(Array.from({ length: count }, start));
    listening = true;
    // One may have ended before the last one began.
    if (fronts.size < count) throw new Error("a process in front of this one ended");
  } catch (error) {
    closing = end();
    await closing;
    throw error;
  }
  return {
    ...placeOn(server, tls !== undefined),
    setSecureContext(next: TlsOptions) {
      if (tls === undefined) throw new TypeError("a server without TLS has no secure context");
      tls = next;
      for (const { child, ready } of fronts) if (ready) order(child, { kind: "secure", tls });
    },
    destroySockets(predicate) {
      let dropped = 0;
      for (const { connections, frames } of fronts)
        for (const [id, { peer, address }] of connections) {
          if (!predicate(peer, address)) continue;
          connections.delete(id);
          frames.send(TOLD.drop, id);
          dropped++;
        }
      return dropped;
    },
    processes: () => ({ wanted: count, running: [...fronts].filter(({ ready }) => ready).length, replaced }),
    close() {
      closing ??= end();
      return closing;
    },
  };
}

/** Orders something of a front; one that has ended is not told. */
function order(child: ChildProcess, what: Order, socket?: Socket): void {
  if (!child.connected) {
    socket?.destroy();
    return;
  }
  child.send(what, socket, {}, (error) => {
    if (error !== null) socket?.destroy();
  });
}

/** Has a front end: it lets its requests finish. What does not end in time is ended. */
async function ended({ child }: Front, atMost: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill("SIGKILL"), atMost);
  await new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    order(child, { kind: "close" });
  });
  clearTimeout(timer);
}

/** Nobody waits any more for what a front had asked. */
function leave({ requests }: Front): void {
  for (const request of requests.values()) depart(request);
  requests.clear();
}

function depart(request: Request): void {
  request.gone = true;
  request.reading?.reject(situation("invalid_request", "the body ended early"));
  for (const callback of request.left) callback();
  void request.stream?.return?.();
}

const NOTHING = new Uint8Array();

/** The variables of the environment that concern the runtime alone. */
const RUNTIME = ["NODE_OPTIONS", "OPENSSL_CONF", "NODE_EXTRA_CA_CERTS"];

function open(dispatch: Dispatch): Front {
  const file = new URL(import.meta.url.endsWith(".ts") ? "./front.ts" : "./front.js", import.meta.url);
  const kept = RUNTIME.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  const child = fork(file, [], {
    env: Object.fromEntries(kept) as NodeJS.ProcessEnv,
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc", "pipe"],
  });
  // Its end tells.
  child.on("error", () => undefined);
  const channel = child.stdio[4] as Duplex;
  channel.on("error", () => undefined);
  // What no front of ours would say: it is not believed any further.
  const frames = framesOn(
    channel,
    (frame) => take(front, frame, dispatch),
    () => child.kill("SIGKILL"),
  );
  const front: Front = { child, frames, connections: new Map(), requests: new Map(), ready: false };
  return front;
}

function take(front: Front, frame: Frame, dispatch: Dispatch): void {
  const { connections, requests, frames } = front;
  const { kind, id, bytes } = frame;
  switch (kind) {
    case ASKED.connection: {
      const { address, peer } = headOf<SentConnection>(frame);
      connections.set(id, { address, ...(peer === undefined ? {} : { peer: { ...peer, der: Uint8Array.from(bytes) } }) });
      return;
    }
    case ASKED.gone:
      connections.delete(id);
      return;
    case ASKED.request: {
      const sent = headOf<SentRequest>(frame);
      // Its connection has ended or was dropped: without the certificate that was shown there the request would be somebody else's.
      if (sent.connection !== undefined && !connections.has(sent.connection)) return;
      const request: Request = { left: [], gone: false, rest: NOTHING };
      requests.set(id, request);
      void answer(front, id, request, incoming(front, id, request, sent, bytes), dispatch);
      return;
    }
  }
  const request = requests.get(id);
  // Of a request that was answered before all of it was there.
  if (request === undefined) return;
  const { reading } = request;
  switch (kind) {
    case ASKED.body:
      if (reading === undefined) return;
      reading.size += bytes.length;
      if (reading.size > reading.limit) reading.resolve(undefined);
      else reading.pieces.push(bytes);
      return;
    case ASKED.bodyEnd:
      reading?.resolve(reading.pieces.length === 1 ? reading.pieces[0] : Buffer.concat(reading.pieces));
      return;
    case ASKED.bodyLong:
      reading?.resolve(undefined);
      return;
    case ASKED.bodyLost:
      reading?.reject(situation("invalid_request", "the body ended early"));
      return;
    case ASKED.closed:
      requests.delete(id);
      depart(request);
      return;
    case ASKED.next:
      void next(frames, requests, id, request);
      return;
    default:
      throw new Error(`a front said ${kind}`);
  }
}

function incoming(front: Front, id: number, request: Request, sent: SentRequest, bytes: Buffer): Incoming {
  const { connection, method, target, headers, address, secure, broken, unread } = sent;
  const peer = connection === undefined ? undefined : front.connections.get(connection)?.peer;
  const read: BodyReader = (limit) =>
    new Promise((resolve, reject) => {
      if (request.gone) {
        reject(situation("invalid_request", "the body ended early"));
        return;
      }
      request.reading = { limit, pieces: [], size: 0, resolve, reject };
      front.frames.send(TOLD.read, id, { limit });
    });
  return {
    method,
    target,
    headers,
    remoteAddress: address,
    secure,
    basePath: "",
    body: unread === true ? read : bytes,
    ...(broken === undefined ? {} : { broken }),
    ...(peer === undefined ? {} : { peer }),
    onClose: (callback) => {
      if (request.gone) callback();
      else request.left.push(callback);
    },
  };
}

/** Answers a request; whoever has left meanwhile gets nothing. */
async function answer(
  { frames, requests }: Front,
  id: number,
  request: Request,
  asked: Incoming,
  dispatch: Dispatch,
): Promise<void> {
  try {
    const { status, headers, body } = await dispatch(asked);
    if (!(body instanceof Uint8Array)) {
      request.stream = body[Symbol.asyncIterator]();
      if (request.gone) void request.stream.return?.();
      else frames.send(TOLD.reply, id, { status, headers } satisfies SentReply);
      return;
    }
    requests.delete(id);
    if (request.gone) return;
    frames.send(TOLD.reply, id, { status, headers, length: body.length } satisfies SentReply, body.subarray(0, PIECE));
    sendPieces(frames, TOLD.piece, id, body.subarray(PIECE));
  } catch {
    // A dispatcher never rejects. The caller gets no answer that could be taken for one.
    requests.delete(id);
    if (!request.gone) frames.send(TOLD.broken, id);
  }
}

/** Sends the next piece of a stream, or that it is over. */
async function next(frames: Frames, requests: Map<number, Request>, id: number, request: Request): Promise<void> {
  const { stream } = request;
  try {
    while (request.rest.length === 0) {
      const piece = await stream?.next();
      if (request.gone) return;
      if (piece === undefined || piece.done === true) {
        requests.delete(id);
        frames.send(TOLD.end, id);
        return;
      }
      request.rest = piece.value;
    }
    frames.send(TOLD.piece, id, undefined, request.rest.subarray(0, PIECE));
    request.rest = request.rest.subarray(PIECE);
  } catch {
    if (request.gone) return;
    requests.delete(id);
    frames.send(TOLD.broken, id);
  }
}
