import { Agent } from "node:https";
import { checkOptions, isCoded } from "@seneschal/kernel";
import { missingBackEnd } from "../back-end.ts";
import { formatOf, textsOf } from "../classify-files/read-records.ts";
import { sampleFile, sampleParquet } from "../classify-files/sample-file.ts";
import { s3ClientConfig } from "../s3.ts";
import type { DataSource, SourceAsset } from "./data-source.ts";
import { inScope, type SourceScope, unavailable, unreadableAsset } from "./source-scope.ts";

/** A bucket to scan. */
export interface S3SourceOptions extends SourceScope {
  /** `http(s)://host[:port]`; buckets are addressed by path. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  /** Of a user who may list and read. */
  readonly accessKey: string;
  readonly secretKey: string;
  /** PEM of the CAs that the endpoint's certificate is checked against; without it the host's. */
  readonly ca?: string;
  /** Bytes that are read of one object. */
  readonly bytes: number;
}

/** Objects that are looked at to find those in scope: of a larger bucket the rest is not listed. */
const LISTED = 1_000_000;

/** The CSV, TSV, JSON Lines and Parquet objects below a prefix of a bucket, by what their names end in. Of a larger object the beginning is read, of Parquet pages all over it. The SDK is loaded here. */
export async function openS3Source(options: S3SourceOptions): Promise<DataSource> {
  checkOptions("options", options, {
    endpoint: "string",
    region: "string",
    bucket: "string",
    prefix: "string",
    accessKey: "string",
    secretKey: "string",
    ca: "string?",
    bytes: "number",
    include: "array",
    exclude: "array",
    maxAssets: "number",
    rows: "number",
    timeout: "number",
  });
  const sdk = await import("@aws-sdk/client-s3").catch(missingBackEnd);
  const { bucket: Bucket, prefix: Prefix, maxAssets, rows, bytes, timeout, ca } = options;
  const client = new sdk.S3Client({
    ...s3ClientConfig(options),
    maxAttempts: 3,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    requestHandler: {
      connectionTimeout: 5000,
      socketTimeout: timeout,
      ...(ca === undefined ? {} : { httpsAgent: new Agent({ ca, keepAlive: true }) }),
    },
  });
  const within = (signal: AbortSignal) => ({ abortSignal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]) });
  /** Bytes of the object as it was listed: another one in its place is refused. What goes wrong here is of the source, what goes wrong with the bytes of the object. */
  async function* read(asset: SourceAsset, from: number, to: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const IfMatch = etagOf(asset);
    try {
      const { Body } = await client.send(
        new sdk.GetObjectCommand({ Bucket, Key: asset.name, Range: `bytes=${from}-${to - 1}`, IfMatch }),
        within(signal),
      );
      yield* Body as AsyncIterable<Uint8Array>;
    } catch (error) {
      signal.throwIfAborted();
      throw isAnswer(error) ? unreadableAsset(reasonOf(error)) : unavailable(reasonOf(error));
    }
  }
  return {
    namespace: `s3://${Bucket}`,
    async probe(signal) {
      try {
        await client.send(new sdk.ListObjectsV2Command({ Bucket, Prefix, MaxKeys: 1 }), within(signal));
      } catch (error) {
        signal.throwIfAborted();
        throw unavailable(reasonOf(error));
      }
    },
    async list(signal) {
      const assets: SourceAsset[] = [];
      let [skipped, seen] = [0, 0];
      try {
        for (let ContinuationToken: string | undefined; ; ) {
          const asked = { Bucket, Prefix, ...(ContinuationToken === undefined ? {} : { ContinuationToken }) };
          const page = await client.send(new sdk.ListObjectsV2Command(asked), within(signal));
          for (const { Key = "", ETag = "", Size = 0 } of page.Contents ?? []) {
            if (Key.endsWith("/") || !inScope(options, Key)) continue;
            if (!isParquet(Key) && formatOf(Key) === undefined) skipped++;
            else if (assets.length === maxAssets) return { assets, skipped, truncated: true };
            else assets.push({ name: Key, kind: "file", revision: `${Size} ${ETag}` });
          }
          seen += page.Contents?.length ?? 0;
          ContinuationToken = page.IsTruncated === true ? page.NextContinuationToken : undefined;
          if (ContinuationToken === undefined) break;
          if (seen >= LISTED) return { assets, skipped, truncated: true };
        }
        return { assets, skipped, truncated: false };
      } catch (error) {
        signal.throwIfAborted();
        throw unavailable(reasonOf(error));
      }
    },
    async sample(asset, signal) {
      const size = sizeOf(asset);
      try {
        if (!isParquet(asset.name)) {
          const to = Math.min(size, bytes);
          const format = formatOf(asset.name) ?? "csv";
          const partial = to < size;
          const bytesOf = to > 0 ? read(asset, 0, to, signal) : nothing();
          return await sampleFile(textsOf(bytesOf, partial), { format, samples: rows, partial });
        }
        const file = {
          byteLength: size,
          async read(start: number, end: number) {
            const pieces: Uint8Array[] = [];
            for await (const piece of read(asset, start, end, signal)) pieces.push(piece);
            return Buffer.concat(pieces);
          },
        };
        return await sampleParquet(file, { samples: rows, most: bytes });
      } catch (error) {
        signal.throwIfAborted();
        if (isCoded(error, "source_unavailable", "asset_unreadable", "back_end_missing")) throw error;
        // Whatever its bytes do to who reads them.
        throw unreadableAsset("it is not what its name says, or damaged");
      }
    },
    async close() {
      client.destroy();
    },
  };
}

function isParquet(key: string): boolean {
  return /\.(?:parquet|pq)$/i.test(key);
}

function sizeOf({ revision = "" }: SourceAsset): number {
  return Number(revision.split(" ", 1)[0]);
}

function etagOf({ revision = "" }: SourceAsset): string {
  return revision.slice(revision.indexOf(" ") + 1);
}

/** The server answered, about this object. */
function isAnswer(error: unknown): boolean {
  const status = (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata?.httpStatusCode ?? 0;
  return status >= 300 && status < 500 && status !== 401;
}

/** By its code alone: what a server says may quote a value. */
function reasonOf(error: unknown): string {
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  const told = [code, name].find((one) => typeof one === "string" && /^[A-Za-z0-9_]{1,64}$/.test(one) && one !== "Error");
  return typeof told === "string" ? told : "no answer";
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
