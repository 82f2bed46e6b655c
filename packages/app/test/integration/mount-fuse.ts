import { spawn } from "node:child_process";
import { type FileHandle, open } from "node:fs/promises";
import { endianness } from "node:os";
import { text } from "node:stream/consumers";

/** A call of the kernel: which, on what, by whom, and the bytes of its arguments. */
export interface FuseRequest {
  readonly opcode: number;
  readonly node: bigint;
  readonly uid: number;
  readonly gid: number;
  /** Of the calling thread; 0 where the kernel calls by itself. */
  readonly pid: number;
  readonly body: Buffer;
}

/** A failure that a program is to see. */
export class Errno extends Error {
  readonly errno: number;
  constructor(errno: number) {
    super(`errno ${errno}`);
    this.errno = errno;
  }
}

const headBytes = 40;
/** The most bytes of a READ or WRITE: as much as kernels allow without being asked for more. */
const maxBytes = 128 << 10;
const [init, forget, interrupt, destroy, forgetMany] = [26, 2, 36, 38, 42];
const enosys = 38;

/**
 * Mounts a directory whose calls `answer` answers (its bytes, or {@link Errno}; `undefined`: not offered), by version 7.31 of the kernel's
 * FUSE protocol over `/dev/fuse`. Throws what `mount` said where that is not allowed. For tests: needs root, and serves one call after another
 * is read, all at once.
 */
export async function mountFuse(
  directory: string,
  answer: (request: FuseRequest) => Promise<Uint8Array> | undefined,
): Promise<() => Promise<void>> {
  if (endianness() !== "LE") throw new Error("the kernel's numbers are read as of a little-endian machine");
  const device = await open("/dev/fuse", "r+");
  try {
    const options = `fd=3,rootmode=40000,user_id=0,group_id=0,allow_other,max_read=${maxBytes}`;
    await run("mount", ["-i", "-t", "fuse", "-o", options, "nfs", directory], device.fd);
  } catch (error) {
    await device.close();
    throw error;
  }
  const served = serve(device, answer);
  return async () => {
    await run("umount", ["-l", directory]);
    await served;
    await device.close();
  };
}

/** Runs a program; throws what it wrote to its standard error when it fails. */
export async function run(command: string, args: readonly string[], fd?: number): Promise<void> {
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe", ...(fd === undefined ? [] : [fd])] });
  const ended = new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
  const [code, said] = await Promise.all([ended, text(child.stderr as NonNullable<typeof child.stderr>)]);
  if (code !== 0) throw new Error(said.trim() || `${command} ended with ${code}`);
}

async function serve(device: FileHandle, answer: (request: FuseRequest) => Promise<Uint8Array> | undefined): Promise<void> {
  const reply = async (unique: bigint, errno: number, body: Uint8Array = new Uint8Array(0)): Promise<void> => {
    const head = Buffer.alloc(16);
    head.writeUInt32LE(16 + body.length, 0);
    head.writeInt32LE(-errno, 4);
    head.writeBigUInt64LE(unique, 8);
    // ENOENT: whoever called has gone.
    await device.writev([head, body]).catch(() => undefined);
  };
  for (;;) {
    const buffer = Buffer.alloc(maxBytes + 4096);
    const read = await device.read(buffer, 0, buffer.length).catch((error: { readonly code: string }) => error.code);
    // The call that was to be read was interrupted, or the file system is unmounted.
    if (read === "ENOENT" || read === "EINTR" || read === "EAGAIN") continue;
    if (typeof read === "string") return;
    const length = buffer.readUInt32LE(0);
    const unique = buffer.readBigUInt64LE(8);
    const request: FuseRequest = {
      opcode: buffer.readUInt32LE(4),
      node: buffer.readBigUInt64LE(16),
      uid: buffer.readUInt32LE(24),
      gid: buffer.readUInt32LE(28),
      pid: buffer.readUInt32LE(32),
      body: buffer.subarray(headBytes, length),
    };
    const { opcode } = request;
    if (opcode === forget || opcode === forgetMany || opcode === interrupt) continue;
    if (opcode === init) await reply(unique, 0, greeting());
    else if (opcode === destroy) await reply(unique, 0);
    else
      void (answer(request) ?? Promise.reject(new Errno(enosys))).then(
        (bytes) => reply(unique, 0, bytes),
        (error: unknown) => reply(unique, error instanceof Errno ? error.errno : 5),
      );
  }
}

/** Version 7.31; writes of more than a page; who writes or gives away clears set-id bits itself. */
function greeting(): Buffer {
  const body = Buffer.alloc(64);
  body.writeUInt32LE(7, 0);
  body.writeUInt32LE(31, 4);
  body.writeUInt32LE(maxBytes, 8);
  body.writeUInt32LE((1 << 5) | (1 << 19), 12);
  body.writeUInt16LE(16, 16);
  body.writeUInt16LE(12, 18);
  body.writeUInt32LE(maxBytes, 20);
  body.writeUInt32LE(1, 24);
  return body;
}
