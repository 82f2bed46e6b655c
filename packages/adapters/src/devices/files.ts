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

/** Files that are read again and again: the last ones that were stay open. */
export interface OpenFiles {
  /** Fills pieces one behind the other from a position of a file. False where the file ends before they are full. Throws what the disk throws. */
  fill(path: string, position: number, pieces: readonly Uint8Array[]): Promise<boolean>;
  /** Closes a file once nobody reads it; it is opened again when it is asked for. */
  forget(path: string): void;
  /** Forgets all. */
  close(): void;
}

interface OpenFile {
  readonly file: Promise<number>;
  readers: number;
  forgotten: boolean;
}

/** Keeps up to `most` files open besides those that are being read. */
export function keepOpen(most: number): OpenFiles {
  /** In the order of their last use. */
  const files = new Map<string, OpenFile>();
  const closeUnread = (entry: OpenFile): void => {
    if (!entry.forgotten || entry.readers > 0) return;
    // One that did not open has nothing to close.
    entry.file.then(closeFile).catch(() => undefined);
  };
  const forget = (path: string): void => {
    const entry = files.get(path);
    if (entry === undefined) return;
    files.delete(path);
    entry.forgotten = true;
    closeUnread(entry);
  };
  return {
    async fill(path, position, pieces) {
      const entry = files.get(path) ?? { file: openFile(path, "r"), readers: 0, forgotten: false };
      files.delete(path);
      files.set(path, entry);
      if (files.size > most) forget(files.keys().next().value as string);
      entry.readers++;
      try {
        return await fillFrom(await entry.file, position, pieces);
      } catch (error) {
        if (files.get(path) === entry) forget(path);
        throw error;
      } finally {
        entry.readers--;
        closeUnread(entry);
      }
    },
    forget,
    close() {
      for (const path of [...files.keys()]) forget(path);
    },
  };
}

async function fillFrom(file: number, position: number, pieces: readonly Uint8Array[]): Promise<boolean> {
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
