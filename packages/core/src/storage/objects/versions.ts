import { checkArgument } from "@seneschal/kernel";
import type { Random } from "@seneschal/kernel/ports";
import { storageError } from "../errors.ts";
import { placeOfReplica } from "../replication.ts";
import { checkDeletable, defaultRetention } from "../retention.ts";
import { needLock, objectError } from "./object-errors.ts";
import type { Conditions, DeleteOptions, Deletion, VersionTarget } from "./object-store.ts";
import { type Bucket, type ObjectVersion, versionIdOf } from "./records.ts";

/**
 * Greater for later versions of one key.
 *
 * @example
 * ```ts
 * import { ordinalOf } from "@seneschal/core/storage";
 * console.log(ordinalOf({ modified_at: 5 }), ordinalOf({ ordinal: 9, modified_at: 5 })); // 5 9
 * ```
 */
export function ordinalOf(version: Pick<ObjectVersion, "ordinal" | "modified_at">): number {
  checkArgument("version", version, "object");
  return version.ordinal ?? version.modified_at;
}

/**
 * The ordinal that a version id begins with; `undefined` for `null`, and for what is no version id.
 *
 * @example
 * ```ts
 * import { ordinalOfId } from "@seneschal/core/storage";
 * console.log(ordinalOfId("null"), ordinalOfId(`${(5).toString(16).padStart(12, "0")}${"0".repeat(20)}`)); // undefined 5
 * ```
 */
export function ordinalOfId(version: string): number | undefined {
  checkArgument("version", version, "string");
  return /^[0-9a-f]{32}$/.test(version) ? Number.parseInt(version.slice(0, 12), 16) : undefined;
}

/** The id of a new version. It carries its ordinal, so that a listing goes on behind a version that is gone meanwhile. */
function newVersionId(ordinal: number, random: Random): string {
  const hex = [...random(10)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return ordinal.toString(16).padStart(12, "0") + hex;
}

/** What becomes of the versions of a key by a new one. */
export interface Succession<V extends ObjectVersion = ObjectVersion> {
  /** The new one, under its name. */
  readonly made: V;
  /** It is the current version; false: a copy from elsewhere that others came after. */
  readonly current: boolean;
  /** What is a version of the past from now on: the one that was current, or such a copy itself. */
  readonly past?: V;
  /** What is replaced, since the new one has its name, `null`. */
  readonly gone: readonly V[];
}

/**
 * Makes `made` the current version of its key after `before`, as the bucket's versioning has it: what was current becomes a version of
 * the past, or is replaced where it has the same name, `null`. `unnamed`: the version `null` of the past, which a bucket whose versioning
 * is `Suspended` has to be asked for. Throws `ObjectLocked` when what is replaced is kept.
 *
 * @example
 * ```ts
 * import { type ObjectVersion, succeedVersion, versionIdOf } from "@seneschal/core/storage";
 * const bucket = { name: "docs", tenant: "acme", created_at: 0, region: "", deleting: false, versioning: "Suspended" } as const;
 * const one = { bucket: "docs", key: "a", tenant: "acme", size: 1, etag: "e", content_type: "", headers: {}, meta: {}, modified_at: 1 };
 * const next = succeedVersion<ObjectVersion>(bucket, { made: { ...one, modified_at: 5 }, before: one }, 5, (n) => new Uint8Array(n));
 * console.log(versionIdOf(next.made), next.past, next.gone.length); // null undefined 1
 * ```
 */
export function succeedVersion<V extends ObjectVersion>(
  bucket: Pick<Bucket, "versioning">,
  versions: { readonly made: V; readonly before?: V | undefined; readonly unnamed?: V | undefined },
  now: number,
  random: Random,
): Succession<V> {
  checkArgument("bucket", bucket, "object");
  checkArgument("versions", versions, "object");
  checkArgument("now", now, "number");
  const { versioning } = bucket;
  const { made, before, unnamed } = versions;
  const fresh = afresh(made);
  const ordinal = before === undefined ? now : Math.max(now, ordinalOf(before) + 1);
  const named =
    versioning === undefined
      ? fresh
      : // Its time is that of its place, so that its copies elsewhere, which have both from its name, say the same.
        {
          ...fresh,
          modified_at: ordinal,
          ordinal,
          version_id: versioning === "Enabled" ? newVersionId(ordinal, random) : "null",
        };
  if (before === undefined) return { made: named, current: true, gone: [] };
  const kept = versionIdOf(before) !== versionIdOf(named);
  const replaced = kept ? (versionIdOf(named) === "null" ? unnamed : undefined) : before;
  if (replaced !== undefined) checkDeletable(replaced, now, false);
  return {
    made: named,
    current: true,
    ...(kept && { past: { ...before, superseded_at: now } }),
    gone: replaced === undefined ? [] : [replaced],
  };
}

/** Where other versions came from and went is nothing of a new one's. */
function afresh<V extends ObjectVersion>({ replica: _, replication: __, ...made }: V): V {
  return made as unknown as V;
}

/**
 * A version as a new one is made of it, under another key or with other bytes: its name, its place and what holds it are its own.
 *
 * @example
 * ```ts
 * import { madeOf } from "@seneschal/core/storage";
 * const described = { content_type: "text/plain", headers: {}, meta: {} };
 * const version = { bucket: "docs", key: "a", tenant: "acme", size: 3, etag: "e", modified_at: 0, ...described };
 * console.log("legal_hold" in madeOf({ ...version, legal_hold: true })); // false
 * ```
 */
export function madeOf<V extends ObjectVersion>(version: V): V {
  checkArgument("version", version, "object");
  const { version_id: _, ordinal: __, superseded_at: ___, retention: ____, legal_hold: _____, ...made } = version;
  return made as unknown as V;
}

/** How far the clock of where a copy comes from may be ahead of ours. */
const aheadMs = 86_400_000;

/**
 * The ordinal of a version that is copied to the bucket. Throws `InvalidRequest`, `InvalidArgument` for one that cannot be taken.
 *
 * @example
 * ```ts
 * import { replicaOrdinal } from "@seneschal/core/storage";
 * console.log(replicaOrdinal({ versioning: "Enabled" }, `${(5).toString(16).padStart(12, "0")}${"0".repeat(20)}`, 9)); // 5
 * ```
 */
export function replicaOrdinal(bucket: Pick<Bucket, "versioning">, replica: string, now: number): number {
  checkArgument("bucket", bucket, "object");
  checkArgument("now", now, "number");
  if (bucket.versioning !== "Enabled")
    throw objectError("InvalidRequest", "copies are taken by buckets whose versioning is Enabled");
  const ordinal = ordinalOfId(replica);
  // What is written after it has to come after it: nothing may take the end of time.
  if (ordinal === undefined || ordinal > now + aheadMs)
    throw objectError("InvalidArgument", "the version to copy is of a time that is still to come");
  return ordinal;
}

/**
 * A copy from elsewhere keeps its name, and takes the place among the versions of its key that it has there. `known`: there is a version
 * of that name. Throws `OperationAborted` then, and as {@link replicaOrdinal}.
 *
 * @example
 * ```ts
 * import { type ObjectVersion, succeedByReplica } from "@seneschal/core/storage";
 * const described = { content_type: "text/plain", headers: {}, meta: {} };
 * const version = { bucket: "docs", key: "a", tenant: "acme", size: 3, etag: "e", modified_at: 0, ordinal: 1, version_id: "01", ...described };
 * const replica = `${(5).toString(16).padStart(12, "0")}${"0".repeat(20)}`;
 * const succession = succeedByReplica<ObjectVersion>({ versioning: "Enabled" }, { made: version, known: false }, replica, 9);
 * console.log(succession.made.ordinal, succession.current); // 5 true
 * ```
 */
export function succeedByReplica<V extends ObjectVersion>(
  bucket: Pick<Bucket, "versioning">,
  versions: { readonly made: V; readonly before?: V | undefined; readonly known: boolean },
  replica: string,
  now: number,
): Succession<V> {
  checkArgument("versions", versions, "object");
  const { made, before, known } = versions;
  const ordinal = replicaOrdinal(bucket, replica, now);
  if (known) throw objectError("OperationAborted", "the version is there by now");
  const copy = { ...afresh(made), modified_at: ordinal, ordinal, version_id: replica, replica: true };
  if (before === undefined) return { made: copy, current: true, gone: [] };
  const place = { version: versionIdOf(before), ordinal: ordinalOf(before) };
  const current = placeOfReplica(place, { version: replica, ordinal }) === "current";
  return { made: copy, current, past: { ...(current ? before : copy), superseded_at: now }, gone: [] };
}

/**
 * A version of the past as the current one, since what was current ended.
 *
 * @example
 * ```ts
 * import { currentAgain } from "@seneschal/core/storage";
 * const described = { content_type: "text/plain", headers: {}, meta: {} };
 * const version = { bucket: "docs", key: "a", tenant: "acme", size: 3, etag: "e", modified_at: 0, ...described };
 * console.log("superseded_at" in currentAgain({ ...version, superseded_at: 5 })); // false
 * ```
 */
export function currentAgain<V extends ObjectVersion>(version: V): V {
  checkArgument("version", version, "object");
  const { superseded_at: _, ...current } = version;
  return current as unknown as V;
}

/**
 * Throws `InvalidRequest` for a version with a lock in a bucket that has none.
 *
 * @example
 * ```ts
 * import { checkLockable } from "@seneschal/core/storage";
 * const bucket = { name: "docs", tenant: "acme", created_at: 0, region: "eu", deleting: false };
 * checkLockable({ ...bucket, object_lock: {} }, { legal_hold: true });
 * try {
 *   checkLockable(bucket, { legal_hold: true });
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // InvalidRequest
 * }
 * ```
 */
export function checkLockable(bucket: Bucket, version: Pick<ObjectVersion, "retention" | "legal_hold">): void {
  checkArgument("version", version, "object");
  if (version.retention !== undefined || version.legal_hold === true)
    needLock(bucket, "Bucket is missing ObjectLockConfiguration");
}

/**
 * The version with what its bucket keeps new ones for. Throws as {@link checkLockable}.
 *
 * @example
 * ```ts
 * import { lockedByDefault, type ObjectVersion } from "@seneschal/core/storage";
 * const described = { content_type: "text/plain", headers: {}, meta: {} };
 * const version = { bucket: "docs", key: "a", tenant: "acme", size: 3, etag: "e", modified_at: 0, ...described };
 * const bucket = { name: "docs", tenant: "acme", created_at: 0, region: "eu", deleting: false };
 * const object_lock = { default: { mode: "GOVERNANCE", unit: "days", count: 1 } } as const;
 * console.log(lockedByDefault<ObjectVersion>({ ...bucket, object_lock }, version, 0).retention); // { mode: 'GOVERNANCE', until: 86400000 }
 * ```
 */
export function lockedByDefault<V extends ObjectVersion>(bucket: Bucket, version: V, now: number): V {
  checkArgument("now", now, "number");
  checkLockable(bucket, version);
  const kept = bucket.object_lock?.default;
  if (kept === undefined || version.retention !== undefined) return version;
  return { ...version, retention: { ...defaultRetention(kept, now) } };
}

/**
 * RFC 9110, 13.2.2 for writes. `existing`: the current version. Throws `PreconditionFailed`, or `NotFound` for If-Match on nothing.
 *
 * @example
 * ```ts
 * import { checkWrite } from "@seneschal/core/storage";
 * const described = { content_type: "text/plain", headers: {}, meta: {} };
 * const version = { bucket: "docs", key: "a", tenant: "acme", size: 3, etag: "e", modified_at: 0, ...described };
 * checkWrite(version, { ifMatch: ["e"] });
 * try {
 *   checkWrite(version, { ifMatch: ["f"] });
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // PreconditionFailed
 * }
 * ```
 */
export function checkWrite(existing: ObjectVersion | undefined, conditions: Conditions): void {
  checkArgument("conditions", conditions, "object");
  const { ifMatch, ifNoneMatch } = conditions;
  // What is deleted is not there.
  const etag = existing?.delete_marker === true ? undefined : existing?.etag;
  const matches = (list: readonly string[]) => etag !== undefined && (list.includes("*") || list.includes(etag));
  if (ifMatch !== undefined && etag === undefined) throw storageError("NotFound", "the object does not exist");
  if (ifMatch !== undefined && !matches(ifMatch))
    throw objectError("PreconditionFailed", "the object is not the one named by If-Match", { condition: "If-Match" });
  if (ifNoneMatch !== undefined && matches(ifNoneMatch))
    throw objectError("PreconditionFailed", "the object exists", { condition: "If-None-Match" });
}

/**
 * Throws unless what was found is an object: `NotFound`, `NoSuchVersion` for a version that is named, `MethodNotAllowed` for one that is a
 * delete marker; the details hold the headers that S3 tells with each.
 *
 * @example
 * ```ts
 * import { checkObject } from "@seneschal/core/storage";
 * try {
 *   checkObject(undefined, { bucket: "docs" });
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // NotFound
 * }
 * ```
 */
export function checkObject(
  found: ObjectVersion | undefined,
  target: Pick<VersionTarget, "bucket" | "version">,
): asserts found is ObjectVersion {
  checkArgument("target", target, "object");
  const { bucket, version } = target;
  if (found === undefined) {
    if (version === undefined) throw storageError("NotFound", "the object does not exist", { bucket });
    throw objectError("NoSuchVersion", "the object has no such version", { elements: { VersionId: version } });
  }
  if (found.delete_marker !== true) return;
  const lastModified = new Date(found.modified_at).toUTCString();
  const details = {
    headers: {
      "x-amz-delete-marker": "true",
      "x-amz-version-id": versionIdOf(found),
      ...(version !== undefined && { allow: "DELETE", "last-modified": lastModified }),
    },
  };
  if (version === undefined) throw storageError("NotFound", "the object is deleted", details);
  throw objectError("MethodNotAllowed", "the version is a delete marker", details);
}

/** What a deletion asks for. */
export interface DeletionAsked extends DeleteOptions {
  /** Only when the version that is there is still the one with this ordinal. */
  readonly ordinal?: number;
}

/** What a deletion comes to. */
export type DeletionStep<V extends ObjectVersion = ObjectVersion> =
  | { readonly kind: "nothing"; readonly answer: Deletion }
  /** A delete marker becomes the current version. */
  | { readonly kind: "hide"; readonly deleted: boolean }
  /** The version ends for good; `early`: before its retention does, which goes on record. */
  | { readonly kind: "remove"; readonly version: V; readonly early: boolean; readonly answer: Deletion };

/**
 * Throws for what no deletion can ask for: `NoSuchVersion`, `InvalidArgument`.
 *
 * @example
 * ```ts
 * import { checkDeletion } from "@seneschal/core/storage";
 * checkDeletion({ bypass: false });
 * try {
 *   checkDeletion({ bypass: false, version: "no id" });
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // NoSuchVersion
 * }
 * ```
 */
export function checkDeletion(asked: DeletionAsked): void {
  checkArgument("asked", asked, "object");
  const { version, replica } = asked;
  if (version !== undefined && version !== "null" && ordinalOfId(version) === undefined)
    throw objectError("NoSuchVersion", "that is no version id", { elements: { VersionId: version } });
  if (version !== undefined && replica !== undefined)
    throw objectError("InvalidArgument", "a version is removed, or a delete marker is copied");
}

/**
 * What a deletion does; of what is not there, nothing. A bucket with versions keeps them all, and gets a delete marker. `found`: the version
 * that is named, or the current one; `known`: what there is under the name of the marker to copy. Throws `PreconditionFailed` when there is
 * another object than the conditions say, `ObjectLocked` for a version that is kept.
 *
 * @example
 * ```ts
 * import { judgeDeletion } from "@seneschal/core/storage";
 * const described = { content_type: "text/plain", headers: {}, meta: {} };
 * const version = { bucket: "docs", key: "a", tenant: "acme", size: 3, etag: "e", modified_at: 0, ...described };
 * console.log(judgeDeletion({ versioning: "Enabled" }, { found: version }, { bypass: false }, 1).kind); // hide
 * ```
 */
export function judgeDeletion<V extends ObjectVersion>(
  bucket: Pick<Bucket, "versioning">,
  versions: { readonly found?: V | undefined; readonly known?: V | undefined },
  asked: DeletionAsked,
  now: number,
): DeletionStep<V> {
  checkArgument("bucket", bucket, "object");
  checkArgument("versions", versions, "object");
  checkArgument("now", now, "number");
  checkDeletion(asked);
  const { versioning } = bucket;
  const { found, known } = versions;
  const { conditions = {}, version, bypass = false, replica, ordinal } = asked;
  const nothing = (answer: Deletion = { deleted: false }) => ({ kind: "nothing" as const, answer });
  if (known !== undefined) {
    if (known.delete_marker !== true) throw objectError("PreconditionFailed", "the version under that name is no delete marker");
    return nothing({ deleted: false, version: replica ?? versionIdOf(known), marker: true });
  }
  if (ordinal !== undefined && (found === undefined || ordinalOf(found) !== ordinal)) return nothing();
  if (found !== undefined && !isMeant(found, conditions))
    throw objectError("PreconditionFailed", "the object is not the one that is to be deleted", { condition: "If-Match" });
  const hides = version === undefined && versioning !== undefined;
  if (hides && (found !== undefined || Object.keys(conditions).length === 0))
    return { kind: "hide", deleted: found !== undefined && found.delete_marker !== true };
  if (found === undefined) return nothing();
  checkDeletable(found, now, bypass);
  const named = version !== undefined || found.version_id !== undefined;
  return {
    kind: "remove",
    version: found,
    early: found.retention !== undefined && found.retention.until > now,
    answer: { deleted: true, ...(named && { version: versionIdOf(found) }), ...(found.delete_marker && { marker: true }) },
  };
}

function isMeant({ etag, size, modified_at }: ObjectVersion, asked: NonNullable<DeleteOptions["conditions"]>): boolean {
  const seconds = (at: number) => Math.floor(at / 1000);
  if (asked.ifMatch !== undefined && !asked.ifMatch.includes("*") && !asked.ifMatch.includes(etag)) return false;
  if (asked.size !== undefined && asked.size !== size) return false;
  return asked.modifiedAt === undefined || seconds(asked.modifiedAt) === seconds(modified_at);
}
