import { checkArgument } from "@seneschal/kernel";
import { inFilter, type LifecycleFilter } from "./lifecycle.ts";

/** What a bucket copies to buckets elsewhere. */
export interface Replication {
  /** The role that was named, to be given back; there are none here. */
  readonly role?: string;
  readonly rules: readonly ReplicationRule[];
  /** Another one for each time that the rules are set. */
  readonly configuration?: string;
}

/** Which new versions of a bucket are copied where. */
export interface ReplicationRule {
  readonly id: string;
  readonly enabled: boolean;
  /** What the rule was given with, so that it is given back so. */
  readonly form: "prefix" | "filter";
  readonly filter: Pick<LifecycleFilter, "prefix" | "tags">;
  /** Of the rules with one destination that cover a version the one with the greatest counts; of the form `prefix`: none. */
  readonly priority?: number;
  readonly destination: ReplicationDestination;
  /** Whether delete markers are copied too. */
  readonly deleteMarkers: boolean;
  /** Whether what was there before the rule is copied too; absent: nothing was said of it, and it is not. */
  readonly existing?: boolean;
}

/** A bucket elsewhere. */
export interface ReplicationDestination {
  /** The S3 server that it is on, as the operator calls it. */
  readonly name: string;
  readonly bucket: string;
}

/** Whether somebody may have copies made there; if not, whether it is the server that it may not name, or the bucket there. */
export type ReplicationLeave = "leave" | "no destination" | "no bucket";

/** How far the copy of a version to one destination is. `UNDESCRIBED`: it is there, and not with the tags or the lock that the version has. */
export type ReplicationState = "PENDING" | "COMPLETED" | "FAILED" | "UNDESCRIBED";

/** A version as its rules see it. */
export interface ReplicatedVersion {
  readonly key: string;
  readonly tags?: readonly { readonly key: string; readonly value: string }[];
  readonly delete_marker?: boolean;
  readonly encryption?: { readonly kind: string };
  /** It is itself a copy. */
  readonly replica?: boolean;
}

/**
 * The name of a destination among those of its bucket.
 *
 * @example
 * ```ts
 * import { destinationKey } from "@seneschal/core/storage";
 * console.log(destinationKey({ name: "west", bucket: "docs" })); // west/docs
 * ```
 */
export function destinationKey(destination: ReplicationDestination): string {
  checkArgument("destination", destination, "object");
  return `${destination.name}/${destination.bucket}`;
}

/**
 * The rules that a new version is copied by, one for each destination. A copy is copied no further, so that buckets which copy to each
 * other come to an end; nor is what is under a key of its own (`aws:kms`, or the client's): it is not to be read elsewhere under another.
 *
 * @example
 * ```ts
 * import { rulesCovering } from "@seneschal/core/storage";
 * const destination = { name: "west", bucket: "photos" };
 * const rule = { id: "a", enabled: true, form: "filter", filter: { prefix: "in/" }, priority: 1, destination, deleteMarkers: false } as const;
 * console.log(rulesCovering([rule], { key: "in/a.jpg" }).length); // 1
 * ```
 */
export function rulesCovering(rules: readonly ReplicationRule[], version: ReplicatedVersion): readonly ReplicationRule[] {
  checkArgument("rules", rules, "array");
  checkArgument("version", version, "object");
  const { key, tags = [], delete_marker: marker = false, encryption, replica = false } = version;
  if (replica || encryption !== undefined) return [];
  const first = new Map<string, ReplicationRule>();
  for (const rule of rules) {
    // A delete marker has no tags: rules that ask for some are not about it.
    if (!rule.enabled || !inFilter(rule.filter, { key, size: 0, tags })) continue;
    const name = destinationKey(rule.destination);
    if ((rule.priority ?? 0) > (first.get(name)?.priority ?? -1)) first.set(name, rule);
  }
  return [...first.values()].filter(({ deleteMarkers }) => !marker || deleteMarkers);
}

/**
 * What clients are told of a version: `REPLICA` is one that was copied from elsewhere; of others `FAILED` is said as soon as one destination
 * does not take it, or what is said of it, `COMPLETED` once all have it (Amazon S3 user guide, Getting replication status information).
 *
 * @example
 * ```ts
 * import { replicationStatus } from "@seneschal/core/storage";
 * console.log(replicationStatus({ replication: { "west/photos": "COMPLETED", "east/photos": "PENDING" } })); // PENDING
 * ```
 */
export function replicationStatus(version: {
  readonly replica?: boolean;
  readonly replication?: Readonly<Record<string, ReplicationState>>;
}): Exclude<ReplicationState, "UNDESCRIBED"> | "REPLICA" | undefined {
  checkArgument("version", version, "object");
  if (version.replica === true) return "REPLICA";
  const states = Object.values(version.replication ?? {}).map((state) => (state === "UNDESCRIBED" ? "FAILED" : state));
  return (["FAILED", "PENDING", "COMPLETED"] as const).find((state) => states.includes(state));
}

/**
 * What came of sending a version: it was `taken`; it was `refused` for what it is; it was `denied`, and others may not be; the bucket has no
 * room for it (`full`), and may have some for smaller ones; the bucket does not take anything now, such as one that is missing or without
 * versions (`withheld`); or its server does not answer, or does not know us (`unreached`).
 */
export const replicationOutcomes = ["taken", "refused", "denied", "full", "withheld", "unreached"] as const;
export type ReplicationOutcome = (typeof replicationOutcomes)[number];

const [firstRetryMs, lastRetryMs] = [1000, 60_000];
const retryMs = (failures: number): number => Math.min(lastRetryMs, firstRetryMs * 2 ** failures);
/** So often a version is sent that is denied each time: for some minutes. */
const mostDenials = 10;

/** What becomes of a version that was sent. `waits`: nothing that is of the queue, its own key, or as large, is sent meanwhile. */
export type AfterSending =
  | { readonly state: Exclude<ReplicationState, "PENDING"> }
  | { readonly state: "PENDING"; readonly waits: "queue" | "key" | "size"; readonly waitsMs: number };

/**
 * What becomes of a version that was sent, after so many `failures` before: what is neither taken nor refused stays pending, until it is sent
 * again in `waitsMs`, doubled with each failure more, and with it all of its queue (the failures are the queue's); where the bucket had no room
 * all that is as large (failures to find some); where it was denied the later ones of its key (its own failures): the tenth time it is refused. Of one that is `there` what
 * is said of it was refused, and its copy stays.
 *
 * @example
 * ```ts
 * import { afterSending } from "@seneschal/core/storage";
 * console.log(afterSending("unreached", 2)); // { state: 'PENDING', waits: 'queue', waitsMs: 4000 }
 * ```
 */
export function afterSending(outcome: ReplicationOutcome, failures: number, there = false): AfterSending {
  checkArgument("outcome", outcome, "string");
  checkArgument("failures", failures, "number");
  checkArgument("there", there, "boolean");
  if (outcome === "taken") return { state: "COMPLETED" };
  if (outcome === "refused" || (outcome === "denied" && failures + 1 >= mostDenials))
    return { state: there ? "UNDESCRIBED" : "FAILED" };
  const waits = outcome === "denied" ? "key" : outcome === "full" ? "size" : "queue";
  return { state: "PENDING", waits, waitsMs: retryMs(failures) };
}

/** That a bucket had no room: for versions of how many bytes and more, how often it had none, until when they wait. */
export interface NoRoom {
  readonly size: number;
  readonly failures: number;
  readonly until: number;
}

/**
 * Until when a version waits for room in its bucket, milliseconds; `undefined`: it is sent. What takes no room does not wait for any.
 *
 * @example
 * ```ts
 * import { roomAfter, waitsForRoom } from "@seneschal/core/storage";
 * const room = roomAfter(undefined, 100, 0);
 * console.log(waitsForRoom(room, 200, 1) === room.until, waitsForRoom(room, 50, 1)); // true undefined
 * ```
 */
export function waitsForRoom(room: NoRoom | undefined, size: number, now: number): number | undefined {
  checkArgument("size", size, "number");
  checkArgument("now", now, "number");
  return room !== undefined && size >= room.size && room.until > now ? room.until : undefined;
}

/**
 * What is known of a bucket's room once it had none for a version: smaller ones are still sent. Once that time is over all are, so that none
 * waits for a larger one.
 *
 * @example
 * ```ts
 * import { roomAfter } from "@seneschal/core/storage";
 * const room = roomAfter(undefined, 100, 0);
 * console.log(room.size, room.failures); // 100 1
 * ```
 */
export function roomAfter(room: NoRoom | undefined, size: number, now: number): NoRoom {
  checkArgument("size", size, "number");
  checkArgument("now", now, "number");
  // Several are sent at once.
  if (room !== undefined && room.until > now) return { ...room, size: Math.min(room.size, size) };
  const failures = room?.failures ?? 0;
  return { size, failures: failures + 1, until: now + retryMs(failures) };
}

/**
 * Those that wait, by their keys: keys may go at once, the versions of one key go one after the other as they are ordered.
 *
 * @example
 * ```ts
 * import { lanesOf } from "@seneschal/core/storage";
 * const waiting = [{ key: "a", ordinal: 2 }, { key: "b", ordinal: 1 }, { key: "a", ordinal: 1 }];
 * console.log(lanesOf(waiting).map((lane) => lane.map(({ ordinal }) => ordinal))); // [ [ 1 ], [ 1, 2 ] ]
 * ```
 */
export function lanesOf<T extends { readonly key: string; readonly ordinal: number }>(
  waiting: readonly T[],
): readonly (readonly T[])[] {
  checkArgument("waiting", waiting, "array");
  const lanes = new Map<string, T[]>();
  for (const one of [...waiting].sort((a, b) => a.ordinal - b.ordinal)) lanes.set(one.key, [...(lanes.get(one.key) ?? []), one]);
  return [...lanes.values()];
}

/**
 * Where a copy goes among the versions of its key, by their order: it keeps the one that it had, so that whatever is sent twice, late, or
 * beside other writers ends in the same versions. Of two of one moment the one that comes first as a text is the later, as in a listing.
 *
 * @example
 * ```ts
 * import { placeOfReplica } from "@seneschal/core/storage";
 * console.log(placeOfReplica({ version: "02", ordinal: 2 }, { version: "01", ordinal: 1 })); // past
 * ```
 */
export function placeOfReplica(current: VersionPlace | undefined, replica: VersionPlace): "current" | "past" {
  checkArgument("replica", replica, "object");
  if (current === undefined || current.ordinal < replica.ordinal) return "current";
  return current.ordinal === replica.ordinal && replica.version < current.version ? "current" : "past";
}

/** What a version is called, and what orders it among those of its key. */
export interface VersionPlace {
  readonly version: string;
  readonly ordinal: number;
}

/**
 * The name of a bucket elsewhere, in the form of an ARN.
 *
 * @example
 * ```ts
 * import { destinationArn } from "@seneschal/core/storage";
 * console.log(destinationArn({ name: "west", bucket: "docs" })); // arn:seneschal:replication::west:docs
 * ```
 */
export function destinationArn(destination: ReplicationDestination): string {
  checkArgument("destination", destination, "object");
  return `arn:seneschal:replication::${destination.name}:${destination.bucket}`;
}

/**
 * The bucket that a destination names; `undefined` for what is none.
 *
 * @example
 * ```ts
 * import { destinationOfArn } from "@seneschal/core/storage";
 * console.log(destinationOfArn("arn:seneschal:replication::west:photos")); // { name: 'west', bucket: 'photos' }
 * ```
 */
export function destinationOfArn(arn: string): ReplicationDestination | undefined {
  checkArgument("arn", arn, "string");
  const [, name, bucket] =
    /^arn:(?:seneschal|minio):replication:[a-z0-9-]*:([a-z0-9][a-z0-9-]{0,62}):([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])$/.exec(arn) ??
    [];
  return name === undefined || bucket === undefined ? undefined : { name, bucket };
}
