import { type Bucket, type BucketUsage, checkBucketQuota, ordinalOf, storageError } from "@seneschal/core/storage";
import type { Check, Commit, Del, DocumentStore, Put, RangeCheck, Stored } from "@seneschal/kernel/ports";
import { commit } from "../context.ts";
import { createKeyedLock } from "../data/keyed-lock.ts";
import type { ObjectDoc, UsageDoc } from "../documents.ts";
import { indexedKey } from "../schema.ts";
import type { ObjectServices } from "./services.ts";
import { figureOf, plus } from "./version-figures.ts";
import { findVersion } from "./versions.ts";

/** Work that moves what a bucket holds comes one after another in this process: racing for one record would be a try each. */
export const inTurn = createKeyedLock();

/** What a bucket holds before any of it is counted. */
export const nothingCounted: UsageDoc = { bytes: 0, objects: 0, counting: { coll: "storage_objects" } };

/** Where versions lie, in the order in which they are counted, with an index of all of a bucket. */
const places = { storage_objects: "all", storage_versions: "by_key" } as const;
type Place = keyof typeof places;
const isPlace = (coll: string): coll is Place => Object.hasOwn(places, coll);

type Counting = NonNullable<UsageDoc["counting"]>;
type Position = NonNullable<Counting["last"]>;

/** Where the index of its collection has a version. */
function positionOf(coll: Place, id: string, doc: ObjectDoc): Position {
  return [indexedKey(doc.key), coll === "storage_versions" ? -ordinalOf(doc) : 0, id];
}

/** Whether what lies there is in the figures. */
function isCounted(counting: UsageDoc["counting"], coll: Place, id: string, doc: ObjectDoc): boolean {
  if (counting === undefined) return true;
  if (counting.coll !== coll) return counting.coll === "storage_versions";
  if (counting.last === undefined) return false;
  const [lead, order, name] = positionOf(coll, id, doc);
  const [lastLead, lastOrder, lastName] = counting.last;
  return (Buffer.compare(Buffer.from(lead), Buffer.from(lastLead)) || order - lastOrder || (name <= lastName ? 0 : 1)) <= 0;
}

/**
 * The draft of a commit, and what a bucket with a quota holds after it. Throws `QuotaExceeded`. While the bucket is being counted, what was
 * counted is a lower bound that refuses already. Where there is no record of what it holds, its count begins with the commit.
 */
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
  const [usage, ...found] = await Promise.all([
    store.get("storage_usage", name),
    ...there.map(({ coll, id }) => store.get(coll, id)),
  ]);
  // What is there is not what the draft was made of: the store will say so.
  if (there.some(({ ifVersion }, i) => found[i]?.version !== ifVersion)) return draft;
  const before = new Map(there.map((write, i) => [write, found[i]?.doc as ObjectDoc | undefined]));
  const { bytes, objects, counting } = (usage?.doc as UsageDoc | undefined) ?? nothingCounted;
  let change: BucketUsage = { bytes: 0, objects: 0 };
  let counted: BucketUsage = { bytes, objects };
  for (const write of writes) {
    const [coll, id] = [write.coll as Place, write.id];
    for (const [doc, sign] of [
      [before.get(write), -1],
      ["doc" in write ? (write.doc as ObjectDoc) : undefined, 1],
    ] as const) {
      if (doc === undefined) continue;
      change = plus(change, figureOf(doc), sign);
      if (isCounted(counting, coll, id, doc)) counted = plus(counted, figureOf(doc), sign);
    }
  }
  checkBucketQuota(quota, { bytes, objects }, change);
  const moved = counted.bytes !== bytes || counted.objects !== objects;
  // What is not counted yet stays so only while the count stands where it stood.
  const check: Check = { coll: "storage_usage", id: name, version: usage?.version ?? 0 };
  if (!moved && usage !== undefined) return { ...draft, checks: [...(draft.checks ?? []), check] };
  const doc: UsageDoc = { ...((usage?.doc as UsageDoc | undefined) ?? nothingCounted), ...counted };
  return { ...draft, puts: [...(draft.puts ?? []), { coll: "storage_usage", id: name, doc, ifVersion: check.version }] };
}

/** How far one step of a count came: `moved` when writers were there between the look and the commit. */
export type CountStep = "counted" | "more" | "moved";

/**
 * Counts a page of versions, in one commit that holds only if the page is still what it was. Writers go on meanwhile, and count what lies
 * before the place that was reached. `counted`: to the end, or the bucket has no quota any more.
 */
export async function countPage(store: DocumentStore, bucket: string, limit: number): Promise<CountStep> {
  const usage = await store.get("storage_usage", bucket);
  const { counting, ...figures } = (usage?.doc as UsageDoc | undefined) ?? nothingCounted;
  if (usage === undefined || counting === undefined) return "counted";
  const { coll, cursor } = counting;
  const options = { limit, ...(cursor === undefined ? {} : { cursor }) };
  const page = await store.list(coll, places[coll], [bucket], options);
  const sum = page.items.reduce<BucketUsage>((all, { doc }) => plus(all, figureOf(doc as ObjectDoc)), figures);
  const next = nextCounting(counting, page.items.at(-1), page.cursor);
  const doc: UsageDoc = { ...sum, ...(next && { counting: next }) };
  const found = page.items.map(({ id, version }) => ({ id, version }));
  const range: RangeCheck = { coll, index: places[coll], prefix: [bucket], options, found };
  const puts = [{ coll: "storage_usage", id: bucket, doc, ifVersion: usage.version }];
  if (!(await commit(store, { puts, ranges: [range] })).ok) return "moved";
  return next === undefined ? "counted" : "more";
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

function nextCounting({ coll }: Counting, last: Stored | undefined, cursor: string | undefined): Counting | undefined {
  if (cursor !== undefined && last !== undefined) return { coll, cursor, last: positionOf(coll, last.id, last.doc as ObjectDoc) };
  return coll === "storage_objects" ? { coll: "storage_versions" } : undefined;
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
  const usage = await services.context.store.get("storage_usage", name);
  const used = (usage?.doc as UsageDoc | undefined) ?? nothingCounted;
  const none = { bytes: 0, objects: 0 };
  const added = { bytes: bytes ?? 0, objects: 1 };
  checkBucketQuota(quota, used, plus(added, replaced === undefined ? none : figureOf(replaced.doc), -1));
}
