/** Bytes of a full chunk. */
const chunkBytes = 4 * 1024 * 1024;

/** Bytes of a chunk that follows `at` bytes of a body of so many, where they are known. */
export function nextChunkBytes(total: number | undefined, at = 0, size = chunkBytes): number {
  return total === undefined || total <= at ? size : Math.min(size, total - at);
}

/** One of the chunks of a body. */
export interface Cut {
  readonly bytes: Uint8Array;
  /** True once the body has ended with it. */
  readonly last: boolean;
}

/**
 * Regroups a stream into chunks of exactly `size` bytes, the last shorter. An empty stream gives nothing. Holds one chunk, and a
 * piece of the stream where it is not known how many bytes there are in `total`.
 */
export async function* cutChunks(
  source: AsyncIterable<Uint8Array>,
  total?: number,
  size = chunkBytes,
): AsyncGenerator<Cut, void, undefined> {
  let chunk: Uint8Array | undefined;
  let filled = 0;
  let at = 0;
  const given = (last: boolean): Cut => {
    const bytes = (chunk ?? new Uint8Array(0)).subarray(0, filled);
    chunk = undefined;
    filled = 0;
    return { bytes, last };
  };
  for await (const incoming of source) {
    let piece = incoming;
    while (piece.length > 0) {
      if (filled === size) yield given(false);
      const room = nextChunkBytes(total, at, size);
      let taken = piece.length;
      if (chunk === undefined && taken === room) chunk = piece;
      else {
        chunk ??= Buffer.allocUnsafeSlow(room);
        // A body that is longer than it was said to be.
        if (filled === chunk.length) chunk = Buffer.concat([chunk], size);
        taken = Math.min(taken, chunk.length - filled);
        chunk.set(piece.subarray(0, taken), filled);
      }
      filled += taken;
      at += taken;
      piece = piece.subarray(taken);
      if (filled === size && total !== undefined && at < total) yield given(false);
    }
  }
  if (filled > 0) yield given(true);
}
