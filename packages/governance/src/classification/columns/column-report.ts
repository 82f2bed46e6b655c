import { checkArgument } from "@seneschal/kernel";
import type { Recogniser } from "../search/recogniser.ts";
import { highestTier, lowestTier, maxTier, type TierPolicy, tagsOf } from "../tiers.ts";
import { columnName } from "./column-name.ts";
import type { ColumnSample } from "./columns.ts";
import { columnEvidenceOf } from "./structured-evidence.ts";

/** What a column of a table or file holds. Never a value of it. */
export interface ColumnReport {
  /** As `columnName` tells it. */
  readonly column: string;
  readonly tier: string;
  readonly tags: readonly string[];
  /** What the column is as a whole, if that is clear. */
  readonly entity?: string;
  readonly term?: string;
  readonly score?: number;
  /** Share of the values that fit, 0..1. */
  readonly fitting?: number;
  readonly reasons: readonly string[];
}

/** Where columns are classified: in this thread or beside it. */
export interface ColumnClassifier {
  /** Rejects as `TaskClassifier.answer` does; what takes too long is of the highest tier. */
  classifyColumn(
    column: Pick<ColumnSample, "name" | "path" | "about" | "values" | "unread">,
    owner: string,
  ): Promise<Pick<ColumnReport, "column" | "tier" | "tags">>;
}

/** Classifies a column by its name and values: as a whole, and by what single values hold, one that stands in the name among them. One with values that nobody reads is of the highest tier. */
export function classifyColumnValues(column: ColumnSample, policy: TierPolicy, recognisers: readonly Recogniser[]): ColumnReport {
  checkArgument("column", column, "object");
  checkArgument("policy", policy, "object");
  checkArgument("recognisers", recognisers, "array");
  const { evidence, verdict } = columnEvidenceOf(column, policy, recognisers);
  let tier = column.unread ? highestTier(policy) : lowestTier(policy);
  for (const e of evidence) tier = maxTier(policy, tier, e.tier);
  return {
    column: columnName(column.path ?? column.name, recognisers),
    tier,
    tags: tagsOf(
      policy,
      evidence.map((e) => e.entity),
    ),
    ...(verdict === undefined
      ? {}
      : {
          entity: verdict.entity,
          term: verdict.term,
          score: verdict.score,
          ...(verdict.fitting === undefined ? {} : { fitting: verdict.fitting }),
        }),
    reasons: [...evidence.map((e) => e.reason), ...(column.unread ? ["it holds bytes that are no text"] : [])],
  };
}
