import { crc32c, crcStep } from "./crc32c.ts";
import { Damage, maskedCrc } from "./damage.ts";

const blockBytes = 32 * 1024;
const headerBytes = 7;
const sectorBytes = 512;
const kinds = { full: 1, first: 2, middle: 3, last: 4 } as const;

/** The records of a log of LevelDB, and where it ends torn, as a write does that its process did not survive. */
export interface CheckedLog {
  readonly records: readonly Buffer[];
  /** Where an unfinished record begins. */
  readonly torn?: number;
}

/**
 * Reads a log of LevelDB (its journal, or its manifest) whole, each record against its checksum. LevelDB itself leaves out what it cannot
 * read and goes on.
 *
 * Torn is only what ends before it should, without being whole under another length, or was never written where it ends (a sector
 * of zeros, as after a loss of power). All else is damage.
 *
 * @throws Damage
 */
export function checkLog(bytes: Buffer): CheckedLog {
  const records: Buffer[] = [];
  let pieces: Buffer[] | undefined;
  let begun = 0;
  for (let at = 0; at < bytes.length; ) {
    const blockEnd = at - (at % blockBytes) + blockBytes;
    if (blockEnd - at < headerBytes) {
      const filler = bytes.subarray(at, blockEnd);
      if (!isZero(filler)) throw new Damage(at, "what fills a block is not zero");
      at = blockEnd;
      continue;
    }
    if (pieces === undefined) begun = at;
    if (bytes.length - at < headerBytes || isZero(bytes.subarray(at))) return { records, torn: begun };
    const checksum = bytes.readUInt32LE(at);
    const length = bytes.readUInt16LE(at + 4);
    const kind = bytes[at + 6] as number;
    const end = at + headerBytes + length;
    if (end > blockEnd) throw new Damage(at, "a record is longer than its block");
    if (end > bytes.length) {
      if (isWhole(bytes.subarray(at + 6), checksum)) throw new Damage(at, "the length of a record is wrong");
      return { records, torn: begun };
    }
    if (maskedCrc(crc32c(bytes.subarray(at + 6, end))) !== checksum) {
      if (isZero(bytes.subarray(end)) && hasUnwritten(bytes, at, end)) return { records, torn: begun };
      throw new Damage(at, "a record does not match its checksum");
    }
    const payload = bytes.subarray(at + headerBytes, end);
    const begins = kind === kinds.full || kind === kinds.first;
    if (begins !== (pieces === undefined) || kind < kinds.full || kind > kinds.last)
      throw new Damage(at, "the pieces of a record are not in order");
    pieces ??= [];
    pieces.push(payload);
    if (kind === kinds.full || kind === kinds.last) {
      records.push(pieces.length === 1 ? payload : Buffer.concat(pieces));
      pieces = undefined;
    }
    at = end;
  }
  return pieces === undefined ? { records } : { records, torn: begun };
}

/** Whether some length makes a whole record of what is there, its kind first. */
function isWhole(rest: Buffer, checksum: number): boolean {
  let register = -1;
  for (const byte of rest) {
    register = crcStep(register, byte);
    if (maskedCrc(~register >>> 0) === checksum) return true;
  }
  return false;
}

/** Whether a sector that lies in the range, or what of the range lies in its last one, has only zeros. */
function hasUnwritten(bytes: Buffer, start: number, end: number): boolean {
  for (let at = Math.ceil(start / sectorBytes) * sectorBytes; at < end; at += sectorBytes)
    if (end - at >= headerBytes && isZero(bytes.subarray(at, Math.min(at + sectorBytes, end)))) return true;
  return false;
}

function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0);
}
