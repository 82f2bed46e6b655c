import type { ReplicaTarget } from "@seneschal/adapters/replicas";
import {
  afterSending,
  type Bucket,
  destinationKey,
  lanesOf,
  type NoRoom,
  type ReplicationOutcome,
  type ReplicationState,
  replicationOutcomes,
  roomAfter,
  settleCopy,
  storageError,
  type WaitingCopy,
  waitsForRoom,
} from "@seneschal/core/storage";
import type { Stored } from "@seneschal/kernel/ports";
import { type Background, type FollowerTurn, followStore } from "../../platform/index.ts";
import { commit } from "../context.ts";
import { type DestinationAccess, type ObjectServices, replicationTo } from "../objects/services.ts";
import { findVersion } from "../objects/versions.ts";
import { announceUntaken } from "./announce-untaken.ts";
import { awaitExisting, existingAwaited } from "./existing-versions.ts";
import { measureReplication } from "./measure-replication.ts";
import { pageOf, type ReplicationQueue, replicationQueues } from "./replication-queues.ts";
import { sendVersion } from "./send-version.ts";

/** Copies new versions of buckets to buckets elsewhere: each destination by itself, the versions of a key in their order. */
export interface ReplicationWork {
  /** A turn of every destination that is due, until nothing waits for it or it does not answer. */
  copy(): Promise<void>;
  /** Measures what waits, and looks whether something is due. One step of the cluster's background work. */
  watch(): Promise<void>;
  /** Writes down what was in buckets before their rules, where those are about it too. One step of the cluster's background work. */
  awaitExisting(): Promise<void>;
  /** Begins to follow the store. */
  start(): void;
  stop(): Promise<void>;
}

/** A server that buckets may be copied to. */
export interface BucketDestination extends DestinationAccess {
  readonly target: ReplicaTarget;
}

interface ReplicationParts {
  readonly services: ObjectServices;
  readonly background: Background;
  /** By the names that buckets have for them. */
  readonly destinations: ReadonlyMap<string, BucketDestination>;
  /** True on the node that does this for the cluster. */
  readonly leads: () => boolean;
}

const lastRetryMs = 60_000;
/** How much of a queue is looked at at a time, and how many keys of it are copied at once. */
const [pageSize, lanesAtOnce] = [100, 4];

export function openReplication({ services, background, destinations, leads }: ReplicationParts): ReplicationWork {
  const { store, metrics } = services.context;
  const ending = new AbortController();
  const followers = [...destinations].map(([name, destination]) => {
    // A counter that begins at what it counted first has no increase that an alert could see.
    for (const outcome of replicationOutcomes) metrics.replications.inc({ destination: name, outcome }, 0);
    const turn = openTurns({ services, leads, name, destination, signal: ending.signal });
    // A server that does not answer is not asked for every write.
    return { step: `replication to ${name}`, turn, waitsMs: turn.waitsMs };
  });
  const following = followStore({ store, background, leads, retryMs: lastRetryMs, followers });
  return {
    async copy() {
      await Promise.all(followers.map(({ turn }) => turn()));
    },
    async watch() {
      await measureReplication(services.context);
      for (const { turn } of followers) turn.tell();
      following.wake();
    },
    awaitExisting: () => awaitExisting(services, ending.signal),
    start: following.start,
    async stop() {
      ending.abort();
      await following.stop();
      for (const { target } of destinations.values()) target.close();
    },
  };
}

/** One that is to be tried again, and how often it was. */
interface Waiting {
  readonly failures: number;
  readonly at: number;
  readonly error?: Error | undefined;
}

/** What is known of a queue before anything of it is copied. */
interface OpenQueue {
  /** Rules copy to it. */
  readonly wanted: boolean;
  /** Versions may be held there. */
  readonly locks: boolean;
}

/** How far a turn is with a queue. */
interface Pass {
  cursor?: string | undefined;
  /** Keys of which a version waits by itself, and the others behind it. */
  readonly held: Set<string>;
  /** When the first of those is to be sent again. */
  due?: number;
  /** How many keys wait for room in their bucket. */
  crowd: number;
  ended: boolean;
}

/** Why a queue is not copied to its end. */
interface Stopped {
  readonly outcome: "withheld" | "unreached";
  readonly error: Error;
}

interface Turns {
  (): Promise<FollowerTurn>;
  /** How long the server is not to be asked. */
  waitsMs(): number;
  /** Tells of what was not taken and not told of yet. */
  tell(): void;
}

interface TurnParts extends Pick<ReplicationParts, "services" | "leads"> {
  readonly name: string;
  readonly destination: BucketDestination;
  readonly signal: AbortSignal;
}

/** One destination's turns: each copies all that waits for it. A version that is denied holds up its key, one that a bucket has no room for those as large, a bucket that takes nothing no other, a server that does not answer all. */
function openTurns({ services, leads, name, destination, signal }: TurnParts): Turns {
  const { context } = services;
  const { store, clock, metrics } = context;
  const { target } = destination;
  let server: Waiting = { failures: 0, at: 0 };
  const buckets = new Map<string, Waiting>();
  const rooms = new Map<string, NoRoom>();
  /** Until when queues are not looked through again, of which much waits for room. */
  const crowded = new Map<string, number>();
  const untaken = announceUntaken(context);
  const here = (): boolean => leads() && !signal.aborted;

  const count = (outcome: ReplicationOutcome, bytes = 0): void => {
    metrics.replications.inc({ destination: name, outcome });
    if (outcome === "taken") metrics.replicationBytes.inc({ destination: name }, bytes);
  };

  /** Opens what a queue copies from and to; `undefined`: not yet. Without rules for it any more what waits is given up. */
  const openQueue = async (queue: ReplicationQueue): Promise<OpenQueue | undefined> => {
    const bucket = (await store.get("storage_buckets", queue.bucket))?.doc as Bucket | undefined;
    const own = destinationKey({ name, bucket: queue.into });
    const wanted = bucket?.replication?.rules.some((rule) => rule.enabled && destinationKey(rule.destination) === own) === true;
    if (!wanted) return { wanted: false, locks: false };
    if (bucket === undefined || replicationTo(services, bucket.tenant, { name, bucket: queue.into }) !== "leave")
      throw new WithheldHere("the destination is not for this tenant any more");
    if (!(await existingAwaited(store, bucket, { name, bucket: queue.into }))) return undefined;
    return { wanted: true, ...(await target.open(queue.into)) };
  };

  /** Copies one version; tells why what is behind it is not copied now: nothing of the queue, or (a time) of its key until then. */
  const copyOne = async (waiting: Stored, { wanted, locks }: OpenQueue): Promise<Stopped | number | undefined> => {
    const entry = waiting.doc as WaitingCopy;
    const doc = (await findVersion(services, entry))?.doc;
    if (!wanted || doc === undefined) {
      await settle(services, waiting, undefined);
      return undefined;
    }
    const room = rooms.get(keyOf(entry));
    const takesRoom = doc.delete_marker !== true && entry.sent !== true;
    const waits = takesRoom ? waitsForRoom(room, entry.size, clock.now()) : undefined;
    if (waits !== undefined) return waits;
    const sent = await sendVersion({ services, target, locks, signal }, entry, doc);
    const { outcome, there, error = new Error(outcome) } = sent;
    count(outcome, entry.size);
    const denials = entry.denials ?? 0;
    const after = afterSending(outcome, denials, there);
    if (after.state === "PENDING") {
      if (after.waits === "queue") return { outcome: outcome === "unreached" ? "unreached" : "withheld", error };
      if (after.waits === "size") return noRoom(entry, error);
      const due = clock.now() + after.waitsMs;
      const again: WaitingCopy = { ...entry, ...(there && { sent: true }), denials: denials + 1, due };
      // Where it was described otherwise meanwhile it is sent again at once.
      await commit(store, { puts: [{ coll: "storage_replications", id: waiting.id, doc: again, ifVersion: waiting.version }] });
      return due;
    }
    await settle(services, waiting, after.state);
    if (after.state !== "COMPLETED") untaken.add(entry, there ? "descriptions" : "versions", error);
    else if (takesRoom && room !== undefined && entry.size >= room.size && rooms.delete(keyOf(entry)))
      context.emit("info", "node", "a bucket has room for copies again", textsOf(entry));
    return undefined;
  };

  /** A bucket has no room for a version; tells until when it waits. */
  const noRoom = (entry: WaitingCopy, error: Error): number => {
    const known = rooms.get(keyOf(entry));
    const room = roomAfter(known, entry.size, clock.now());
    rooms.set(keyOf(entry), room);
    if (known === undefined)
      context.emit("warning", "node", "a bucket has no room for a copy: versions as large wait", {
        ...textsOf(entry),
        size: entry.size,
        error: error.message,
      });
    return room.until;
  };

  /** Copies what is next in a queue; "more": there is more behind it. */
  const copyPage = async (queue: ReplicationQueue, pass: Pass): Promise<"more" | "done" | Stopped> => {
    const { items, cursor } = await pageOf(store, queue, pageSize, pass.cursor);
    pass.cursor = cursor;
    const hold = (key: string, due: number): void => {
      pass.held.add(key);
      pass.due = Math.min(pass.due ?? due, due);
    };
    const lanes = lanesOf(items.map((waiting) => ({ ...(waiting.doc as WaitingCopy), waiting }))).filter(([first]) => {
      if (first?.due !== undefined && first.due > clock.now()) hold(first.key, first.due);
      return first !== undefined && !pass.held.has(first.key);
    });
    const end = cursor === undefined ? "done" : "more";
    if (lanes.length === 0) return end;
    let stopped: Stopped | undefined;
    try {
      const opened = await openQueue(queue);
      if (opened === undefined) return "done";
      let next = 0;
      const work = async (): Promise<void> => {
        for (let lane = lanes[next++]; lane !== undefined; lane = lanes[next++])
          for (const { key, waiting } of lane) {
            if (stopped !== undefined || !here()) return;
            const held = await copyOne(waiting, opened);
            if (typeof held === "number") {
              hold(key, held);
              if (held === rooms.get(keyOf(queue))?.until) pass.crowd += 1;
              break;
            }
            stopped ??= held;
          }
      };
      await Promise.all(Array.from({ length: lanesAtOnce }, work));
    } catch (error) {
      if (signal.aborted) return "done";
      const outcome = outcomeOf(error);
      if (outcome === undefined) throw error;
      count(outcome);
      stopped = { outcome, error: error as Error };
    }
    return stopped ?? end;
  };

  const retryIn = (before: Waiting | undefined, outcome: ReplicationOutcome): Waiting => {
    const failures = before?.failures ?? 0;
    const after = afterSending(outcome, failures);
    return { failures: failures + 1, at: clock.now() + ("waitsMs" in after ? after.waitsMs : 0) };
  };

  const waitsMs = (): number => Math.max(0, server.at - clock.now());
  const restsUntil = (key: string): number => Math.max(buckets.get(key)?.at ?? 0, crowded.get(key) ?? 0);

  const turn = async (): Promise<FollowerTurn> => {
    if (!here()) return {};
    if (waitsMs() > 0) return { waitsMs: waitsMs(), ...(server.error && { error: server.error }) };
    let again: number | undefined;
    const passes = new Map<string, Pass>();
    for (let more = true; more; ) {
      more = false;
      for await (const queue of replicationQueues(store, name)) {
        if (!here()) return {};
        const key = keyOf(queue);
        const pass = passes.get(key) ?? { held: new Set(), crowd: 0, ended: false };
        if (pass.ended) continue;
        passes.set(key, pass);
        const waiting = buckets.get(key);
        if (restsUntil(key) <= clock.now()) {
          const end = await copyPage(queue, pass);
          if (typeof end === "string") {
            if (end === "more") more = true;
            else {
              pass.ended = true;
              const room = rooms.get(key);
              if (room !== undefined && pass.crowd > pageSize) crowded.set(key, room.until);
              else crowded.delete(key);
              if (pass.due !== undefined) again = Math.min(again ?? lastRetryMs, Math.max(0, pass.due - clock.now()));
            }
            if (buckets.delete(key)) context.emit("info", "node", "a bucket is copied again", textsOf(queue));
            server = { failures: 0, at: 0 };
            continue;
          }
          const { outcome, error } = end;
          if (outcome === "unreached") {
            server = { ...retryIn(server, outcome), error };
            return { waitsMs: waitsMs(), error };
          }
          if (waiting === undefined)
            context.emit("warning", "node", "a bucket is not copied: what is new in it waits", {
              ...textsOf(queue),
              error: error.message,
            });
          buckets.set(key, retryIn(waiting, outcome));
        }
        pass.ended = true;
        const wait = Math.max(0, restsUntil(key) - clock.now());
        again = Math.min(again ?? wait, wait);
      }
    }
    return again === undefined ? {} : { waitsMs: again };
  };
  const told = async (): Promise<FollowerTurn> => {
    try {
      return await turn();
    } finally {
      untaken.tell();
    }
  };
  return Object.assign(told, { waitsMs, tell: untaken.tell });
}

const keyOf = ({ bucket, into }: Pick<ReplicationQueue, "bucket" | "into">): string => `${bucket} ${into}`;
const textsOf = ({ destination, bucket, into }: ReplicationQueue) => ({ destination, bucket, into });

/** Why nothing is sent although somebody would take it. */
class WithheldHere extends Error {}

function outcomeOf(error: unknown): "withheld" | "unreached" | undefined {
  if (error instanceof WithheldHere) return "withheld";
  const { code } = error as { readonly code?: unknown };
  if (code === "replica_unreached") return "unreached";
  return code === "replica_withheld" || code === "replica_refused" ? "withheld" : undefined;
}

/** Ends the waiting of a version: it says so from the same moment on. `state` absent: it is not to be copied there any more. */
async function settle(
  services: ObjectServices,
  { id, version, doc }: Stored,
  state: Exclude<ReplicationState, "PENDING"> | undefined,
): Promise<void> {
  const { store } = services.context;
  const entry = doc as WaitingCopy;
  const destination = { name: entry.destination, bucket: entry.into };
  const dels = [{ coll: "storage_replications", id, ifVersion: version }];
  for (let attempt = 0; attempt < 50; attempt++) {
    const found = await findVersion(services, entry);
    const puts =
      found?.doc.replication === undefined
        ? []
        : [{ coll: found.coll, id: found.id, doc: settleCopy(found.doc, destination, state), ifVersion: found.version }];
    const result = await commit(store, { puts, dels });
    // Another node was there.
    if (result.ok || result.failed.some(({ coll }) => coll === "storage_replications")) return;
  }
  throw storageError("ShardUnavailable", "too many writers of one key, try again");
}
