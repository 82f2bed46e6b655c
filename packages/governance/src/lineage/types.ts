/** A tier with tags; the tags are in the order of first appearance. */
export interface TierTags {
  readonly tier: string;
  readonly tags: readonly string[];
}

/** How one column of a source takes part in a target. `to` is absent when it shapes the whole data set (filter, join ...). */
export interface ColumnLink {
  readonly from: string;
  readonly to?: string;
  readonly type: "DIRECT" | "INDIRECT";
  readonly subtype: string;
  readonly masking: boolean;
}

/** What one job says about an edge. */
export interface Link {
  readonly job: string;
  readonly operation: string;
  /** Milliseconds. */
  readonly timestamp: number;
  /** The whole edge carries only masked data. */
  readonly masking: boolean;
  readonly columns?: readonly ColumnLink[];
}

/** A data set as the graph knows it. */
export interface ResourceInfo {
  readonly id: string;
  /** Declared by people or a `tags` facet. */
  readonly direct?: TierTags;
  readonly columns: Readonly<Record<string, { readonly type?: string; readonly direct?: TierTags }>>;
  readonly owners: readonly string[];
  readonly updatedAt: number;
  /** Known only as an end of an edge. */
  readonly implicit: boolean;
}

/** One resource met on a walk. */
export interface Visit {
  readonly id: string;
  readonly hop: number;
  readonly effective: TierTags;
  /** The link by which it was met first. */
  readonly operation: string;
  readonly timestamp: number;
}

/** An edge between two visited resources. */
export interface EdgeView {
  readonly source: string;
  readonly target: string;
  readonly operation: string;
  readonly jobs: readonly string[];
  readonly masking: boolean;
  readonly blocked: boolean;
  readonly columns: readonly ColumnLink[];
}
