/**
 * A front process: it ends TLS and reads and writes HTTP on the connections that the serving process has accepted, and asks that process for every answer, over a
 * pipe that nobody else can open. It holds no store, no secret but the key of the port, and decides nothing.
 */
import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import {
  type Dispatch,
  type PeerCertificate,
  type ServeOptions,
  situation,
  type TlsOptions,
  type WireResponse,
} from "@seneschal/contract";
import { answer, placeOf } from "../answer.ts";
import { listener } from "../listen.ts";
import { peerOf } from "../peer.ts";
import { addressOf } from "../proxy-protocol.ts";
import {
  ASKED,
  counter,
  type Frame,
  framesOn,
  headOf,
  type SentConnection,
  type SentLimit,
  type SentReply,
  type SentRequest,
  sendPieces,
  TOLD,
} from "./frames.ts";

/** What the serving process orders over the channel that hands connections over. */
export type Order =
  | { readonly kind: "begin"; readonly options: Omit<ServeOptions, "host" | "port" | "proxyProtocol">; readonly proxies: boolean }
  /** With the connection; `proxy`: it begins with a header of the PROXY protocol. */
  | { readonly kind: "connection"; readonly proxy: boolean }
  | { readonly kind: "secure"; readonly tls: TlsOptions }
  | { readonly kind: "close" };

/** A request that waits for its reply. */
interface Asked {
  /** Reads the body, at most so many bytes. */
  readonly read: (limit: number) => Promise<Uint8Array | undefined>;
  readonly reply: (response: WireResponse) => void;
  readonly fail: (error: Error) => void;
  /** Of a reply whose body is bytes: those that are there, and how many have to come. */
  body?: { readonly head: SentReply; pieces: Uint8Array[]; missing: number };
  /** Of a streamed reply: who waits for its next piece. */
  piece?: { readonly resolve: (piece: Uint8Array | undefined) => void; readonly reject: (error: Error) => void };
}

const channel = new Socket({ fd: 4 });
const asked = new Map<number, Asked>();
const connections = new Map<number, Socket>();
const numbers = new WeakMap<PeerCertificate, number>();
const [nextRequest, nextConnection] = [counter(), counter()];

function end(): never {
  process.exit(1);
}

// Without the serving process there is nothing to do; what is told to a whole group of processes is that one's to carry out.
process.on("disconnect", end);
channel.on("close", end).on("error", end);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);

const frames = framesOn(channel, take, end);

function take(frame: Frame): void {
  const { kind, id, bytes } = frame;
  if (kind === TOLD.drop) {
    connections.get(id)?.destroy();
    return;
  }
  const one = asked.get(id);
  // The caller has left: what comes was on its way.
  if (one === undefined) return;
  switch (kind) {
    case TOLD.read:
      void sendBody(id, one, headOf<SentLimit>(frame).limit);
      return;
    case TOLD.reply: {
      const head = headOf<SentReply>(frame);
      if (head.length === undefined) one.reply({ status: head.status, headers: head.headers, body: stream(id, one) });
      else {
        one.body = { head, pieces: [], missing: head.length };
        takePiece(id, one, bytes);
      }
      return;
    }
    case TOLD.piece:
      if (one.body === undefined) one.piece?.resolve(bytes);
      else takePiece(id, one, bytes);
      return;
    case TOLD.end:
      asked.delete(id);
      one.piece?.resolve(undefined);
      return;
    case TOLD.broken: {
      asked.delete(id);
      const error = new Error("the reply broke off");
      if (one.piece === undefined) one.fail(error);
      else one.piece.reject(error);
      return;
    }
    default:
      throw new Error(`the serving process told ${kind}`);
  }
}

function takePiece(id: number, one: Asked, bytes: Uint8Array): void {
  const { body } = one;
  if (body === undefined) return;
  if (bytes.length > 0) body.pieces.push(bytes);
  body.missing -= bytes.length;
  if (body.missing > 0) return;
  asked.delete(id);
  const { status, headers } = body.head;
  one.reply({ status, headers, body: body.pieces.length === 1 ? (body.pieces[0] as Uint8Array) : Buffer.concat(body.pieces) });
}

async function* stream(id: number, one: Asked): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const piece = await new Promise<Uint8Array | undefined>((resolve, reject) => {
        one.piece = { resolve, reject };
        frames.send(ASKED.next, id);
      });
      if (piece === undefined) return;
      // A frame is a part of what was read with it.
      yield Uint8Array.from(piece);
    }
  } finally {
    // Nobody reads on.
    if (asked.delete(id)) frames.send(ASKED.closed, id);
  }
}

async function sendBody(id: number, { read }: Asked, limit: number): Promise<void> {
  try {
    const bytes = await read(limit);
    if (bytes !== undefined) sendPieces(frames, ASKED.body, id, bytes);
    frames.send(bytes === undefined ? ASKED.bodyLong : ASKED.bodyEnd, id);
  } catch {
    frames.send(ASKED.bodyLost, id);
  }
}

/** Asks the serving process. */
const remote: Dispatch = Object.assign(
  (incoming: Parameters<Dispatch>[0]): Promise<WireResponse> =>
    new Promise((resolve, reject) => {
      const { method, target, headers, body, remoteAddress, broken, peer, secure = false, onClose } = incoming;
      const id = nextRequest();
      const read = typeof body === "function" ? body : async () => body;
      const connection = peer === undefined ? undefined : numbers.get(peer);
      if (peer !== undefined && connection === undefined) throw new Error("a certificate that was not told of");
      const large = typeof body !== "function" && body.length > INLINE;
      const request: SentRequest = {
        method,
        target,
        headers,
        address: remoteAddress,
        secure,
        ...(connection === undefined ? {} : { connection }),
        ...(broken === undefined ? {} : { broken }),
        ...(typeof body === "function" || large ? { unread: true } : {}),
      };
      frames.send(ASKED.request, id, request, typeof body === "function" || large ? undefined : body);
      asked.set(id, { read, reply: resolve, fail: reject });
      onClose?.(() => {
        const one = asked.get(id);
        if (one === undefined) return;
        asked.delete(id);
        frames.send(ASKED.closed, id);
        one.piece?.reject(situation("invalid_request", "the caller has left"));
        one.fail(situation("invalid_request", "the caller has left"));
      });
    }),
  { serves: () => true },
);

/** A body up to this size goes with its request, where it is there already. */
const INLINE = 1 << 16;

/** The body of a request that has come as a whole; reading more waits until it is asked for, when the caller is known. */
function whole(request: IncomingMessage): Uint8Array | undefined {
  if (!request.complete || request.readableLength > INLINE) return undefined;
  const pieces: Uint8Array[] = [];
  // One piece at a time from Node 26 on, all of them before.
  for (let piece = request.read(); piece !== null; piece = request.read()) pieces.push(piece as Uint8Array);
  return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
}

let begun: ReturnType<typeof begin> | undefined;
/** Of the connection that is taken over now. */
let isBehindProxy = false;

function begin({ options, proxies }: Extract<Order, { readonly kind: "begin" }>) {
  const below = listener(
    (request, response) => {
      // What came with the head is read behind this event.
      setImmediate(() => {
        if (request.socket.destroyed) return;
        const body = whole(request);
        const dispatch: Dispatch =
          body === undefined ? remote : Object.assign((one: Parameters<Dispatch>[0]) => remote({ ...one, body }), remote);
        void answer(dispatch, request, response, placeOf(request));
      });
    },
    remote,
    { ...options, port: 0, ...(proxies ? { proxyProtocol: () => isBehindProxy } : {}) },
  );
  if (options.tls !== undefined) below.server.on("secureConnection", announce);
  return below.adopt();
}

/** Tells of a connection, and of its end. */
function announce(socket: Socket): void {
  const id = nextConnection();
  const peer = peerOf(socket);
  const told: SentConnection = { address: addressOf(socket) };
  connections.set(id, socket);
  socket.once("close", () => {
    connections.delete(id);
    frames.send(ASKED.gone, id);
  });
  if (peer === undefined) frames.send(ASKED.connection, id, told);
  else {
    const { der, ...verdict } = peer;
    numbers.set(peer, id);
    frames.send(ASKED.connection, id, { ...told, peer: verdict }, der);
  }
}

process.on("message", (order: Order, socket?: Socket) => {
  switch (order.kind) {
    case "begin":
      begun = begin(order);
      process.send?.("ready");
      return;
    case "connection":
      isBehindProxy = order.proxy;
      // Gone before it came.
      if (socket !== undefined) begun?.connection(socket);
      return;
    case "secure":
      begun?.setSecureContext(order.tls);
      return;
    case "close":
      void begun?.close().then(() => process.exit(0));
      return;
  }
});
