import type { ReplicaTarget } from "@seneschal/adapters/replicas";
import {
  afterPage,
  type Bucket,
  copySent,
  copyStep,
  destinationKey,
  existingAwaited,
  gatherUntaken,
  lanesToSend,
  type QueueWaits,
  queueRestMs,
  type ReplicationOutcome,
  type ReplicationState,
  type Retry,
  replicationOutcomes,
  retryAfter,
  settleCopy,
  storageError,
  type WaitingCopy,
} from "@seneschal/core/storage";
import type { Stored } from "@seneschal/kernel/ports";
import { type Background, type FollowerTurn, followStore } from "../../platform/index.ts";
import { commit } from "../context.ts";
import { type DestinationAccess, type ObjectServices, replicationTo } from "../objects/services.ts";
import { findVersion } from "../objects/versions.ts";
import {
  awaitExisting,
  measureReplication,
  pageOf,
  type ReplicationQueue,
  replicationQueues,
  scanOfBucket,
} from "./replication-queues.ts";
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
/** How often operators hear of the versions of one bucket that one destination does not take. */
const untakenMs = 60_000;
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
  let server: Retry | undefined;
  let serverError: Error | undefined;
  const queues = new Map<string, QueueWaits>();
  const knownOf = (queue: Pick<ReplicationQueue, "bucket" | "into">): QueueWaits => queues.get(keyOf(queue)) ?? {};
  const untaken = gatherUntaken(untakenMs);
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
    if (!existingAwaited(bucket, { name, bucket: queue.into }, (await scanOfBucket(store, bucket.name))?.doc)) return undefined;
    return { wanted: true, ...(await target.open(queue.into)) };
  };

  /** Copies one version; tells why what is behind it is not copied now: nothing of the queue, or (a time) of its key until then. */
  const copyOne = async (waiting: Stored, { wanted, locks }: OpenQueue): Promise<Stopped | number | undefined> => {
    const entry = waiting.doc as WaitingCopy;
    const doc = (await findVersion(services, entry))?.doc;
    const asked = knownOf(entry).room;
    const step = copyStep(entry, doc, { wanted, room: asked, now: clock.now() });
    if (step.step === "wait") return step.until;
    if (step.step === "give up" || doc === undefined) {
      await settle(services, waiting, undefined);
      return undefined;
    }
    const sent = await sendVersion({ services, target, locks, signal }, entry, doc);
    const { outcome, there, error = new Error(outcome) } = sent;
    count(outcome, entry.size);
    const known = knownOf(entry);
    const next = copySent(entry, doc, { outcome, there }, { asked, room: known.room, now: clock.now() });
    switch (next.step) {
      case "stop":
        return { outcome: next.outcome, error };
      case "no room":
        queues.set(keyOf(entry), { ...known, room: next.room });
        if (next.first) {
          const details = { ...textsOf(entry), size: entry.size, error: error.message };
          context.emit("warning", "node", "a bucket has no room for a copy: versions as large wait", details);
        }
        return next.room.until;
      case "again": {
        // Where it was described otherwise meanwhile it is sent again at once.
        const put = { coll: "storage_replications", id: waiting.id, doc: next.entry, ifVersion: waiting.version };
        await commit(store, { puts: [put] });
        return next.due;
      }
      case "settle":
        await settle(services, waiting, next.state);
        if (next.untaken !== undefined) untaken.add(entry, next.untaken, error.message);
        if (next.roomAgain && forgetRoom(entry))
          context.emit("info", "node", "a bucket has room for copies again", textsOf(entry));
        return undefined;
    }
  };

  /** True where the bucket had none until now. */
  const forgetRoom = (queue: ReplicationQueue): boolean => {
    const { room, ...rest } = knownOf(queue);
    queues.set(keyOf(queue), rest);
    return room !== undefined;
  };

  /** Copies what is next in a queue; "more": there is more behind it. */
  const copyPage = async (queue: ReplicationQueue, pass: Pass): Promise<"more" | "done" | Stopped> => {
    const { items, cursor } = await pageOf(store, queue, pageSize, pass.cursor);
    pass.cursor = cursor;
    const hold = (key: string, due: number): void => {
      pass.held.add(key);
      pass.due = Math.min(pass.due ?? due, due);
    };
    const entries = items.map((waiting) => ({ ...(waiting.doc as WaitingCopy), waiting }));
    const { lanes, waiting } = lanesToSend(entries, pass.held, clock.now());
    for (const [key, due] of waiting) hold(key, due);
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
              if (held === knownOf(queue).room?.until) pass.crowd += 1;
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

  const waitsMs = (): number => Math.max(0, (server?.at ?? 0) - clock.now());

  const turn = async (): Promise<FollowerTurn> => {
    if (!here()) return {};
    if (waitsMs() > 0) return { waitsMs: waitsMs(), ...(serverError && { error: serverError }) };
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
        if (queueRestMs(knownOf(queue), clock.now()) === 0) {
          const end = await copyPage(queue, pass);
          if (typeof end !== "string" && end.outcome === "unreached") {
            [server, serverError] = [retryAfter(server, end.outcome, clock.now()), end.error];
            return { waitsMs: waitsMs(), error: end.error };
          }
          const outcome = typeof end === "string" ? end : "withheld";
          const { waits, told } = afterPage(knownOf(queue), outcome, pass.crowd > pageSize, clock.now());
          queues.set(key, waits);
          if (told === "resumed") context.emit("info", "node", "a bucket is copied again", textsOf(queue));
          if (typeof end === "string") {
            [server, serverError] = [undefined, undefined];
            if (end === "more") {
              more = true;
              continue;
            }
            pass.ended = true;
            if (pass.due !== undefined) again = Math.min(again ?? lastRetryMs, Math.max(0, pass.due - clock.now()));
            continue;
          }
          if (told === "stopped") {
            const details = { ...textsOf(queue), error: end.error.message };
            context.emit("warning", "node", "a bucket is not copied: what is new in it waits", details);
          }
        }
        pass.ended = true;
        const wait = queueRestMs(knownOf(queue), clock.now());
        again = Math.min(again ?? wait, wait);
      }
    }
    return again === undefined ? {} : { waitsMs: again };
  };
  const tell = (): void => {
    for (const { message, details } of untaken.due(clock.now())) context.emit("warning", "node", message, details);
  };
  const told = async (): Promise<FollowerTurn> => {
    try {
      return await turn();
    } finally {
      tell();
    }
  };
  return Object.assign(told, { waitsMs, tell });
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
