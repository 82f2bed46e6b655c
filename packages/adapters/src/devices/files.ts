import { close, constants, fstat, open, read, write } from "node:fs";
import { promisify } from "node:util";

// The callback functions: a FileHandle of node:fs/promises costs more than the calls that are made on it.
const openFile = promisify(open);
const closeFile = promisify(close);
const writeFile = promisify(write);
const readFile = promisify(read);
const statFile = promisify(fstat);

const firstRead = 64 * 1024;
const maxSpare = 64;

/** Makes a file of these bytes; they are durable when this resolves, its name is not. Throws `EEXIST` and what the disk throws. */
export async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  // With O_DSYNC a write returns when its bytes are on the medium: one call in place of write and fdatasync.
  const { O_WRONLY, O_CREAT, O_EXCL, O_DSYNC } = constants;
  const file = await openFile(path, O_WRONLY | O_CREAT | O_EXCL | O_DSYNC, 0o666);
  try {
    for (let at = 0; at < bytes.length; ) at += (await writeFile(file, bytes, at, bytes.length - at, at)).bytesWritten;
  } finally {
    await closeFile(file);
  }
}

/** Buffers that wait for the next first read: most files fit, and only their own bytes are kept. */
const spare: Buffer[] = [];

/** All bytes of a file. A small one takes a single read, without asking for its size. */
export async function readWhole(path: string): Promise<Buffer> {
  const file = await openFile(path, "r");
  const first = spare.pop() ?? Buffer.allocUnsafeSlow(firstRead);
  try {
    let { bytesRead: at } = await readFile(file, first, 0, firstRead, 0);
    const size = at < firstRead ? at : Math.max(at, (await statFile(file)).size);
    const whole = Buffer.allocUnsafeSlow(size);
    first.copy(whole, 0, 0, at);
    while (at < size) {
      const { bytesRead } = await readFile(file, whole, at, size - at, at);
      if (bytesRead === 0) break;
      at += bytesRead;
    }
    return whole.subarray(0, at);
  } finally {
    if (spare.length < maxSpare) spare.push(first);
    await closeFile(file);
  }
}
