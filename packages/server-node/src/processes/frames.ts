import type { Duplex } from "node:stream";

/** What a front process tells the serving one; the number is that of a connection or of a request. */
export const ASKED = {
  /** A connection, {@link SentConnection}, with the certificate as bytes. */
  connection: 1,
  gone: 2,
  /** A request, {@link SentRequest}, with its body where that has come with it. */
  request: 3,
  /** A piece of a body that was asked for, its end, that it is longer than the limit, that it broke off. */
  body: 4,
  bodyEnd: 5,
  bodyLong: 6,
  bodyLost: 7,
  /** The caller left before the reply was complete. */
  closed: 8,
  /** The next piece of a streamed reply is wanted. */
  next: 9,
} as const;

/** What the serving process tells a front. */
export const TOLD = {
  /** Wants the body of a request, at most so many bytes: {@link SentLimit}. */
  read: 32,
  /** The reply, {@link SentReply}; its body follows in pieces: all of it, or of a stream those that are asked for. */
  reply: 33,
  piece: 34,
  end: 35,
  /** The stream broke: the caller must not take what came for the whole. */
  broken: 36,
  /** The connection is to be dropped. */
  drop: 37,
} as const;

export interface SentConnection {
  readonly address: string;
  /** Its client certificate, whose bytes come along. */
  readonly peer?: { readonly authorized: boolean; readonly error?: string; readonly resumed: boolean };
}

export interface SentRequest {
  /** Where a certificate was shown: the connection that it belongs to. */
  readonly connection?: number;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly address: string;
  readonly secure: boolean;
  readonly broken?: string;
  /** The body has to be asked for. */
  readonly unread?: true;
}

export interface SentLimit {
  readonly limit: number;
}

export interface SentReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of the body; absent: it is a stream. */
  readonly length?: number;
}

export interface Frame {
  readonly kind: number;
  readonly id: number;
  readonly head: Buffer;
  readonly bytes: Buffer;
}

/** Length of head, length of bytes, number, kind. */
const PREFIX = 13;
/** Of a head: 16 KiB of headers, each character six in JSON at most. */
const LONGEST_HEAD = 1 << 18;
/** Bytes of a body in one frame: what is larger goes in pieces, and others in between. */
export const PIECE = 1 << 16;
/** Of any frame: OpenSSL takes certificates of 100 KiB. */
const LONGEST_BYTES = 1 << 17;
/** What is smaller than that goes out in one write with what else waits. */
const JOINED = 1 << 18;

/** Frames on a stream between two processes; what is sent in one turn of the event loop leaves in one write. */
export interface Frames {
  /** Throws `RangeError` for what no frame holds, and has sent nothing then. */
  send(kind: number, id: number, head?: unknown, bytes?: Uint8Array): void;
}

/** Sends and takes frames on a stream. A frame that none of ours would send ends the stream: `wrong` is told why, once. */
export function framesOn(stream: Duplex, take: (frame: Frame) => void, wrong: (error: Error) => void): Frames {
  let waiting: Uint8Array[] = [];
  let length = 0;
  const flush = (): void => {
    const pieces = waiting;
    const small = length <= JOINED;
    const total = length;
    waiting = [];
    length = 0;
    if (stream.destroyed) return;
    if (small) stream.write(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces, total));
    else {
      stream.cork();
      for (const piece of pieces) stream.write(piece);
      stream.uncork();
    }
  };
  let held: Buffer[] = [];
  let size = 0;
  let wanted = PREFIX;
  stream.on("data", (chunk: Buffer) => {
    held.push(chunk);
    size += chunk.length;
    if (size < wanted) return;
    const all = held.length === 1 ? chunk : Buffer.concat(held, size);
    let at = 0;
    wanted = PREFIX;
    try {
      while (all.length - at >= PREFIX) {
        const [head, bytes] = [all.readUInt32LE(at), all.readUInt32LE(at + 4)];
        if (head > LONGEST_HEAD || bytes > LONGEST_BYTES) throw new Error("a frame is longer than any of ours");
        const begin = at + PREFIX;
        const end = begin + head + bytes;
        if (end > all.length) {
          wanted = end - at;
          break;
        }
        const id = all.readUInt32LE(at + 8);
        const kind = all[at + 12] as number;
        at = end;
        take({ kind, id, head: all.subarray(begin, begin + head), bytes: all.subarray(begin + head, end) });
      }
    } catch (error) {
      stream.destroy();
      wrong(error as Error);
      return;
    }
    held = at === all.length ? [] : [all.subarray(at)];
    size = all.length - at;
  });
  return {
    send(kind, id, head, bytes) {
      const text = head === undefined ? undefined : Buffer.from(JSON.stringify(head));
      const inner = text?.length ?? 0;
      const tail = bytes?.length ?? 0;
      if (inner > LONGEST_HEAD || tail > LONGEST_BYTES) throw new RangeError("too long for a frame");
      const joined = tail <= 4096 ? tail : 0;
      const frame = Buffer.allocUnsafe(PREFIX + inner + joined);
      frame.writeUInt32LE(inner, 0);
      frame.writeUInt32LE(tail, 4);
      frame.writeUInt32LE(id, 8);
      frame[12] = kind;
      text?.copy(frame, PREFIX);
      if (bytes !== undefined && joined > 0) frame.set(bytes, PREFIX + inner);
      if (waiting.length === 0) setImmediate(flush);
      waiting.push(frame);
      if (bytes !== undefined && tail > joined) waiting.push(bytes);
      length += frame.length + tail - joined;
    },
  };
}

/** Sends bytes in frames of a kind, none larger than may be. */
export function sendPieces(frames: Frames, kind: number, id: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += PIECE) frames.send(kind, id, undefined, bytes.subarray(at, at + PIECE));
}

/** The next number of its kind that fits a frame. */
export function counter(): () => number {
  let last = 0;
  return () => {
    last = last === 0xffff_ffff ? 1 : last + 1;
    return last;
  };
}

export function headOf<T>({ head }: Frame): T {
  return JSON.parse(head.toString("utf8")) as T;
}
