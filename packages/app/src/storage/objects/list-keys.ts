import {
  type KeyPage,
  type KeyQuery,
  type ListedUpload,
  type ListedVersion,
  ordinalOf,
  ordinalOfId,
  versionIdOf,
} from "@seneschal/core/storage";
import type { Stored } from "@seneschal/kernel/ports";
import type { ObjectDoc } from "../documents.ts";
import { indexedKey, indexedKeyBytes } from "../schema.ts";
import type { ObjectServices } from "./services.ts";
import { findVersion } from "./versions.ts";

/** A document that a listing shows. */
interface Listed {
  readonly key: string;
}

/** Lists the current version of each key. */
export async function listKeys(services: ObjectServices, query: KeyQuery): Promise<KeyPage<ObjectDoc>> {
  const behind = ({ key }: ObjectDoc) => query.after === "" || compareKeys(key, query.after) > 0;
  return page(query, behind, (from) => scan<ObjectDoc>(services, "storage_objects", "by_key", query.bucket, from));
}

/** Lists the uploads that are under way, those of one key by their ids. `afterUpload`: of the key `after` only those behind this one. */
export async function listUploads(
  services: ObjectServices,
  query: KeyQuery & { readonly afterUpload?: string | undefined },
): Promise<KeyPage<ListedUpload>> {
  const { bucket, after, afterUpload } = query;
  const behind = ({ key, id }: ListedUpload) => {
    const order = after === "" ? 1 : compareKeys(key, after);
    return order > 0 || (order === 0 && afterUpload !== undefined && id > afterUpload);
  };
  return page(query, behind, (from) => scan<ListedUpload>(services, "storage_uploads", "by_key", bucket, from));
}

/** A version as a listing shows it, and where its bytes are. */
type VersionDoc = ObjectDoc & ListedVersion;

/**
 * Lists every version of every key, the latest of a key first, delete markers too. `afterVersion`: of the key `after` only versions
 * before this one, which may be gone meanwhile.
 */
export async function listVersions(
  services: ObjectServices,
  query: KeyQuery & { readonly afterVersion?: string | undefined },
): Promise<KeyPage<VersionDoc>> {
  const { bucket, after, afterVersion } = query;
  const marker = afterVersion === undefined ? undefined : await ordinalAt(services, bucket, after, afterVersion);
  const behind = (doc: VersionDoc) => {
    const order = after === "" ? 1 : compareKeys(doc.key, after);
    if (order !== 0 || marker === undefined || afterVersion === undefined) return order > 0;
    // Of one moment are versions that were written in two clusters, and copied.
    return ordinalOf(doc) < marker || (ordinalOf(doc) === marker && versionIdOf(doc) > afterVersion);
  };
  return page(query, behind, (from) => versionsFrom(services, bucket, from));
}

/** Where a version of a key stands; of one whose place is not known any more, before all of the key: again is better than never. */
async function ordinalAt(services: ObjectServices, bucket: string, key: string, version: string): Promise<number> {
  const named = ordinalOfId(version);
  if (named !== undefined) return named;
  const found = await findVersion(services, { bucket, key, version });
  return found === undefined ? Number.POSITIVE_INFINITY : ordinalOf(found.doc);
}

/** Current versions and those of the past in the order of a listing. */
async function* versionsFrom(services: ObjectServices, bucket: string, from: string): AsyncGenerator<VersionDoc> {
  const past = scan<ObjectDoc>(services, "storage_versions", "by_key", bucket, from);
  let earlier = await past.next();
  const before = (key: string) => earlier.done !== true && compareKeys(earlier.value.key, key) < 0;
  for await (const current of scan<ObjectDoc>(services, "storage_objects", "all", bucket, from)) {
    for (; before(current.key) && earlier.done !== true; earlier = await past.next()) yield { ...earlier.value, latest: false };
    yield { ...current, latest: true };
  }
  for (; earlier.done !== true; earlier = await past.next()) yield { ...earlier.value, latest: false };
}

/** One page of a source in listing order: what is not `behind` the last page is skipped, and what a delimiter rolls up is one prefix. */
async function page<T extends Listed>(
  { prefix, delimiter, after, limit }: KeyQuery,
  behind: (item: T) => boolean,
  source: (from: string) => AsyncIterable<T>,
): Promise<KeyPage<T>> {
  const items: T[] = [];
  const prefixes: string[] = [];
  let last: string | undefined;
  if (limit === 0) return { items, prefixes };
  // A key may end in the delimiter too: rolled up is what has it behind the prefix for the first time at its end.
  const first = delimiter === "" || !after.startsWith(prefix) ? -1 : after.indexOf(delimiter, prefix.length);
  const rolledAfter = first >= 0 && first === after.length - delimiter.length ? after : undefined;
  const from = compareKeys(after, prefix) > 0 ? after : prefix;
  for await (const item of source(rolledAfter === undefined ? from : successor(rolledAfter))) {
    const { key } = item;
    if (!key.startsWith(prefix)) {
      if (compareKeys(key, prefix) > 0) break;
      continue;
    }
    if (!behind(item)) continue;
    if (rolledAfter !== undefined && key.startsWith(rolledAfter)) continue;
    const at = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    const rolled = at < 0 ? undefined : key.slice(0, at + delimiter.length);
    if (rolled !== undefined && rolled === prefixes.at(-1)) continue;
    if (items.length + prefixes.length >= limit) return { items, prefixes, next: last ?? "" };
    if (rolled === undefined) items.push(item);
    else prefixes.push(rolled);
    last = rolled ?? key;
  }
  return { items, prefixes };
}

/** Documents of one bucket in byte order of their keys from `from` on. The index sorts by leading bytes; ties behind them are sorted here. */
async function* scan<T extends Listed>(
  services: ObjectServices,
  coll: string,
  index: string,
  bucket: string,
  from: string,
): AsyncGenerator<T> {
  let cursor: string | undefined;
  let tied: T[] = [];
  let tie = "";
  const flush = () => {
    // Of one key they are in order already, and stay so.
    const sorted = tied.sort((a, b) => compareKeys(a.key, b.key));
    tied = [];
    return sorted;
  };
  do {
    const page: { readonly items: readonly Stored[]; readonly cursor?: string } = await services.context.store.list(
      coll,
      index,
      [bucket],
      {
        limit: 1000,
        ...(from === "" ? {} : { from: [indexedKey(from)] }),
        ...(cursor === undefined ? {} : { cursor }),
      },
    );
    for (const { id, doc } of page.items) {
      const item = { id, ...doc } as unknown as T;
      const lead = indexedKey(item.key);
      if (lead !== tie) yield* flush();
      tie = lead;
      // Only a key that fills the index can have company behind the same leading bytes.
      if (Buffer.byteLength(lead) > indexedKeyBytes - 4) tied.push(item);
      else yield item;
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  yield* flush();
}

/** Order of UTF-8 bytes. */
function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** A text behind everything that starts with `prefix` and does not continue with U+10FFFF. */
function successor(prefix: string): string {
  return `${prefix}\u{10FFFF}`;
}
