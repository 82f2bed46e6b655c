/** From so many bytes on, memory is shared with threads and used again: below, a new piece costs less than keeping account of it. */
export const largeBytes = 512 << 10;

/** Sizes are multiples of this, so that what one left serves another. */
const step = 64 << 10;

/**
 * Memory for the bytes of large chunks, used again and again: that of new pieces has to be cleared by the kernel and collected by the
 * engine, which costs more than ciphers and hashes. Threads see it too.
 */
export interface Buffers {
  /** Memory of exactly so many bytes, whose content has no meaning: whoever takes it writes all of it before anybody reads it. */
  take(bytes: number): Uint8Array;
  /**
   * Gives memory back that nobody has any more, neither a thread nor a socket. Once for each taking; other memory is left alone. What
   * is never given back is collected as any other.
   */
  give(bytes: Uint8Array): void;
}

/** Keeps up to `limitBytes` of what is given back. */
export function createBuffers(limitBytes: number): Buffers {
  const free: SharedArrayBuffer[] = [];
  let freeBytes = 0;
  const taken = new WeakSet<SharedArrayBuffer>();
  return {
    take(bytes) {
      if (bytes < largeBytes) return new Uint8Array(bytes);
      const size = Math.ceil(bytes / step) * step;
      const at = free.findIndex(({ byteLength }) => byteLength >= size && byteLength < 2 * size);
      const memory = free[at] ?? new SharedArrayBuffer(size);
      if (at >= 0) {
        free.splice(at, 1);
        freeBytes -= memory.byteLength;
      }
      taken.add(memory);
      return new Uint8Array(memory, 0, bytes);
    },
    give({ buffer }) {
      // INVARIANT: memory has one owner.
      if (!(buffer instanceof SharedArrayBuffer) || !taken.delete(buffer) || buffer.byteLength > limitBytes) return;
      // The longest unused goes first.
      free.push(buffer);
      freeBytes += buffer.byteLength;
      while (freeBytes > limitBytes) freeBytes -= free.shift()?.byteLength ?? freeBytes;
    },
  };
}
