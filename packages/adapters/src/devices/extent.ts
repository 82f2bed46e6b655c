import { crc32 } from "node:zlib";
import { CodedError } from "@seneschal/core";
import type { BlobDeviceErrorCode } from "@seneschal/core/ports";

/**
 * An extent on disk: `SNX1`, CRC-32 (IEEE) of all that follows, payload length, name length, name, payload; integers
 * big-endian. The name inside makes a misplaced file as detectable as a damaged one.
 */
const magic = 0x534e5831;
const fixed = 14;

/** Bytes that an extent takes beside its payload. */
function extentOverhead(name: string): number {
  return fixed + name.length;
}

/** What is stored for `payload`, which is copied. */
export function extentBytes(name: string, payload: Uint8Array): Buffer {
  const at = extentOverhead(name);
  const stored = Buffer.allocUnsafeSlow(at + payload.length);
  stored.writeUInt32BE(magic, 0);
  stored.writeUInt32BE(payload.length, 8);
  stored.writeUInt16BE(name.length, 12);
  stored.write(name, fixed, "latin1");
  stored.set(payload, at);
  stored.writeUInt32BE(crc32(stored.subarray(8)), 4);
  return stored;
}

/** The payload of a stored extent; throws `extent_corrupt` unless every byte is as written under this name. */
export function openExtent(name: string, stored: Buffer): Uint8Array {
  const at = extentOverhead(name);
  const intact =
    stored.length >= at &&
    stored.readUInt32BE(0) === magic &&
    stored.readUInt32BE(4) === crc32(stored.subarray(8)) &&
    stored.readUInt32BE(8) === stored.length - at &&
    stored.readUInt16BE(12) === name.length &&
    stored.toString("latin1", fixed, at) === name;
  if (!intact) throw new CodedError<BlobDeviceErrorCode>("extent_corrupt", `extent ${name} is damaged`, { extent: name });
  return new Uint8Array(stored.buffer, stored.byteOffset + at, stored.length - at);
}
