import { checkArgument, type JsonObject } from "@seneschal/kernel";
import { type ObjectVersion, type Versioning, versionIdOf } from "./objects/records.ts";
import { ordinalOf } from "./objects/versions.ts";
import {
  destinationKey,
  type Replication,
  type ReplicationDestination,
  type ReplicationRule,
  type ReplicationState,
  rulesCovering,
} from "./replication.ts";

/** A version that waits to be copied to one destination; it is made with the version, and goes when it was copied or cannot be. */
export interface WaitingCopy extends JsonObject {
  /** The server of the destination, as the operator calls it, and the bucket there. */
  readonly destination: string;
  readonly into: string;
  readonly bucket: string;
  readonly key: string;
  readonly version: string;
  /** Of the version: those of one key are copied in this order. */
  readonly ordinal: number;
  /** Bytes. */
  readonly size: number;
  /** Since when it waits, milliseconds. */
  readonly at: number;
  /** The version is there already, under its name. */
  readonly sent?: boolean;
  /** Its tags or its lock changed since it was made. */
  readonly described?: boolean;
  /** How often it was denied there, and until when it is not sent again, milliseconds. */
  readonly denials?: number;
  readonly due?: number;
}

/** What of a bucket says where its versions are copied. */
export interface CopyingBucket {
  readonly versioning?: Versioning;
  readonly replication?: Replication;
}

/** A version with what it says of its copies, and what is to be written down of those that it waits for. */
export interface AwaitedCopies<V extends ObjectVersion = ObjectVersion> {
  readonly version: V;
  readonly copies: readonly WaitingCopy[];
}

/** That a version waits to be copied to one destination; `there`: it is, and only what is said of it waits. */
function waiting(
  version: ObjectVersion,
  { name, bucket: into }: ReplicationDestination,
  now: number,
  there = false,
): WaitingCopy {
  const { bucket, key, size } = version;
  return {
    destination: name,
    into,
    bucket,
    key,
    version: versionIdOf(version),
    ordinal: ordinalOf(version),
    size,
    at: now,
    ...(there && { sent: true, described: true }),
  };
}

function pending<V extends ObjectVersion>(version: V, destinations: readonly ReplicationDestination[]): V {
  if (destinations.length === 0) return version;
  const states = Object.fromEntries(destinations.map((destination) => [destinationKey(destination), "PENDING" as const]));
  return { ...version, replication: { ...version.replication, ...states } };
}

const stateAt = ({ replication }: ObjectVersion, destination: ReplicationDestination): ReplicationState | undefined =>
  replication?.[destinationKey(destination)];

/**
 * A new version with what it waits for: both are there, or the version is not. Buckets without versions copy none, and what a lifecycle does
 * (`expiry`) is copied nowhere: each bucket has its own.
 *
 * @example
 * ```ts
 * import { awaitCopies, type ObjectVersion } from "@seneschal/core/storage";
 * const destination = { name: "west", bucket: "photos" };
 * const rule = { id: "a", enabled: true, form: "filter", filter: {}, priority: 1, destination, deleteMarkers: false } as const;
 * const made: ObjectVersion = { bucket: "docs", key: "a", tenant: "acme", size: 1, etag: "e", content_type: "", headers: {}, meta: {}, modified_at: 1 };
 * console.log(awaitCopies({ versioning: "Enabled", replication: { rules: [rule] } }, made, 2).version.replication); // { 'west/photos': 'PENDING' }
 * ```
 */
export function awaitCopies<V extends ObjectVersion>(
  bucket: CopyingBucket,
  version: V,
  now: number,
  expiry = false,
): AwaitedCopies<V> {
  checkArgument("bucket", bucket, "object");
  checkArgument("version", version, "object");
  checkArgument("now", now, "number");
  checkArgument("expiry", expiry, "boolean");
  if (bucket.replication === undefined || bucket.versioning !== "Enabled" || expiry) return { version, copies: [] };
  const destinations = rulesCovering(bucket.replication.rules, version).map(({ destination }) => destination);
  return { version: pending(version, destinations), copies: destinations.map((to) => waiting(version, to, now)) };
}

/**
 * A version whose tags or lock changed, and the copies that are to change too. A version that was refused stays so; one to where no rule copies
 * any more stays what it was.
 *
 * @example
 * ```ts
 * import { awaitDescriptions, type ObjectVersion } from "@seneschal/core/storage";
 * const destination = { name: "west", bucket: "copies" };
 * const rule = { id: "r1", enabled: true, form: "filter", filter: {}, destination, deleteMarkers: false, existing: true } as const;
 * const bucket = { versioning: "Enabled", replication: { role: "", rules: [rule] } } as const;
 * const described = { content_type: "text/plain", headers: {}, meta: {} };
 * const version = { bucket: "docs", key: "a", tenant: "acme", size: 3, etag: "e", modified_at: 0, ordinal: 1, version_id: "01", ...described };
 * const copied = { ...version, replication: { "west/copies": "COMPLETED" } } as const;
 * console.log(awaitDescriptions<ObjectVersion>(bucket, copied, 0).version.replication); // { 'west/copies': 'PENDING' }
 * ```
 */
export function awaitDescriptions<V extends ObjectVersion>(bucket: CopyingBucket, version: V, now: number): AwaitedCopies<V> {
  checkArgument("bucket", bucket, "object");
  checkArgument("version", version, "object");
  checkArgument("now", now, "number");
  const rules = version.delete_marker === true ? [] : (bucket.replication?.rules ?? []);
  const due = rules.filter(
    ({ enabled, destination }) => enabled && ![undefined, "FAILED"].includes(stateAt(version, destination)),
  );
  const destinations = [...new Map(due.map(({ destination }) => [destinationKey(destination), destination])).values()];
  return { version: pending(version, destinations), copies: destinations.map((to) => waiting(version, to, now, true)) };
}

/**
 * The rules of a bucket that are also about what was there before them.
 *
 * @example
 * ```ts
 * import { rulesOfExisting } from "@seneschal/core/storage";
 * const destination = { name: "west", bucket: "copies" };
 * const rule = { id: "r1", enabled: true, form: "filter", filter: {}, destination, deleteMarkers: false, existing: true } as const;
 * const bucket = { versioning: "Enabled", replication: { role: "", rules: [rule] } } as const;
 * console.log(rulesOfExisting(bucket).map(({ id }) => id)); // [ 'r1' ]
 * ```
 */
export function rulesOfExisting(bucket: CopyingBucket): readonly ReplicationRule[] {
  checkArgument("bucket", bucket, "object");
  return bucket.replication?.rules.filter(({ enabled, existing }) => enabled && existing === true) ?? [];
}

/**
 * A version that was there before rules that are about that too, where it never waited or was refused. Of one whose copy is there what is said of it waits.
 *
 * @example
 * ```ts
 * import { awaitExistingVersion, type ObjectVersion } from "@seneschal/core/storage";
 * const destination = { name: "west", bucket: "copies" };
 * const rule = { id: "r1", enabled: true, form: "filter", filter: {}, destination, deleteMarkers: false, existing: true } as const;
 * const bucket = { versioning: "Enabled", replication: { role: "", rules: [rule] } } as const;
 * const described = { content_type: "text/plain", headers: {}, meta: {} };
 * const version = { bucket: "docs", key: "a", tenant: "acme", size: 3, etag: "e", modified_at: 0, ordinal: 1, version_id: "01", ...described };
 * console.log(awaitExistingVersion<ObjectVersion>(bucket, version, 0).version.replication); // { 'west/copies': 'PENDING' }
 * ```
 */
export function awaitExistingVersion<V extends ObjectVersion>(bucket: CopyingBucket, version: V, now: number): AwaitedCopies<V> {
  checkArgument("bucket", bucket, "object");
  checkArgument("version", version, "object");
  checkArgument("now", now, "number");
  const destinations = rulesCovering(rulesOfExisting(bucket), version)
    .map(({ destination }) => destination)
    .filter((to) => [undefined, "FAILED", "UNDESCRIBED"].includes(stateAt(version, to)));
  const copies = destinations.map((to) => waiting(version, to, now, stateAt(version, to) === "UNDESCRIBED"));
  return { version: pending(version, destinations), copies };
}

/**
 * What a version waits for that says that it does, and of which nothing is written down any more, such as after a restore: whatever of it was copied already.
 *
 * @example
 * ```ts
 * import { awaitAgain } from "@seneschal/core/storage";
 * const destination = { name: "west", bucket: "copies" };
 * const rule = { id: "r1", enabled: true, form: "filter", filter: {}, destination, deleteMarkers: false, existing: true } as const;
 * const bucket = { versioning: "Enabled", replication: { role: "", rules: [rule] } } as const;
 * const described = { content_type: "text/plain", headers: {}, meta: {} };
 * const version = { bucket: "docs", key: "a", tenant: "acme", size: 3, etag: "e", modified_at: 0, ordinal: 1, version_id: "01", ...described };
 * console.log(awaitAgain(bucket, { ...version, replication: { "west/copies": "PENDING" } }, 0).length); // 1
 * ```
 */
export function awaitAgain(bucket: CopyingBucket, version: ObjectVersion, now: number): readonly WaitingCopy[] {
  checkArgument("bucket", bucket, "object");
  checkArgument("version", version, "object");
  checkArgument("now", now, "number");
  const rules = bucket.replication?.rules.filter(({ destination }) => stateAt(version, destination) === "PENDING") ?? [];
  return rules.map(({ destination }) => ({ ...waiting(version, destination, now), described: true }));
}

/**
 * A version that waits for a destination no more; `state` absent: it is not to be copied there any more. One that says nothing of copies is left so.
 *
 * @example
 * ```ts
 * import { type ObjectVersion, settleCopy } from "@seneschal/core/storage";
 * const destination = { name: "west", bucket: "copies" };
 * const described = { content_type: "text/plain", headers: {}, meta: {} };
 * const version = { bucket: "docs", key: "a", tenant: "acme", size: 3, etag: "e", modified_at: 0, ordinal: 1, version_id: "01", ...described };
 * const waiting: ObjectVersion = { ...version, replication: { "west/copies": "PENDING" } };
 * console.log(settleCopy(waiting, destination, "COMPLETED").replication); // { 'west/copies': 'COMPLETED' }
 * ```
 */
export function settleCopy<V extends ObjectVersion>(
  version: V,
  destination: ReplicationDestination,
  state: Exclude<ReplicationState, "PENDING"> | undefined,
): V {
  checkArgument("version", version, "object");
  if (version.replication === undefined) return version;
  const { [destinationKey(destination)]: _, ...others } = version.replication;
  return { ...version, replication: state === undefined ? others : { ...others, [destinationKey(destination)]: state } };
}
