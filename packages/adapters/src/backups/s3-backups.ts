import { checkOptions } from "@seneschal/kernel";
import { missingBackEnd } from "../back-end.ts";
import { s3ClientConfig } from "../s3.ts";
import { type BackupTarget, backupId, fileAbsent } from "./backup-target.ts";

/** Where backups go over the S3 protocol. */
export interface S3BackupOptions {
  /** `http(s)://host[:port]`; buckets are addressed by path. */
  readonly endpoint: string;
  readonly region: string;
  /** Must exist and hold nothing else. */
  readonly bucket: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Bytes of a part, 5 MiB to 5 GiB; default 64 MiB, which makes files of up to 640 GB. */
  readonly partBytes?: number;
}

/**
 * Backups in a bucket: `<id>/<file>`, each uploaded in parts that become one object at the end. The SDK is loaded only
 * where backups go this way.
 */
export async function openS3Backups(options: S3BackupOptions): Promise<BackupTarget> {
  checkOptions("options", options, {
    endpoint: "string",
    region: "string",
    bucket: "string",
    accessKey: "string",
    secretKey: "string",
    partBytes: "number?",
  });
  const sdk = await import("@aws-sdk/client-s3").catch(missingBackEnd);
  const { bucket: Bucket, partBytes = 64 << 20 } = options;
  // Without checksums of the client: every backup is read back and compared with its manifest.
  const client = new sdk.S3Client(s3ClientConfig(options));
  const keysUnder = async (prefix: string): Promise<readonly string[]> => {
    const keys: string[] = [];
    for await (const page of sdk.paginateListObjectsV2({ client }, { Bucket, Prefix: prefix }))
      for (const { Key } of page.Contents ?? []) if (Key !== undefined) keys.push(Key);
    return keys;
  };
  /** Parts that an interrupted upload left behind take room until the upload is given up. */
  const abandon = async (prefix: string): Promise<void> => {
    const { Uploads = [] } = await client.send(new sdk.ListMultipartUploadsCommand({ Bucket, Prefix: prefix }));
    for (const { Key, UploadId } of Uploads) await client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
  };
  return {
    async write(id, file, bytes) {
      const Key = `${id}/${file}`;
      await abandon(Key);
      const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand({ Bucket, Key }));
      try {
        const Parts: { ETag: string | undefined; PartNumber: number }[] = [];
        for await (const Body of partsOf(bytes, partBytes)) {
          const PartNumber = Parts.length + 1;
          const { ETag } = await client.send(new sdk.UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
          Parts.push({ ETag, PartNumber });
        }
        await client.send(new sdk.CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
      } catch (error) {
        await client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(() => undefined);
        throw error;
      }
    },
    async *read(id, file) {
      const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket, Key: `${id}/${file}` })).catch((error: unknown) => {
        throw error instanceof sdk.NoSuchKey ? fileAbsent(id, file, error) : error;
      });
      yield* Body as AsyncIterable<Uint8Array>;
    },
    async list() {
      const ids = new Set<string>();
      for await (const page of sdk.paginateListObjectsV2({ client }, { Bucket, Delimiter: "/" }))
        for (const { Prefix = "" } of page.CommonPrefixes ?? []) ids.add(Prefix.slice(0, -1));
      return [...ids].filter((id) => backupId.test(id)).sort();
    },
    async remove(id) {
      await abandon(`${id}/`);
      // The manifest first: a backup without one is not a backup.
      const keys = await keysUnder(`${id}/`);
      for (const Key of [`${id}/manifest.json`, ...keys]) await client.send(new sdk.DeleteObjectCommand({ Bucket, Key }));
    },
  };
}

/** The same bytes in pieces of `size`, the last one shorter. */
async function* partsOf(bytes: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let held = 0;
  for await (let piece of bytes) {
    while (held + piece.length >= size) {
      yield Buffer.concat([...pieces, piece.subarray(0, size - held)]);
      piece = piece.subarray(size - held);
      pieces = [];
      held = 0;
    }
    if (piece.length > 0) pieces.push(piece);
    held += piece.length;
  }
  if (held > 0) yield Buffer.concat(pieces);
}
