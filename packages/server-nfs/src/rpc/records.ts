import { protocolError } from "../xdr/protocol-error.ts";

/** The pieces of a record as one fragment (RFC 5531, 11). */
export function frameRecord(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const mark = Buffer.allocUnsafe(4);
  mark.writeUInt32BE((0x80000000 | length) >>> 0, 0);
  return [mark, ...pieces];
}

/** Puts records together from a stream of bytes. Nothing is set aside for what a mark only announces. */
export interface RecordReader {
  /** The records that these bytes complete. Throws `rpc_invalid` for a record of more than `max` bytes, or of more than 64 fragments. */
  push(bytes: Uint8Array): readonly Uint8Array[];
  /** Bytes of a record that is not complete yet. */
  readonly pending: number;
}

const maxFragments = 64;

export function createRecordReader(max: number): RecordReader {
  let pieces: Uint8Array[] = [];
  let size = 0;
  let fragments = 0;
  /** Bytes of the fragment that are still to come. */
  let left = 0;
  let last = false;
  const mark = Buffer.alloc(4);
  let marked = 0;
  return {
    get pending() {
      return size + marked;
    },
    push(bytes) {
      const records: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; ) {
        if (marked < 4) {
          mark[marked++] = bytes[at++] as number;
          if (marked < 4) continue;
          const word = mark.readUInt32BE(0);
          last = word >= 0x80000000;
          left = word % 0x80000000;
          fragments += 1;
          if (size + left > max) throw protocolError("rpc_invalid", `a record of more than ${max} bytes`);
          if (fragments > maxFragments) throw protocolError("rpc_invalid", `a record of more than ${maxFragments} fragments`);
        } else {
          const piece = bytes.subarray(at, at + left);
          pieces.push(piece);
          size += piece.length;
          left -= piece.length;
          at += piece.length;
        }
        if (left > 0) continue;
        marked = 0;
        if (!last) continue;
        records.push(pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces));
        pieces = [];
        size = 0;
        fragments = 0;
      }
      return records;
    },
  };
}
