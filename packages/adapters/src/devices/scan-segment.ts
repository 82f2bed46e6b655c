import { open, readFile } from "node:fs/promises";
import { headerBytes, headerSize, isFrame, nextMagic, readHeader } from "./frame.ts";

/** A frame as it was met in a segment. */
export interface FrameAt {
  readonly name: string;
  readonly at: number;
  readonly size: number;
  readonly live: boolean;
}

/**
 * The frames of a segment in order. Reads the headers only; what is damaged is stepped over, up to the next header whose
 * sum fits. Throws what the disk throws.
 */
export async function scanSegment(path: string): Promise<{ readonly frames: readonly FrameAt[]; readonly size: number }> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const frames: FrameAt[] = [];
    const window = Buffer.allocUnsafe(headerBytes);
    for (let at = 0; at < size; ) {
      const { bytesRead } = await file.read(window, 0, headerBytes, at);
      const header = readHeader(window.subarray(0, bytesRead));
      if (header === undefined || at + header.size > size) {
        // Rare enough to take the whole file into memory.
        const whole = await readFile(path);
        do at = nextMagic(whole, at + 1);
        while (at < size && readHeader(whole.subarray(at, at + headerBytes)) === undefined);
        continue;
      }
      frames.push({ name: header.name, at, size: header.size, live: header.live });
      at += header.size;
    }
    return { frames, size };
  } finally {
    await file.close();
  }
}

/** Those live frames of a segment whose bytes are not as they were written: in the newest segment, what a crash tore. */
export async function tornFrames(path: string, frames: readonly FrameAt[]): Promise<readonly FrameAt[]> {
  const whole = await readFile(path);
  return frames.filter(({ name, at, size, live }) => {
    const payload = at + headerSize(name);
    return live && !isFrame(name, whole.subarray(at, payload), whole.subarray(payload, at + size));
  });
}
