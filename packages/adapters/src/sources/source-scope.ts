import { CodedError, wildcardEnds } from "@seneschal/kernel";

/** What of a source is looked at, and how much of it. */
export interface SourceScope {
  /** Patterns of `*` (any text) and `?` (any character), one of which a name has to fit; none: every name. */
  readonly include: readonly string[];
  /** And none of these. */
  readonly exclude: readonly string[];
  /** Tables or files, the first by name. */
  readonly maxAssets: number;
  /** Values of a column. */
  readonly rows: number;
  /** Milliseconds of one call to the source. */
  readonly timeout: number;
}

/** Whether a name is among what is looked at. */
export function inScope({ include, exclude }: Pick<SourceScope, "include" | "exclude">, name: string): boolean {
  const fits = (pattern: string): boolean => wildcardEnds(pattern, name).has(pattern.length);
  return (include.length === 0 || include.some(fits)) && !exclude.some(fits);
}

/** The source cannot be read at all. What it said itself is not repeated: it may hold values. */
export function unavailable(reason: string): CodedError {
  return new CodedError("source_unavailable", `the source cannot be read: ${reason}`, { reason });
}

/** One table or file of it cannot be read. */
export function unreadableAsset(reason: string): CodedError {
  return new CodedError("asset_unreadable", reason, { reason });
}
