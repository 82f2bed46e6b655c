import { Gunzip, Inflate, Unzlib } from "fflate";

/** What comes out of compressed bytes is looked at so far: no text here is longer, and a kilobyte may stand for a megabyte. */
const MOST = 1 << 20;
/** So much goes in at once: what is not compressed shows at its beginning. */
const STEP = 1024;

/** The bytes that others are in compressed form, as gzip (RFC 1952), zlib (RFC 1950) or bare deflate (RFC 1951), as far as they are looked at; `undefined` for bytes that are none. */
export function inflated(bytes: Uint8Array): Uint8Array | undefined {
  const [first = 0, second = 0] = bytes;
  if (first === 0x1f && second === 0x8b) return outOf(Gunzip, bytes);
  const zlib = (first & 15) === 8 && ((first << 8) | second) % 31 === 0 ? outOf(Unzlib, bytes) : undefined;
  return zlib ?? (mayBeDeflate(first, bytes.length) ? outOf(Inflate, bytes) : undefined);
}

/** By its first block: one of a kind that there is, and of few bytes the only one and compressed. */
function mayBeDeflate(first: number, length: number): boolean {
  const [last, kind] = [first & 1, (first >> 1) & 3];
  return kind !== 3 && (length > ONE_BLOCK || (last === 1 && kind !== 0));
}
/** Fewer bytes than zlib makes of what it parts into blocks. */
const ONE_BLOCK = 4096;

function outOf(Kind: typeof Gunzip | typeof Unzlib | typeof Inflate, bytes: Uint8Array): Uint8Array | undefined {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const stream = new Kind((piece: Uint8Array) => {
    pieces.push(piece);
    length += piece.length;
  });
  try {
    for (let at = 0; at < bytes.length && length < MOST; at += STEP)
      stream.push(bytes.subarray(at, at + STEP), at + STEP >= bytes.length);
  } catch {
    return undefined;
  }
  if (length === 0) return undefined;
  const out = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    out.set(piece, at);
    at += piece.length;
  }
  return out;
}
