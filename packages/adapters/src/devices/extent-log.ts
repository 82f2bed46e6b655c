import { constants } from "node:fs";
import { readdir, truncate, unlink } from "node:fs/promises";
import { join } from "node:path";
import { createDirectorySync } from "./directory-sync.ts";
import { keepOpen, readAt, writeAt } from "./files.ts";
import { deadMark, headerSize, readHeader } from "./frame.ts";
import { scanSegment, tornFrames } from "./scan-segment.ts";

/** A file of frames, written at its end only; deleted frames are marked in place. */
interface Segment {
  readonly path: string;
  /** Whose newest frame is here. */
  readonly names: Set<string>;
  size: number;
  liveBytes: number;
}

/** Where an extent lies. */
interface Place {
  readonly segment: Segment;
  readonly at: number;
  readonly size: number;
}

/** A frame on its way to the disk: header and payload. */
type Frame = readonly Uint8Array[];

/** A stored frame. */
interface StoredFrame {
  readonly header: Buffer;
  readonly payload: Uint8Array;
}

interface Waiting {
  readonly name: string;
  readonly frame: Frame;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Frames by name in the segments of one directory. */
export interface ExtentLog {
  /** Bytes of the frames that are there. */
  readonly liveBytes: number;
  has(name: string): boolean;
  names(): string[];
  /**
   * The stored frame, its payload in `into` where that has its length; `undefined` when there is none. Where the file ends before the
   * frame does, it is one without a header.
   */
  read(name: string, into?: Uint8Array): Promise<StoredFrame | undefined>;
  /** Resolves when the frame is durable. When it rejects, the frame is not there. Until then its bytes must stay as they are. */
  append(name: string, frame: Frame): Promise<void>;
  /** Survives the end of the process; after a loss of power the frame may be there again. */
  delete(name: string): Promise<void>;
  /** Resolves when nothing is being written any more. */
  close(): Promise<void>;
}

const maxSegment = 64 << 20;
const maxGroupBytes = 16 << 20;
// A vectored write takes at most 1024 pieces, and a frame is two.
const maxGroupFrames = 512;
/** That stay open for their next readers. */
const openSegments = 16;
const segmentName = /^(\d{10})\.seg$/;

/**
 * Opens the segments of a directory. Writers that wait at the same time are one group: one synced write for all of them. A
 * group that fails ends its segment; nothing is ever written behind bytes whose fate is unknown. Segments that are mostly
 * deleted frames are written again and removed, so that the directory holds at most twice what is live, and `limit`
 * and one segment in all. After a crash the newest segment is read whole: what is torn in it was never acknowledged.
 */
export async function openExtentLog(directory: string, limit: number): Promise<ExtentLog> {
  const index = new Map<string, Place>();
  const segments = new Set<Segment>();
  const segmentBytes = Math.min(maxSegment, Math.max(64 << 10, Math.floor(limit / 16)));
  const directorySync = createDirectorySync(directory);
  const opened = keepOpen(openSegments);
  let nextNumber = 1;
  let liveBytes = 0;
  let active: Segment | undefined;
  const waiting: Waiting[] = [];
  let running: Promise<void> | undefined;

  const forget = (name: string, place: Place): void => {
    index.delete(name);
    place.segment.names.delete(name);
    place.segment.liveBytes -= place.size;
    liveBytes -= place.size;
  };
  const note = (name: string, place: Place): void => {
    const before = index.get(name);
    if (before !== undefined) forget(name, before);
    index.set(name, place);
    place.segment.names.add(name);
    place.segment.liveBytes += place.size;
    liveBytes += place.size;
  };
  const mark = ({ segment, at }: Place, flags = 0): Promise<void> =>
    writeAt(segment.path, constants.O_WRONLY | flags, [deadMark], at).catch(ignoreAbsence);

  const load = async (): Promise<void> => {
    const files = (await readdir(directory)).filter((name) => segmentName.test(name)).sort();
    for (const [i, file] of files.entries()) {
      const path = join(directory, file);
      const { frames, size } = await scanSegment(path);
      const torn = new Set(i === files.length - 1 ? await tornFrames(path, frames) : []);
      const segment: Segment = { path, names: new Set(), size, liveBytes: 0 };
      segments.add(segment);
      for (const frame of frames) {
        if (torn.has(frame)) await mark({ segment, ...frame }, constants.O_DSYNC);
        else if (frame.live) note(frame.name, { segment, at: frame.at, size: frame.size });
      }
      nextNumber = Number(segmentName.exec(file)?.[1]) + 1;
    }
    for (const segment of segments) if (segment.liveBytes === 0) await drop(segment);
  };

  const drop = async (segment: Segment): Promise<void> => {
    opened.forget(segment.path);
    await unlink(segment.path).catch(ignoreAbsence);
    segments.delete(segment);
  };

  /** Writes frames at the end of the active segment; durable when it resolves. */
  const writeGroup = async (frames: readonly Frame[]): Promise<readonly Place[]> => {
    const fresh = active === undefined || active.size >= segmentBytes;
    const segment: Segment =
      active !== undefined && !fresh
        ? active
        : { path: join(directory, `${String(nextNumber++).padStart(10, "0")}.seg`), names: new Set(), size: 0, liveBytes: 0 };
    const start = segment.size;
    const { O_WRONLY, O_DSYNC, O_CREAT, O_EXCL } = constants;
    try {
      await writeAt(segment.path, O_WRONLY | O_DSYNC | (fresh ? O_CREAT | O_EXCL : 0), frames.flat(), start);
      if (fresh) await directorySync.sync();
    } catch (error) {
      active = undefined;
      // A file that is there already is not of this log: it stays as it is.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") await truncate(segment.path, start).catch(() => undefined);
      throw error;
    }
    active = segment;
    segments.add(segment);
    return frames.map((frame) => {
      const at = segment.size;
      const size = lengthOf(frame);
      segment.size += size;
      return { segment, at, size };
    });
  };

  /** Writes what is live in a segment again, and removes the segment. */
  const rewrite = async (segment: Segment): Promise<void> => {
    if (segment === active) active = undefined;
    const live = [...segment.names].map((name) => [name, index.get(name) as Place] as const);
    for (let from = 0; from < live.length; ) {
      const group: [string, Place, Buffer][] = [];
      for (let bytes = 0; from < live.length && group.length < maxGroupFrames && bytes < maxGroupBytes; from++) {
        const [name, place] = live[from] as (typeof live)[number];
        const frame = await readAt(segment.path, place.at, place.size).catch(absent);
        // Nothing that the frames behind it could not be told from. A damaged payload is kept as it is: it stays damaged.
        if (readHeader(frame)?.size !== frame.length) {
          if (index.get(name) === place) forget(name, place);
          continue;
        }
        group.push([name, place, frame]);
        bytes += frame.length;
      }
      if (group.length === 0) continue;
      const places = await writeGroup(group.map(([, , frame]) => [frame]));
      for (const [i, [name, before]] of group.entries()) {
        const place = places[i] as Place;
        if (index.get(name) === before) note(name, place);
        else await mark(place);
      }
    }
    await drop(segment);
  };

  const dead = (segment: Segment): number => segment.size - segment.liveBytes;
  const makeRoom = async (bytes: number): Promise<void> => {
    for (;;) {
      const all = [...segments];
      if (all.reduce((n, { size }) => n + size, bytes) <= limit) return;
      const [most] = all.sort((a, b) => dead(b) - dead(a));
      if (most === undefined || dead(most) === 0) return;
      await rewrite(most);
    }
  };
  const worthless = (segment: Segment): boolean => segment !== active && dead(segment) * 2 > segment.size;
  /** Rewrites one segment at most. What fails now is tried again later. */
  const tidy = async (): Promise<void> => {
    const found = [...segments].find(worthless);
    if (found !== undefined) await rewrite(found).catch(() => undefined);
  };

  const take = (): Waiting[] => {
    let bytes = 0;
    const end = waiting.findIndex(({ frame }, i) => {
      bytes += lengthOf(frame);
      return i > 0 && (i === maxGroupFrames || bytes > maxGroupBytes);
    });
    return waiting.splice(0, end < 0 ? waiting.length : end);
  };
  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      // Those of the same tick travel together, also the first ones.
      await Promise.resolve();
      const group = take();
      try {
        await makeRoom(group.reduce((n, { frame }) => n + lengthOf(frame), 0));
        const places = await writeGroup(group.map(({ frame }) => frame));
        for (const [i, { name, resolve }] of group.entries()) {
          note(name, places[i] as Place);
          resolve();
        }
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
      await tidy();
    }
    await tidy();
  };
  const wake = (): void => {
    running ??= run().finally(() => {
      running = undefined;
      if (waiting.length > 0) wake();
    });
  };

  await load();
  return {
    get liveBytes() {
      return liveBytes;
    },
    has: (name) => index.has(name),
    names: () => [...index.keys()],
    async read(name, into) {
      for (;;) {
        const place = index.get(name);
        if (place === undefined) return undefined;
        const header = Buffer.allocUnsafe(headerSize(name));
        const length = place.size - header.length;
        const payload = into?.length === length ? into : new Uint8Array(length);
        try {
          const whole = await opened.fill(place.segment.path, place.at, [header, payload]);
          return { header: whole ? header : Buffer.alloc(0), payload };
        } catch (error) {
          // It may have been written again elsewhere meanwhile.
          if (index.get(name) === place) throw error;
        }
      }
    },
    append: (name, frame) =>
      new Promise((resolve, reject) => {
        waiting.push({ name, frame, resolve, reject });
        wake();
      }),
    async delete(name) {
      const place = index.get(name);
      if (place === undefined) return;
      forget(name, place);
      await mark(place);
      if (worthless(place.segment)) wake();
    },
    async close() {
      while (running !== undefined) await running;
      opened.close();
    },
  };
}

function lengthOf(frame: Frame): number {
  return frame.reduce((n, { length }) => n + length, 0);
}

/** No bytes, for a file that is gone. */
function absent(error: unknown): Buffer {
  ignoreAbsence(error);
  return Buffer.alloc(0);
}

function ignoreAbsence(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
