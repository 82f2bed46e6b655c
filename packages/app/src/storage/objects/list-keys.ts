import {
  compareKeys,
  isListedBehind,
  type KeyListing,
  type KeyPage,
  type KeyQuery,
  type ListedUpload,
  type ListedVersion,
  listKeysOf,
  ordinalOf,
  ordinalOfId,
} from "@seneschal/core/storage";
import type { Stored } from "@seneschal/kernel/ports";
import { indexedKey, indexedKeyBytes, type ObjectDoc } from "../schema.ts";
import type { ObjectServices } from "./services.ts";
import { findVersion } from "./versions.ts";

/** Lists the current version of each key. */
export function listKeys(services: ObjectServices, query: KeyQuery): Promise<KeyPage<ObjectDoc>> {
  return listed(listKeysOf<ObjectDoc>(query), (from) => scan(services, "storage_objects", "by_key", query.bucket, from));
}

/** Lists the uploads that are under way, those of one key by their ids. `afterUpload`: of the key `after` only those behind this one. */
export function listUploads(
  services: ObjectServices,
  query: KeyQuery & { readonly afterUpload?: string | undefined },
): Promise<KeyPage<ListedUpload>> {
  const { bucket, afterUpload } = query;
  const within = ({ id }: ListedUpload) => afterUpload !== undefined && id > afterUpload;
  return listed(listKeysOf(query, within), (from) => uploadsFrom(services, bucket, from));
}

/** Uploads that are under way, in the order of a listing. */
export function uploadsFrom(services: ObjectServices, bucket: string, from = ""): AsyncGenerator<ListedUpload> {
  return scan(services, "storage_uploads", "by_key", bucket, from);
}

/** A version as a listing shows it, and where its bytes are. */
export type VersionDoc = ObjectDoc & ListedVersion;

/**
 * Lists every version of every key, the latest of a key first, delete markers too. `afterVersion`: of the key `after` only versions
 * before this one, which may be gone meanwhile.
 */
export async function listVersions(
  services: ObjectServices,
  query: KeyQuery & { readonly afterVersion?: string | undefined },
): Promise<KeyPage<VersionDoc>> {
  const { bucket, after, afterVersion: version } = query;
  const place = version === undefined ? undefined : { version, ordinal: await ordinalAt(services, bucket, after, version) };
  const within = (doc: VersionDoc) => place !== undefined && isListedBehind(doc, place);
  return listed(listKeysOf(query, within), (from) => versionsFrom(services, bucket, from));
}

/** Where a version of a key stands; of one whose place is not known any more, before all of the key: again is better than never. */
async function ordinalAt(services: ObjectServices, bucket: string, key: string, version: string): Promise<number> {
  const named = ordinalOfId(version);
  if (named !== undefined) return named;
  const found = await findVersion(services, { bucket, key, version });
  return found === undefined ? Number.POSITIVE_INFINITY : ordinalOf(found.doc);
}

/** Current versions and those of the past in the order of a listing. */
export async function* versionsFrom(services: ObjectServices, bucket: string, from = ""): AsyncGenerator<VersionDoc> {
  const past = scan<ObjectDoc>(services, "storage_versions", "by_key", bucket, from);
  let earlier = await past.next();
  const before = (key: string) => earlier.done !== true && compareKeys(earlier.value.key, key) < 0;
  for await (const current of scan<ObjectDoc>(services, "storage_objects", "all", bucket, from)) {
    for (; before(current.key) && earlier.done !== true; earlier = await past.next()) yield { ...earlier.value, latest: false };
    yield { ...current, latest: true };
  }
  for (; earlier.done !== true; earlier = await past.next()) yield { ...earlier.value, latest: false };
}

/** A page of what a source has. */
async function listed<T>(listing: KeyListing<T>, source: (from: string) => AsyncIterable<T>): Promise<KeyPage<T>> {
  for await (const item of source(listing.from)) if (!listing.take(item)) break;
  return listing.page();
}

/** Documents of one bucket in byte order of their keys from `from` on. The index sorts by leading bytes; ties behind them are sorted here. */
async function* scan<T extends { readonly key: string }>(
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
