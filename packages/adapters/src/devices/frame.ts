import { crc32 } from "node:zlib";

/**
 * An extent on disk: `SNX2`, CRC-32 (IEEE) of the header behind it, CRC-32 of the payload, payload length, name length, name,
 * payload; integers big-endian. The header has a sum of its own, so that the frames behind a damaged payload are still found; the
 * name inside makes a misplaced frame as detectable as a damaged one. A deleted frame begins with `SNXD`.
 */
const live = 0x534e5832;
const dead = 0x534e5844;
const fixed = 18;
const maxName = 200;

/** Bytes that must be read to understand any header. */
export const headerBytes = fixed + maxName;
/** What a frame is overwritten with, at its beginning, when its extent is deleted. */
export const deadMark = Buffer.from("SNXD", "latin1");

/** What a header says. */
export interface FrameHeader {
  readonly name: string;
  /** Bytes of the whole frame. */
  readonly size: number;
  readonly live: boolean;
}

/** Bytes that an extent takes on disk. */
export function frameSize(name: string, payload: number): number {
  return fixed + name.length + payload;
}

/** The frame of an extent; the payload is copied. */
export function frameBytes(name: string, payload: Uint8Array): Buffer {
  const at = fixed + name.length;
  const frame = Buffer.allocUnsafeSlow(at + payload.length);
  frame.writeUInt32BE(live, 0);
  frame.set(payload, at);
  frame.writeUInt32BE(crc32(frame.subarray(at)), 8);
  frame.writeUInt32BE(payload.length, 12);
  frame.writeUInt16BE(name.length, 16);
  frame.write(name, fixed, "latin1");
  frame.writeUInt32BE(crc32(frame.subarray(8, at)), 4);
  return frame;
}

/** The header that the bytes begin with, or `undefined` when it is not intact. */
export function readHeader(bytes: Buffer): FrameHeader | undefined {
  if (bytes.length < fixed) return undefined;
  const magic = bytes.readUInt32BE(0);
  const at = fixed + bytes.readUInt16BE(16);
  if ((magic !== live && magic !== dead) || at > bytes.length || bytes.readUInt32BE(4) !== crc32(bytes.subarray(8, at)))
    return undefined;
  return { name: bytes.toString("latin1", fixed, at), size: at + bytes.readUInt32BE(12), live: magic === live };
}

/** The payload of a frame, or `undefined` unless every byte is as written and the extent is not deleted. */
export function framePayload(name: string, frame: Buffer): Uint8Array | undefined {
  const header = readHeader(frame);
  if (header === undefined || !header.live || header.name !== name || header.size !== frame.length) return undefined;
  const at = fixed + name.length;
  const payload = frame.subarray(at);
  if (crc32(payload) !== frame.readUInt32BE(8)) return undefined;
  return new Uint8Array(frame.buffer, frame.byteOffset + at, payload.length);
}

/** Where the next frame may begin, at or behind `from`; the length of the bytes when nowhere. */
export function nextMagic(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf("SNX", from, "latin1"); at >= 0; at = bytes.indexOf("SNX", at + 1, "latin1"))
    if (bytes[at + 3] === (live & 255) || bytes[at + 3] === (dead & 255)) return at;
  return bytes.length;
}
