import {
  addUsage,
  type Bucket,
  type BucketQuota,
  type CountedUsage,
  checkBucketQuota,
  countOn,
  nothingCounted,
  ordinalOf,
  type PlacedVersion,
  storageError,
  type UsageChange,
  usageAfter,
  usageOf,
} from "@seneschal/core/storage";
import type { JsonObject } from "@seneschal/kernel";
import type { Commit, Del, DocumentStore, Put, RangeCheck } from "@seneschal/kernel/ports";
import { type Actor, commit } from "../context.ts";
import { createKeyedLock } from "../data/keyed-lock.ts";
import { indexedKey, type ObjectDoc } from "../schema.ts";
import { openBucket } from "./buckets.ts";
import { type ObjectServices, refuseInMaintenance } from "./services.ts";
import { findVersion } from "./versions.ts";

/** Work that moves what a bucket holds comes one after another in this process: racing for one record would be a try each. */
export const inTurn = createKeyedLock();

/** Where versions lie, each with an index of all of a bucket. */
const places = { storage_objects: "all", storage_versions: "by_key" } as const;
type Place = keyof typeof places;
const isPlace = (coll: string): coll is Place => Object.hasOwn(places, coll);

/** A version where the index of its collection has it. */
function placed(coll: Place, id: string, version: ObjectDoc): PlacedVersion {
  return { coll, at: [indexedKey(version.key), coll === "storage_versions" ? -ordinalOf(version) : 0, id], version };
}

/** What is recorded of a bucket; where nothing is, its count begins. */
async function recorded(store: DocumentStore, bucket: string): Promise<{ readonly doc: CountedUsage; readonly version: number }> {
  const { doc = nothingCounted, version = 0 } = (await store.get("storage_usage", bucket)) ?? {};
  return { doc: doc as CountedUsage, version };
}

/** The draft of a commit, and what a bucket with a quota holds after it. Throws `QuotaExceeded`. */
export async function countChange(
  store: DocumentStore,
  { name, quota = {} }: Bucket,
  draft: Omit<Commit, "commitId">,
): Promise<Omit<Commit, "commitId">> {
  const writes: readonly (Put | Del)[] = [...(draft.puts ?? []), ...(draft.dels ?? [])].filter(({ coll }) => isPlace(coll));
  if (writes.length === 0) return draft;
  const there = writes.filter(({ ifVersion }) => ifVersion !== 0);
  if (there.some(({ ifVersion }) => ifVersion === undefined))
    throw storageError("InvariantViolation", "an object of a bucket that is counted is changed whatever it is");
  const [usage, ...found] = await Promise.all([recorded(store, name), ...there.map(({ coll, id }) => store.get(coll, id))]);
  // What is there is not what the draft was made of: the store will say so.
  if (there.some(({ ifVersion }, i) => found[i]?.version !== ifVersion)) return draft;
  const change = ({ coll, id }: Put | Del, doc: JsonObject | undefined, sign: 1 | -1): readonly UsageChange[] =>
    doc === undefined ? [] : [{ ...placed(coll as Place, id, doc as ObjectDoc), sign }];
  const doc = usageAfter(quota, usage.doc, [
    ...there.flatMap((write, i) => change(write, found[i]?.doc, -1)),
    ...writes.flatMap((write) => change(write, "doc" in write ? write.doc : undefined, 1)),
  ]);
  const moved = doc.bytes !== usage.doc.bytes || doc.objects !== usage.doc.objects;
  const record = { coll: "storage_usage", id: name };
  if (moved || usage.version === 0)
    return { ...draft, puts: [...(draft.puts ?? []), { ...record, doc, ifVersion: usage.version }] };
  // What is not counted yet stays so only while the count stands where it stood.
  return { ...draft, checks: [...(draft.checks ?? []), { ...record, version: usage.version }] };
}

/** How far one step of a count came: `moved` when writers were there between the look and the commit. */
export type CountStep = "counted" | "more" | "moved";

/**
 * Counts a page of versions, in one commit that holds only if the page is still what it was. Writers go on meanwhile, and count what lies
 * before the place that was reached. `counted`: to the end, or the bucket has no quota any more.
 */
export async function countPage(store: DocumentStore, bucket: string, limit: number): Promise<CountStep> {
  const usage = await recorded(store, bucket);
  if (usage.version === 0 || usage.doc.counting === undefined) return "counted";
  const { coll, cursor } = usage.doc.counting;
  const options = { limit, ...(cursor === undefined ? {} : { cursor }) };
  const { items, cursor: next } = await store.list(coll, places[coll], [bucket], options);
  const page = items.map(({ id, doc }) => placed(coll, id, doc as ObjectDoc));
  const doc = countOn(usage.doc, page, next);
  const found = items.map(({ id, version }) => ({ id, version }));
  const range: RangeCheck = { coll, index: places[coll], prefix: [bucket], options, found };
  const puts = [{ coll: "storage_usage", id: bucket, doc, ifVersion: usage.version }];
  if (!(await commit(store, { puts, ranges: [range] })).ok) return "moved";
  return doc.counting === undefined ? "counted" : "more";
}

/** Counts a bucket to its end, or so many pages of it; true when it is counted. */
export async function countBucket(store: DocumentStore, bucket: string, pages = Number.POSITIVE_INFINITY): Promise<boolean> {
  let limit = 500;
  for (let page = 0; page < pages; page++) {
    const step = await inTurn(bucket, () => countPage(store, bucket, limit));
    if (step === "counted") return true;
    // The fewer there are, the fewer can change meanwhile.
    limit = step === "moved" ? Math.max(1, limit >> 1) : Math.min(500, limit << 1);
  }
  return false;
}

/** How many pages of 500 versions the cluster's background work counts in one of its rounds: all else of the round waits for them. */
const pagesPerRound = 40;

/** Buckets whose count was not brought to its end, each with its share of what one round counts. */
export async function countsToGoOn(
  store: DocumentStore,
): Promise<readonly { readonly bucket: string; readonly pages: number }[]> {
  const { items } = await store.list("storage_usage", "counting", [], { limit: pagesPerRound });
  return items.map(({ id }) => ({ bucket: id, pages: Math.floor(pagesPerRound / items.length) }));
}

/**
 * Refuses what will not fit into a bucket with a quota before a byte of it is taken; the commit decides. `bytes`: `undefined` where it is not
 * known how many will come. Throws `QuotaExceeded`.
 */
export async function expectRoom(
  services: ObjectServices,
  { name, quota, versioning }: Bucket,
  key: string,
  bytes: number | undefined,
): Promise<void> {
  if (quota === undefined) return;
  const replaced = versioning === "Enabled" ? undefined : await findVersion(services, { bucket: name, key, version: "null" });
  const { doc: used } = await recorded(services.context.store, name);
  const added = { bytes: bytes ?? 0, objects: 1 };
  checkBucketQuota(quota, used, replaced === undefined ? added : addUsage(added, usageOf(replaced.doc), -1));
}

/** How many pages of 500 versions are counted before a quota is answered; the rest is counted by the cluster's background work. */
const pagesAtOnce = 100;

/** A bucket's limits and what it holds, as operators see them. */
export interface BucketQuotaView {
  readonly bucket: string;
  readonly tenant_id: string;
  readonly max_bytes: number | null;
  readonly max_objects: number | null;
  readonly used_bytes: number | null;
  readonly used_objects: number | null;
  readonly counting: boolean;
}

/** Throws `NotFound`. */
export async function readBucketQuota({ context: { store } }: ObjectServices, name: string): Promise<BucketQuotaView> {
  const { bucket } = await findBucket({ store }, name);
  const usage = bucket.quota && ((await store.get("storage_usage", name))?.doc as CountedUsage | undefined);
  return {
    bucket: name,
    tenant_id: bucket.tenant,
    max_bytes: bucket.quota?.max_bytes ?? null,
    max_objects: bucket.quota?.max_objects ?? null,
    used_bytes: usage?.bytes ?? null,
    used_objects: usage?.objects ?? null,
    counting: usage?.counting !== undefined,
  };
}

/**
 * Limits what a bucket may hold; `undefined`: nothing is limited or counted any more. Where there was no quota, or no record of what the
 * bucket holds, what is there already is counted first, as much of it as an answer may wait for. A limit below what is there refuses
 * whatever would add to it.
 *
 * @throws CodedError `NotFound`, `MaintenanceMode`, `ShardUnavailable`.
 */
export async function setBucketQuota(
  services: ObjectServices,
  name: string,
  quota: BucketQuota | undefined,
  actor: Actor,
): Promise<BucketQuotaView> {
  const { context } = services;
  const { store } = context;
  refuseInMaintenance(services);
  for (let attempt = 0; attempt < 50; attempt++) {
    const { bucket, version } = await findBucket(context, name);
    const { quota: before, ...unlimited } = bucket;
    if (quota === undefined && before === undefined) return readBucketQuota(services, name);
    const doc = (quota === undefined ? unlimited : { ...unlimited, quota: { ...quota } }) as Bucket;
    const usage = { coll: "storage_usage", id: name };
    const known = quota === undefined ? undefined : await store.get("storage_usage", name);
    const begins = quota !== undefined && (before === undefined || known === undefined);
    const event = { action: "bucket.quota", tenant: bucket.tenant, bucket: name, quota: { ...quota }, actor: actor.id };
    const result = await commit(store, {
      puts: [
        { coll: "storage_buckets", id: name, doc, ifVersion: version },
        ...(begins ? [{ ...usage, doc: nothingCounted, ifVersion: known?.version ?? 0 }] : []),
      ],
      dels: quota === undefined ? [usage] : [],
      audit: [{ stream: "storage", event }],
    });
    if (!result.ok) continue;
    // The quota is set. A count that cannot go on now is `counting`; the rounds go on with it, and are seen to fail where they cannot.
    if (begins) await countBucket(store, name, pagesAtOnce).catch(() => undefined);
    return readBucketQuota(services, name);
  }
  throw storageError("ShardUnavailable", "the bucket changes all the time, try again");
}

async function findBucket({ store }: Pick<ObjectServices["context"], "store">, name: string) {
  const found = await store.get("storage_buckets", name);
  const bucket = found?.doc as Bucket | undefined;
  if (found === undefined || bucket === undefined || bucket.deleting)
    throw storageError("NotFound", `no such bucket: ${name}`, { field: "bucket" });
  return { bucket, version: found.version };
}

/** What of a bucket's limit a file system tells: empty where there is none. */
export async function limitOf(
  services: ObjectServices,
  tenant: string,
  name: string,
): Promise<{ readonly max_bytes?: number; readonly bytes?: number }> {
  const { max_bytes } = (await openBucket(services, tenant, name)).bucket.quota ?? {};
  if (max_bytes === undefined) return {};
  const usage = await services.context.store.get("storage_usage", name);
  return { max_bytes, bytes: (usage?.doc as CountedUsage | undefined)?.bytes ?? 0 };
}
