/** Types of Thrift's compact protocol. */
const [STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, STRUCT] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12];

/** Parquet's own structures nest six deep. */
const MAX_DEPTH = 16;
/** Bytes of a 64-bit number. */
const MAX_VARINT = 10;

/**
 * Walks a struct in Thrift's compact protocol without making anything of it; gives the place behind it. A list says its length before its
 * elements, and whoever believes it takes memory for billions from a few bytes.
 *
 * Throws RangeError where the struct ends behind the bytes, a list claims more elements than there are bytes, or structures nest deeper
 * than 16; TypeError for types that Parquet does not use.
 */
export function checkThrift(bytes: Uint8Array, start = 0): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = start;

  const varint = (): number => {
    let value = 0;
    for (let i = 0, place = 1; i < MAX_VARINT; i++, place *= 128) {
      const byte = view.getUint8(at++);
      value += (byte & 0x7f) * place;
      if (byte < 0x80) return value;
    }
    throw new RangeError("a number that does not end");
  };
  const skip = (length: number): void => {
    if (length > bytes.length - at) throw new RangeError("more is claimed than there is");
    at += length;
  };
  const element = (type: number, depth: number): void => {
    if (depth > MAX_DEPTH) throw new RangeError("nested too deeply");
    if (type === BYTE) skip(1);
    else if (type === I16 || type === I32 || type === I64) varint();
    else if (type === DOUBLE) skip(8);
    else if (type === BINARY) skip(varint());
    else if (type === STRUCT) struct(depth);
    else if (type === LIST) list(depth);
    else throw new TypeError("a type that Parquet does not use");
  };
  const list = (depth: number): void => {
    const header = view.getUint8(at++);
    const length = header >> 4 === 15 ? varint() : header >> 4;
    // None is shorter than a byte.
    if (length > bytes.length - at) throw new RangeError("a list claims more than there is");
    const type = header & 15;
    for (let i = 0; i < length; i++) element(type === TRUE || type === FALSE ? BYTE : type, depth + 1);
  };
  const struct = (depth: number): void => {
    for (;;) {
      const header = view.getUint8(at++);
      const type = header & 15;
      if (type === STOP) return;
      if (header >> 4 === 0) varint();
      if (type !== TRUE && type !== FALSE) element(type, depth + 1);
    }
  };
  struct(0);
  return at;
}
