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
  /** Whether its memory was taken for it; else it is the stream's. */
  readonly taken: boolean;
}

/**
 * Regroups a stream into chunks of exactly `size` bytes, the last shorter. An empty stream gives nothing. Holds one chunk, and a
 * piece of the stream where it is not known how many bytes there are in `total`. `take` gives the memory for a chunk.
 */
export async function* cutChunks(
  source: AsyncIterable<Uint8Array>,
  total?: number,
  size = chunkBytes,
  take: (bytes: number) => Uint8Array = Buffer.allocUnsafeSlow,
): AsyncGenerator<Cut, void, undefined> {
  let chunk: Uint8Array | undefined;
  let filled = 0;
  let at = 0;
  let taken = false;
  const given = (last: boolean): Cut => {
    const bytes = (chunk ?? new Uint8Array(0)).subarray(0, filled);
    const cut = { bytes, last, taken };
    chunk = undefined;
    filled = 0;
    taken = false;
    return cut;
  };
  for await (const incoming of source) {
    let piece = incoming;
    while (piece.length > 0) {
      if (filled === size) yield given(false);
      const room = nextChunkBytes(total, at, size);
      let copied = piece.length;
      if (chunk === undefined && copied === room) chunk = piece;
      else {
        if (chunk === undefined) {
          chunk = take(room);
          taken = true;
        }
        // A body that is longer than it was said to be.
        if (filled === chunk.length) {
          chunk = Buffer.concat([chunk], size);
          taken = false;
        }
        copied = Math.min(copied, chunk.length - filled);
        chunk.set(piece.subarray(0, copied), filled);
      }
      filled += copied;
      at += copied;
      piece = piece.subarray(copied);
      if (filled === size && total !== undefined && at < total) yield given(false);
    }
  }
  if (filled > 0) yield given(true);
}
