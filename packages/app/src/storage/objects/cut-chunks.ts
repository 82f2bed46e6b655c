/** Bytes of a full chunk. */
export const chunkBytes = 4 * 1024 * 1024;

/** Regroups a stream into chunks of exactly `size` bytes, the last shorter. An empty stream gives nothing. Holds one chunk. */
export async function* cutChunks(source: AsyncIterable<Uint8Array>, size = chunkBytes): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let held = 0;
  for await (const incoming of source) {
    let piece = incoming;
    while (held + piece.length >= size) {
      const take = size - held;
      pieces.push(piece.subarray(0, take));
      yield join(pieces, size);
      pieces = [];
      held = 0;
      piece = piece.subarray(take);
    }
    if (piece.length > 0) {
      pieces.push(piece);
      held += piece.length;
    }
  }
  if (held > 0) yield join(pieces, held);
}

function join(pieces: readonly Uint8Array[], length: number): Uint8Array {
  if (pieces.length === 1 && pieces[0] !== undefined) return pieces[0];
  return Buffer.concat(pieces, length);
}
