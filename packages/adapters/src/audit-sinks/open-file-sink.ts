import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { CodedError, checkOptions } from "@seneschal/kernel";
import { createDirectorySync } from "../devices/directory-sync.ts";
import type { AuditSink } from "./audit-sink.ts";

export interface FileSinkOptions {
  /** Of the file; its directory is there already. */
  readonly path: string;
  /** From this size on the file is put away as `path.1`, that as `path.2` and so on. */
  readonly maxBytes: number;
  /** So many are kept beside the one that is written; the oldest is removed. */
  readonly keep: number;
}

/**
 * A file of JSON lines, mode 0600. Events are on the disk when `send` resolves. A line that a crash cut is removed before the next is written, and what
 * did not fit is taken back, so that every line is whole. The file is opened anew for each batch: whoever moves it away is followed.
 */
export function openFileSink(options: FileSinkOptions): AuditSink {
  checkOptions("options", options, { path: "string", maxBytes: "number", keep: "number" });
  const { path, maxBytes, keep } = options;
  return {
    async send(messages) {
      const lines = Buffer.from(messages.map((message) => `${JSON.stringify(message)}\n`).join(""), "utf8");
      let file: FileHandle | undefined;
      try {
        file = await open(path, "a+", 0o600);
        if (!(await file.stat()).isFile()) throw new CodedError("sink_failed", "the audit file is no regular file");
        const whole = await cutTornLine(file);
        try {
          await file.appendFile(lines);
          await file.datasync();
        } catch (error) {
          await file.truncate(whole).catch(() => undefined);
          throw error;
        }
        if (whole === 0) await createDirectorySync(dirname(path)).sync();
        if (whole + lines.length >= maxBytes) await putAway(path, keep);
      } catch (cause) {
        const { code = "unknown" } = cause as NodeJS.ErrnoException;
        throw new CodedError("sink_failed", `the audit file cannot be written (${code})`, {}, cause);
      } finally {
        await file?.close();
      }
    },
    close: async () => undefined,
  };
}

const STEP = 64 << 10;

/** Ends a file behind its last whole line; where that is. */
async function cutTornLine(file: FileHandle): Promise<number> {
  const { size } = await file.stat();
  const piece = Buffer.alloc(STEP);
  let whole = 0;
  for (let end = size; end > 0 && whole === 0; end -= STEP) {
    const start = Math.max(0, end - STEP);
    const { bytesRead } = await file.read(piece, 0, end - start, start);
    const at = piece.subarray(0, bytesRead).lastIndexOf(0x0a);
    if (at >= 0) whole = start + at + 1;
  }
  if (whole < size) await file.truncate(whole);
  return whole;
}

/** Files are moved up to the first number that is free: what a crash left unmoved costs no older file. */
async function putAway(path: string, keep: number): Promise<void> {
  let free = 1;
  while (free < keep && (await isThere(`${path}.${free}`))) free += 1;
  for (let number = free; number > 1; number -= 1) await rename(`${path}.${number - 1}`, `${path}.${number}`);
  await (keep === 0 ? rm(path) : rename(path, `${path}.1`));
  await createDirectorySync(dirname(path)).sync();
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
