import { constants } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createDirectorySync } from "./directory-sync.ts";
import { keepOpen, readAt } from "./files.ts";
import { deadMark, headerSize, readHeader } from "./frame.ts";
import { scanSegment, tornFrames } from "./scan-segment.ts";
import { noRoom, type SegmentDisk } from "./segment-disk.ts";

/** A file of frames, written at its end only; deleted frames are marked in place. */
interface Segment {
  readonly path: string;
  /** Whose newest frame is here. */
  readonly names: Set<string>;
  /** Marks on their way into it: until they are there it may not be cut. */
  readonly marks: Set<Promise<void>>;
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
  /** Bytes of frames that were deleted: they are given back as soon as somebody wants them. */
  readonly deadBytes: number;
  /** What is left of the file system for new frames: without what moving old ones takes. */
  freeBytes(): Promise<number>;
  /** Gives the bytes of all segments back that are mostly deleted frames. Throws what kept it from one, after the others. */
  compact(): Promise<void>;
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
/** Bytes that are moved at a time, or one frame. */
const maxMoved = 4 << 20;
/** That stay open for their next readers. */
const openSegments = 16;
const segmentName = /^(\d{10})\.seg$/;

/**
 * Opens the segments of a directory. Writers that wait at the same time are one group: one synced write for all of them. A
 * group that fails ends its segment; nothing is ever written behind bytes whose fate is unknown. Segments that are mostly
 * deleted frames are written again and removed, so that the directory holds at most twice what is live, and `limit`
 * and one segment in all. After a crash the newest segment is read whole: what is torn in it was never acknowledged.
 *
 * A segment is emptied from its end and cut after each group that left it, so that moving frames takes the room of one group, and gives
 * back at least as much: that room is kept of the file system, and new frames are refused (ENOSPC) before they take it.
 */
export async function openExtentLog(directory: string, limit: number, disk: SegmentDisk): Promise<ExtentLog> {
  const index = new Map<string, Place>();
  const segments = new Set<Segment>();
  const segmentBytes = Math.min(maxSegment, Math.max(64 << 10, Math.floor(limit / 16)));
  const directorySync = createDirectorySync(directory);
  const opened = keepOpen(openSegments);
  let nextNumber = 1;
  let liveBytes = 0;
  let largest = 0;
  let active: Segment | undefined;
  const waiting: Waiting[] = [];
  const turns: (() => Promise<unknown>)[] = [];
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
    largest = Math.max(largest, place.size);
  };
  const mark = async ({ segment, at }: Place, flags = 0): Promise<void> => {
    const marking = disk.write(segment.path, constants.O_WRONLY | flags, [deadMark], at).catch(ignoreAbsence);
    segment.marks.add(marking);
    try {
      await marking;
    } finally {
      segment.marks.delete(marking);
    }
  };
  const segmentAt = (path: string, size: number): Segment => ({ path, names: new Set(), marks: new Set(), size, liveBytes: 0 });

  const load = async (): Promise<void> => {
    const files = (await readdir(directory)).filter((name) => segmentName.test(name)).sort();
    for (const [i, file] of files.entries()) {
      const path = join(directory, file);
      const { frames, size } = await scanSegment(path);
      const torn = new Set(i === files.length - 1 ? await tornFrames(path, frames) : []);
      const segment = segmentAt(path, size);
      segments.add(segment);
      for (const frame of frames) {
        if (torn.has(frame)) await mark({ segment, ...frame }, constants.O_DSYNC);
        else if (frame.live) {
          // A crash came before the segment it was moved from was cut. What is deleted later is deleted there too.
          const before = index.get(frame.name);
          note(frame.name, { segment, at: frame.at, size: frame.size });
          if (before !== undefined) await mark(before);
        }
      }
      nextNumber = Number(segmentName.exec(file)?.[1]) + 1;
    }
    for (const segment of segments) if (segment.liveBytes === 0) await drop(segment);
  };

  const drop = async (segment: Segment): Promise<void> => {
    opened.forget(segment.path);
    await disk.remove(segment.path).catch(ignoreAbsence);
    segments.delete(segment);
  };

  /** What moving frames takes: room for the largest, and for what a file system needs beside. */
  const reserve = (frames: readonly Frame[] = []): number => {
    const most = Math.max(largest, ...frames.map(lengthOf));
    return most === 0 ? 0 : most + (64 << 10);
  };

  /** Writes frames at the end of the active segment; durable when it resolves. `kept` bytes of the file system stay free. */
  const writeGroup = async (frames: readonly Frame[], kept: number): Promise<readonly Place[]> => {
    const giveBack = await disk.claim(lengthOf(frames.flat()), kept);
    const fresh = active === undefined || active.size >= segmentBytes;
    const segment =
      active !== undefined && !fresh ? active : segmentAt(join(directory, `${String(nextNumber++).padStart(10, "0")}.seg`), 0);
    const start = segment.size;
    const { O_WRONLY, O_DSYNC, O_CREAT, O_EXCL } = constants;
    try {
      await disk.write(segment.path, O_WRONLY | O_DSYNC | (fresh ? O_CREAT | O_EXCL : 0), frames.flat(), start);
      if (fresh) await directorySync.sync();
    } catch (error) {
      active = undefined;
      // A file that is there already is not of this log: it stays as it is.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST")
        await (fresh ? disk.remove(segment.path) : disk.truncate(segment.path, start)).catch(() => undefined);
      throw error;
    } finally {
      giveBack();
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

  /** Writes what is live in a segment again, from its end, cutting off what was moved, and removes the segment. */
  const rewrite = async (segment: Segment): Promise<void> => {
    if (segment === active) active = undefined;
    const live = [...segment.names].map((name) => [name, index.get(name) as Place] as const).sort(([, a], [, b]) => a.at - b.at);
    /** The last live frame that is not yet moved; what is behind it is cut off. */
    const last = async (): Promise<readonly [string, Place] | undefined> => {
      let found = live.at(-1);
      for (; found !== undefined && index.get(found[0]) !== found[1]; found = live.at(-1)) live.pop();
      const end = found === undefined ? 0 : found[1].at + found[1].size;
      if (found === undefined || end === segment.size) return found;
      // A mark behind the end would make the file long again. What is deleted from here on lies before it.
      await Promise.allSettled(segment.marks);
      await disk.truncate(segment.path, end);
      segment.size = end;
      return found;
    };
    let most = maxGroupFrames;
    while ((await last()) !== undefined) {
      const group: [string, Place, Buffer][] = [];
      for (let bytes = 0; live.length > 0 && group.length < most; live.pop()) {
        const [name, place] = live.at(-1) as (typeof live)[number];
        bytes += place.size;
        if (group.length > 0 && bytes > maxMoved) break;
        if (index.get(name) !== place) continue;
        const frame = await readAt(segment.path, place.at, place.size).catch(absent);
        // Nothing that the frames behind it could not be told from. A damaged payload is kept as it is: it stays damaged.
        if (readHeader(frame)?.size === frame.length) group.push([name, place, frame]);
        else if (index.get(name) === place) forget(name, place);
      }
      if (group.length === 0) continue;
      let places: readonly Place[];
      try {
        places = await writeGroup(
          group.map(([, , frame]) => [frame]),
          0,
        );
      } catch (error) {
        if (!noRoom(error) || group.length === 1) throw error;
        // One takes less room than many, and gives back as much as it takes.
        most = 1;
        live.push(...group.reverse().map(([name, place]) => [name, place] as const));
        continue;
      }
      for (const [i, [name, before]] of group.entries()) {
        const place = places[i] as Place;
        if (index.get(name) === before) note(name, place);
        else await mark(place);
      }
    }
    await drop(segment);
  };

  const dead = (segment: Segment): number => segment.size - segment.liveBytes;
  /** Of the segments that `wanted` picks those that give back most for what moving takes, first. */
  const byGain = (wanted: (segment: Segment) => boolean = (segment) => dead(segment) > 0): readonly Segment[] =>
    [...segments].filter(wanted).sort((a, b) => dead(b) / b.size - dead(a) / a.size);

  /** Rewrites the first of `some` that can be; `failed`: those that could not, until another gives something back. False: none is left. */
  const rewriteOne = async (some: readonly Segment[], failed: Map<Segment, unknown>): Promise<boolean> => {
    for (const segment of some) {
      if (failed.has(segment)) continue;
      const before = dead(segment);
      try {
        await rewrite(segment);
        failed.clear();
        return true;
      } catch (error) {
        if (dead(segment) < before) failed.clear();
        failed.set(segment, error);
      }
    }
    return false;
  };

  /** Writes new frames, and rewrites segments for as long as there is no room for them. */
  const store = async (frames: readonly Frame[]): Promise<readonly Place[]> => {
    const within = () => [...segments].reduce((n, { size }) => n + size, lengthOf(frames.flat())) <= limit;
    const failed = new Map<Segment, unknown>();
    while (!within() && (await rewriteOne(byGain(), failed)));
    for (;;) {
      try {
        return await writeGroup(frames, reserve(frames));
      } catch (error) {
        if (!noRoom(error) || !(await rewriteOne(byGain(), failed))) throw error;
      }
    }
  };

  const worthless = (segment: Segment): boolean => dead(segment) * 2 > segment.size;
  /** Rewrites one segment at most. What fails now is tried again later. */
  const tidy = (): Promise<boolean> =>
    rewriteOne(
      byGain((segment) => segment !== active && worthless(segment)),
      new Map(),
    );

  const take = (): Waiting[] => {
    let bytes = 0;
    const end = waiting.findIndex(({ frame }, i) => {
      bytes += lengthOf(frame);
      return i > 0 && (i === maxGroupFrames || bytes > maxGroupBytes);
    });
    return waiting.splice(0, end < 0 ? waiting.length : end);
  };
  const write = async (group: readonly Waiting[]): Promise<void> => {
    try {
      const places = await store(group.map(({ frame }) => frame));
      for (const [i, { name, resolve }] of group.entries()) {
        note(name, places[i] as Place);
        resolve();
      }
    } catch (error) {
      // Some of many may have room.
      if (noRoom(error) && group.length > 1) for (const one of group) await write([one]);
      else for (const { reject } of group) reject(error);
    }
  };
  const run = async (): Promise<void> => {
    while (waiting.length > 0 || turns.length > 0) {
      // Those of the same tick travel together, also the first ones.
      await Promise.resolve();
      if (waiting.length > 0) await write(take());
      await (turns.shift() ?? tidy)();
    }
    await tidy();
  };
  const wake = (): void => {
    running ??= run().finally(() => {
      running = undefined;
      if (waiting.length > 0 || turns.length > 0) wake();
    });
  };
  /** Does something while nothing is written. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      turns.push(() => work().then(resolve, reject));
      wake();
    });

  await load();
  return {
    get liveBytes() {
      return liveBytes;
    },
    get deadBytes() {
      return [...segments].reduce((n, segment) => n + dead(segment), 0);
    },
    freeBytes: async () => Math.max(0, (await disk.free()) - reserve()),
    async compact() {
      const failed = new Map<Segment, unknown>();
      // Writers have their turns between two segments.
      while (await inTurn(() => rewriteOne(byGain(worthless), failed)));
      for (const error of failed.values()) throw error;
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
          if (index.get(name) === place) return { header: whole ? header : Buffer.alloc(0), payload };
        } catch (error) {
          if (index.get(name) === place) throw error;
        }
        // It was deleted, or written again elsewhere, meanwhile: where it was the file may have ended.
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
      if (place.segment !== active && worthless(place.segment)) wake();
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
