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
 * A store of data whose tables or files can be looked at, read only and within bounds. The calls end at an aborted signal.
 *
 * `probe` rejects with `source_unavailable` where the source does not answer, or not to whom asks; `list` where it cannot be listed whole. `sample` rejects with `asset_unreadable` for one asset that
 * cannot be read, and with `source_unavailable` where nobody answered: `probe` tells whether others can be read. No message holds a value of the data.
 */
export interface DataSource {
  /** OpenLineage's namespace of its assets, such as `postgres://db:5432` or `s3://bucket`. */
  readonly namespace: string;
  probe(signal: AbortSignal): Promise<void>;
  list(signal: AbortSignal): Promise<SourceListing>;
  sample(asset: SourceAsset, signal: AbortSignal): Promise<readonly SampledColumn[]>;
  close(): Promise<void>;
}
