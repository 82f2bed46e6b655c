import { checkArgument, type JsonObject } from "@seneschal/kernel";
import { type CopyingBucket, rulesOfExisting, type WaitingCopy } from "./awaited-copies.ts";
import { type ObjectVersion, versionIdOf } from "./objects/records.ts";
import {
  afterSending,
  destinationKey,
  lanesOf,
  type NoRoom,
  type ReplicationDestination,
  type ReplicationOutcome,
  type ReplicationState,
  roomAfter,
  waitsForRoom,
} from "./replication.ts";

/** One that is to be tried again: how often it failed in a row, and when it is, milliseconds. */
export interface Retry {
  readonly failures: number;
  readonly at: number;
}

/**
 * A server, or a bucket on it, that has failed once more: it rests, longer each time ({@link afterSending}).
 *
 * @example
 * ```ts
 * import { retryAfter } from "@seneschal/core/storage";
 * console.log(retryAfter(undefined, "unreached", 0)); // { failures: 1, at: 1000 }
 * ```
 */
export function retryAfter(before: Retry | undefined, outcome: "withheld" | "unreached", now: number): Retry {
  checkArgument("outcome", outcome, "string");
  checkArgument("now", now, "number");
  const failures = before?.failures ?? 0;
  const after = afterSending(outcome, failures);
  return { failures: failures + 1, at: now + ("waitsMs" in after ? after.waitsMs : 0) };
}

/** What is known of a queue between its turns: what waits to be copied from one bucket to one other. */
export interface QueueWaits {
  /** Its bucket takes nothing. */
  readonly bucket?: Retry;
  /** Its bucket had no room for some. */
  readonly room?: NoRoom;
  /** Much of it waits for room: until when it is not looked through again. */
  readonly crowdedUntil?: number;
}

/**
 * How long a queue rests, milliseconds; 0: what waits in it is sent now.
 *
 * @example
 * ```ts
 * import { queueRestMs } from "@seneschal/core/storage";
 * console.log(queueRestMs({ bucket: { failures: 1, at: 1000 }, crowdedUntil: 400 }, 300)); // 700
 * ```
 */
export function queueRestMs(waits: QueueWaits, now: number): number {
  checkArgument("waits", waits, "object");
  checkArgument("now", now, "number");
  return Math.max(0, (waits.bucket?.at ?? 0) - now, (waits.crowdedUntil ?? 0) - now);
}

/**
 * What is known of a queue behind a page of it. `end`: there is `more` of it, it is `done` with, or its bucket took nothing (`withheld`). `crowded`:
 * more of it than a page holds waits for room. `told`: whether operators are to hear that it is not copied any more (`stopped`), or again (`resumed`).
 *
 * @example
 * ```ts
 * import { afterPage, queueRestMs } from "@seneschal/core/storage";
 * const { waits, told } = afterPage({}, "withheld", false, 0);
 * console.log(told, queueRestMs(waits, 0)); // stopped 1000
 * console.log(afterPage(waits, "done", false, 1000).told); // resumed
 * ```
 */
export function afterPage(
  waits: QueueWaits,
  end: "more" | "done" | "withheld",
  crowded: boolean,
  now: number,
): { readonly waits: QueueWaits; readonly told?: "stopped" | "resumed" } {
  checkArgument("waits", waits, "object");
  checkArgument("end", end, "string");
  checkArgument("crowded", crowded, "boolean");
  checkArgument("now", now, "number");
  if (end === "withheld")
    return {
      waits: { ...waits, bucket: retryAfter(waits.bucket, end, now) },
      ...(waits.bucket === undefined && { told: "stopped" }),
    };
  const { bucket, crowdedUntil, ...rest } = waits;
  const until = end === "more" ? crowdedUntil : crowded ? waits.room?.until : undefined;
  return {
    waits: { ...rest, ...(until !== undefined && { crowdedUntil: until }) },
    ...(bucket !== undefined && { told: "resumed" }),
  };
}

/**
 * What of a page of a queue is sent, by keys as {@link lanesOf} has them: not the versions of a key that is `held`, and not those behind one that is to be
 * sent again later, whose keys are `waiting` with their times.
 *
 * @example
 * ```ts
 * import { lanesToSend } from "@seneschal/core/storage";
 * const [a, b] = [{ key: "a", ordinal: 1, due: 9 }, { key: "b", ordinal: 1 }];
 * const { lanes, waiting } = lanesToSend([a, { key: "a", ordinal: 2 }, b], new Set(), 5);
 * console.log(lanes, waiting); // [ [ { key: 'b', ordinal: 1 } ] ] [ [ 'a', 9 ] ]
 * ```
 */
export function lanesToSend<T extends Pick<WaitingCopy, "key" | "ordinal"> & { readonly due?: number }>(
  page: readonly T[],
  held: ReadonlySet<string>,
  now: number,
): { readonly lanes: readonly (readonly T[])[]; readonly waiting: readonly (readonly [key: string, due: number])[] } {
  checkArgument("page", page, "array");
  checkArgument("held", held, "object");
  checkArgument("now", now, "number");
  const all = lanesOf(page);
  const waiting = all.flatMap(([first]) =>
    first?.due !== undefined && first.due > now ? [[first.key, first.due] as const] : [],
  );
  const waits = new Set(waiting.map(([key]) => key));
  return { lanes: all.filter(([first]) => first !== undefined && !held.has(first.key) && !waits.has(first.key)), waiting };
}

/** What is known of a queue while a version of it is copied. `wanted`: rules of its bucket still copy there. */
export interface CopyFacts {
  readonly wanted: boolean;
  readonly room: NoRoom | undefined;
  readonly now: number;
}

const takesRoom = (entry: WaitingCopy, version: Pick<ObjectVersion, "delete_marker">): boolean =>
  version.delete_marker !== true && entry.sent !== true;

/**
 * Whether a version that waits is sent now, waits `until` its bucket may have room, or is given up: it is gone, or is not to be copied there any more.
 *
 * @example
 * ```ts
 * import { copyStep, type WaitingCopy } from "@seneschal/core/storage";
 * const entry: WaitingCopy = { destination: "west", into: "photos", bucket: "docs", key: "a", version: "v", ordinal: 1, size: 5, at: 0 };
 * const room = { size: 4, failures: 1, until: 9 };
 * console.log(copyStep(entry, {}, { wanted: true, room, now: 0 })); // { step: 'wait', until: 9 }
 * ```
 */
export function copyStep(
  entry: WaitingCopy,
  version: Pick<ObjectVersion, "delete_marker"> | undefined,
  facts: CopyFacts,
): { readonly step: "send" | "give up" } | { readonly step: "wait"; readonly until: number } {
  checkArgument("entry", entry, "object");
  checkArgument("facts", facts, "object");
  const { wanted, room, now } = facts;
  if (!wanted || version === undefined) return { step: "give up" };
  const until = takesRoom(entry, version) ? waitsForRoom(room, entry.size, now) : undefined;
  return until === undefined ? { step: "send" } : { step: "wait", until };
}

/** What follows for a version that was sent. */
export type CopyOutcome =
  /** It waits no more. `untaken`: what operators hear was not taken; `roomAgain`: its bucket has room again. */
  | {
      readonly step: "settle";
      readonly state: Exclude<ReplicationState, "PENDING">;
      readonly untaken?: "versions" | "descriptions";
      readonly roomAgain: boolean;
    }
  /** Nothing more of the queue is sent. */
  | { readonly step: "stop"; readonly outcome: "withheld" | "unreached" }
  /** Its bucket had no room for it; `first`: it had some before. */
  | { readonly step: "no room"; readonly room: NoRoom; readonly first: boolean }
  /** It is sent again, which is written down, and what is behind it of its key waits for it. */
  | { readonly step: "again"; readonly entry: WaitingCopy; readonly due: number };

/**
 * What follows for a version that was sent, by what came of it. `asked`: what was known of the bucket's room when it was sent; several are
 * sent at once, and `room` is what is known now.
 *
 * @example
 * ```ts
 * import { copySent, type WaitingCopy } from "@seneschal/core/storage";
 * const entry: WaitingCopy = { destination: "west", into: "photos", bucket: "docs", key: "a", version: "v", ordinal: 1, size: 1, at: 0 };
 * const facts = { asked: undefined, room: undefined, now: 0 };
 * console.log(copySent(entry, {}, { outcome: "taken", there: true }, facts).step); // settle
 * console.log(copySent(entry, {}, { outcome: "full", there: false }, facts).step); // no room
 * ```
 */
export function copySent(
  entry: WaitingCopy,
  version: Pick<ObjectVersion, "delete_marker">,
  sent: { readonly outcome: ReplicationOutcome; readonly there: boolean },
  facts: Omit<CopyFacts, "wanted"> & { readonly asked: NoRoom | undefined },
): CopyOutcome {
  checkArgument("entry", entry, "object");
  checkArgument("version", version, "object");
  checkArgument("sent", sent, "object");
  checkArgument("facts", facts, "object");
  const { outcome, there } = sent;
  const { asked, room, now } = facts;
  const denials = entry.denials ?? 0;
  const after = afterSending(outcome, denials, there);
  if (after.state !== "PENDING") {
    if (after.state !== "COMPLETED")
      return { step: "settle", state: after.state, untaken: there ? "descriptions" : "versions", roomAgain: false };
    const fits = takesRoom(entry, version) && asked !== undefined && entry.size >= asked.size;
    return { step: "settle", state: after.state, roomAgain: fits && room !== undefined };
  }
  if (after.waits === "queue") return { step: "stop", outcome: outcome === "unreached" ? "unreached" : "withheld" };
  if (after.waits === "size") return { step: "no room", room: roomAfter(room, entry.size, now), first: room === undefined };
  const due = now + after.waitsMs;
  return { step: "again", entry: { ...entry, ...(there && { sent: true }), denials: denials + 1, due }, due };
}

/** How far what was in a bucket before its rules is written down to be copied. */
export interface ExistingScan extends JsonObject {
  /** Of the bucket's rules. */
  readonly configuration: string;
  readonly done: boolean;
  /** The last version that was looked at. */
  readonly after?: string;
  readonly afterVersion?: string;
}

/**
 * How far a bucket is looked through for its rules of now: from where an earlier look for the same ones ended, else from its beginning.
 *
 * @example
 * ```ts
 * import { scanOf } from "@seneschal/core/storage";
 * const before = { configuration: "one", done: false, after: "a" };
 * console.log(scanOf({ replication: { rules: [], configuration: "two" } }, before)); // { configuration: 'two', done: false }
 * ```
 */
export function scanOf(bucket: CopyingBucket, before: ExistingScan | undefined): ExistingScan {
  checkArgument("bucket", bucket, "object");
  const configuration = bucket.replication?.configuration ?? "";
  return before?.configuration === configuration ? before : { configuration, done: false };
}

/**
 * How far it is behind a page of its versions; `more`: there are others behind it.
 *
 * @example
 * ```ts
 * import { scannedPage } from "@seneschal/core/storage";
 * const scan = { configuration: "one", done: false };
 * console.log(scannedPage(scan, [{ key: "a" }], true).after, scannedPage(scan, [{ key: "b" }], false).done); // a true
 * ```
 */
export function scannedPage(
  scan: ExistingScan,
  page: readonly Pick<ObjectVersion, "key" | "version_id">[],
  more: boolean,
): ExistingScan {
  checkArgument("scan", scan, "object");
  checkArgument("page", page, "array");
  checkArgument("more", more, "boolean");
  const { configuration } = scan;
  const last = page.at(-1);
  if (!more || last === undefined) return { configuration, done: true };
  return { configuration, done: false, after: last.key, afterVersion: versionIdOf(last) };
}

/**
 * Whether what was in a bucket before its rules is written down to be copied to a destination. Until then nothing is copied there: servers
 * that name versions anew have the versions of a key in the order in which they come.
 *
 * @example
 * ```ts
 * import { existingAwaited } from "@seneschal/core/storage";
 * const destination = { name: "west", bucket: "photos" };
 * const rule = { id: "a", enabled: true, form: "filter", filter: {}, priority: 1, destination, deleteMarkers: false, existing: true } as const;
 * const bucket = { replication: { rules: [rule], configuration: "one" } };
 * console.log(existingAwaited(bucket, destination, undefined), existingAwaited(bucket, destination, { configuration: "one", done: true })); // false true
 * ```
 */
export function existingAwaited(
  bucket: CopyingBucket,
  destination: ReplicationDestination,
  scan: ExistingScan | undefined,
): boolean {
  checkArgument("bucket", bucket, "object");
  checkArgument("destination", destination, "object");
  const own = destinationKey(destination);
  if (!rulesOfExisting(bucket).some((rule) => destinationKey(rule.destination) === own)) return true;
  return scan?.done === true && scanOf(bucket, scan) === scan;
}

const untakenMessages = {
  versions: "versions are not taken where they are to be copied: they stay here alone",
  descriptions: "tags or locks of versions are not taken where their copies are",
} as const;

/** Versions that were not taken since it was told last, with the first of them. */
interface Untaken {
  readonly what: keyof typeof untakenMessages;
  versions: number;
  first?: Readonly<Record<string, string>>;
  toldAt: number;
}

/** What operators hear of versions that were not taken. */
export interface UntakenVersions {
  add(entry: WaitingCopy, what: keyof typeof untakenMessages, error: string): void;
  /** What is to be told now, which then was. */
  due(now: number): readonly { readonly message: string; readonly details: Readonly<Record<string, string | number>> }[];
}

/**
 * Gathers versions that were not taken: they are told at once, and then those of one bucket and destination together, once in `everyMs`.
 *
 * @example
 * ```ts
 * import { gatherUntaken, type WaitingCopy } from "@seneschal/core/storage";
 * const entry: WaitingCopy = { destination: "west", into: "photos", bucket: "docs", key: "a", version: "v", ordinal: 1, size: 1, at: 0 };
 * const untaken = gatherUntaken(60_000);
 * untaken.add(entry, "versions", "denied");
 * console.log(untaken.due(0).map(({ details }) => details["versions"])); // [ 1 ]
 * untaken.add(entry, "versions", "denied");
 * console.log(untaken.due(9).length, untaken.due(60_000).length); // 0 1
 * ```
 */
export function gatherUntaken(everyMs: number): UntakenVersions {
  checkArgument("everyMs", everyMs, "number");
  const untaken = new Map<string, Untaken>();
  return {
    add({ destination, bucket, into, key, version }, what, error) {
      const id = `${what} ${bucket} ${into}`;
      const one = untaken.get(id) ?? { what, versions: 0, toldAt: Number.NEGATIVE_INFINITY };
      one.versions += 1;
      one.first ??= { destination, bucket, into, key, version, error };
      untaken.set(id, one);
    },
    due(now) {
      const told: { readonly message: string; readonly details: Readonly<Record<string, string | number>> }[] = [];
      for (const [id, one] of untaken) {
        if (now - one.toldAt < everyMs) continue;
        if (one.first === undefined) untaken.delete(id);
        else told.push({ message: untakenMessages[one.what], details: { ...one.first, versions: one.versions } });
        one.versions = 0;
        delete one.first;
        one.toldAt = now;
      }
      return told;
    },
  };
}
