import type { SampledColumn } from "@seneschal/governance";

/** A table, view or file of a {@link DataSource}. */
export interface SourceAsset {
  /** Within the namespace of the source. */
  readonly name: string;
  readonly kind: "table" | "view" | "file";
  /** What reads as before while this is as it was; absent where nobody can tell. */
  readonly revision?: string;
}

/** What is there to be scanned. */
export interface SourceListing {
  /** By name. */
  readonly assets: readonly SourceAsset[];
  /** Those that are there and that nobody can read, such as files of other formats: they are not registered. */
  readonly skipped: number;
  /** There are more than were asked for. */
  readonly truncated: boolean;
}

/**
 * A store of data whose tables or files can be looked at, read only and within bounds. Both calls end at an aborted signal.
 *
 * `list` rejects with `source_unavailable` where the source cannot be listed whole; `sample` with `asset_unreadable` for one asset that cannot be read, and with `source_unavailable` where
 * no other can be either. No message holds a value of the data.
 */
export interface DataSource {
  /** OpenLineage's namespace of its assets, such as `postgres://db:5432` or `s3://bucket`. */
  readonly namespace: string;
  list(signal: AbortSignal): Promise<SourceListing>;
  sample(asset: SourceAsset, signal: AbortSignal): Promise<readonly SampledColumn[]>;
  close(): Promise<void>;
}
