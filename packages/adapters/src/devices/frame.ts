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
  return headerSize(name) + payload;
}

/** What stands before a payload in the frame of an extent. */
export function frameHeader(name: string, payload: Uint8Array): Buffer {
  const header = Buffer.allocUnsafe(headerSize(name));
  header.writeUInt32BE(live, 0);
  header.writeUInt32BE(crc32(payload), 8);
  header.writeUInt32BE(payload.length, 12);
  header.writeUInt16BE(name.length, 16);
  header.write(name, fixed, "latin1");
  header.writeUInt32BE(crc32(header.subarray(8)), 4);
  return header;
}

/** Bytes of the header of an extent's frame. */
export function headerSize(name: string): number {
  return fixed + name.length;
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

/** Whether header and payload are the frame of the extent, every byte as written, and it is not deleted. */
export function isFrame(name: string, header: Buffer, payload: Uint8Array): boolean {
  const found = readHeader(header);
  if (found === undefined || !found.live || found.name !== name || found.size !== header.length + payload.length) return false;
  return crc32(payload) === header.readUInt32BE(8);
}

/** Where the next frame may begin, at or behind `from`; the length of the bytes when nowhere. */
export function nextMagic(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf("SNX", from, "latin1"); at >= 0; at = bytes.indexOf("SNX", at + 1, "latin1"))
    if (bytes[at + 3] === (live & 255) || bytes[at + 3] === (dead & 255)) return at;
  return bytes.length;
}
