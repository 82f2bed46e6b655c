import { storageError } from "@seneschal/core/storage";
import { commit, type StorageContext } from "../context.ts";
import type { FileDoc } from "../documents.ts";
import { objectId } from "../objects/object-id.ts";

/** A file's record with the version to guard changes by. */
export interface FileRecord {
  readonly id: string;
  readonly version: number;
  readonly doc: FileDoc;
}

/** The record of a file by the id that its handles have. */
export async function recordOfFile({ store }: StorageContext, fileId: bigint): Promise<FileRecord | undefined> {
  const { items } = await store.list("storage_files", "by_file", [fileIdText(fileId)], { limit: 1 });
  return items[0] as FileRecord | undefined;
}

/** The records of keys, in their order; those that were never seen before are made. */
export async function ensureRecords(
  context: StorageContext,
  bucket: string,
  keys: readonly string[],
): Promise<readonly FileRecord[]> {
  const { store } = context;
  const ids = keys.map((key) => objectId(bucket, key));
  for (let attempt = 0; attempt < 50; attempt++) {
    const found = await store.getMany("storage_files", ids);
    const missing = keys.filter((_, i) => found[i] === undefined);
    if (missing.length === 0) return found as unknown as readonly FileRecord[];
    // Whoever else sees them first wins, and is met at the next look.
    await commit(store, {
      puts: missing.map((key) => ({
        coll: "storage_files",
        id: objectId(bucket, key),
        ifVersion: 0,
        doc: newRecord(context, bucket, key),
      })),
    });
  }
  throw storageError("ShardUnavailable", "too many look at these files for the first time, try again");
}

/** The record of a key that is seen for the first time. */
export function newRecord(context: StorageContext, bucket: string, key: string): FileDoc {
  return { bucket, key, file: newFileId(context), changed_at: context.clock.now() };
}

function newFileId({ random }: StorageContext): string {
  const bytes = Buffer.from(random(8));
  // 62 bits: some clients keep ids in signed numbers.
  bytes[0] = (bytes[0] as number) & 0x3f;
  return bytes.toString("hex");
}

/** The number of a file. */
export function fileIdOf({ file }: FileDoc): bigint {
  return BigInt(`0x${file}`);
}

function fileIdText(fileId: bigint): string {
  return fileId.toString(16).padStart(16, "0");
}
