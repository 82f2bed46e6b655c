import { close, open, read, readv, write, writev } from "node:fs";
import { promisify } from "node:util";

// The callback functions: a FileHandle of node:fs/promises costs more than the calls that are made on it.
const openFile = promisify(open);
const closeFile = promisify(close);
const readFile = promisify(read);
const readFiles = promisify(readv);
const writeFile = promisify(write);
const writeFiles = promisify(writev);

/**
 * Opens a file with these flags and writes pieces one behind the other from a position. With O_DSYNC they are durable when this
 * resolves: one call in place of write and fdatasync. Throws what the disk throws, with any part of them written.
 */
export async function writeAt(path: string, flags: number, pieces: readonly Uint8Array[], position: number): Promise<void> {
  const file = await openFile(path, flags, 0o666);
  try {
    const total = pieces.reduce((n, piece) => n + piece.length, 0);
    let { bytesWritten } = await writeFiles(file, pieces, position);
    if (bytesWritten === total) return;
    const rest = Buffer.concat(pieces);
    while (bytesWritten < total)
      bytesWritten += (await writeFile(file, rest, bytesWritten, total - bytesWritten, position + bytesWritten)).bytesWritten;
  } finally {
    await closeFile(file);
  }
}

/** Fills pieces one behind the other from a position of a file. False where the file ends before they are full. */
export async function fillFrom(path: string, position: number, pieces: readonly Uint8Array[]): Promise<boolean> {
  const file = await openFile(path, "r");
  try {
    let at = position;
    let rest = pieces;
    while (rest.length > 0) {
      let { bytesRead } = await readFiles(file, rest, at);
      if (bytesRead === 0) return false;
      at += bytesRead;
      rest = rest.flatMap((piece) => {
        const taken = Math.min(bytesRead, piece.length);
        bytesRead -= taken;
        return taken === piece.length ? [] : [piece.subarray(taken)];
      });
    }
    return true;
  } finally {
    await closeFile(file);
  }
}

/** `length` bytes of a file from a position, fewer where it ends. */
export async function readAt(path: string, position: number, length: number): Promise<Buffer> {
  const file = await openFile(path, "r");
  try {
    const bytes = Buffer.allocUnsafeSlow(length);
    let at = 0;
    while (at < length) {
      const { bytesRead } = await readFile(file, bytes, at, length - at, position + at);
      if (bytesRead === 0) break;
      at += bytesRead;
    }
    return bytes.subarray(0, at);
  } finally {
    await closeFile(file);
  }
}
