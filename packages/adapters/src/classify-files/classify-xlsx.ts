import {
  DEFAULT_RECOGNISERS,
  DEFAULT_TIER_POLICY,
  lowestTier,
  markerForms,
  maxTier,
  policyOf,
  type Recogniser,
  redactWorkbook,
  type TierPolicy,
  tagsOf,
} from "@seneschal/governance";
import { checkArgument, checkOptions } from "@seneschal/kernel";
import { unpackXlsx, type XlsxLimits } from "./xlsx-parts.ts";

/** What a workbook holds. Never a value of it. */
export interface XlsxReport {
  readonly tier: string;
  readonly tags: readonly string[];
  /** How often values of each entity were found. */
  readonly entities: Readonly<Record<string, number>>;
}

export interface ClassifyXlsxOptions {
  /** File name: context for its columns. */
  readonly about?: string;
  readonly policy?: TierPolicy;
  readonly recognisers?: readonly Recogniser[];
}

/**
 * Classifies an Excel workbook (`.xlsx`) by what redaction finds in it: in every text of every part, a cell with what the heads of its column say. What cannot be read (macros, pictures, embedded objects ...) is refused by its name. Needs the package fflate.
 *
 * Throws `file_invalid` naming the part, `back_end_missing`, and what `redactWorkbook` throws.
 */
export async function classifyXlsx(
  file: Uint8Array,
  options: ClassifyXlsxOptions = {},
  limits: XlsxLimits = {},
): Promise<XlsxReport> {
  checkOptions("options", options, { about: "string?", policy: "object?", recognisers: "array?" });
  checkArgument("file", file, "bytes");
  checkOptions("limits", limits, { unpacked: "number?", texts: "number?" });
  const { about = "", policy = DEFAULT_TIER_POLICY, recognisers = DEFAULT_RECOGNISERS } = options;
  const { counts } = redactWorkbook(
    await unpackXlsx(file, limits),
    { policy, recognisers, about, rules: [{ operator: "replace" }], keys: markerForms },
    limits.texts,
  );
  let tier = lowestTier(policy);
  for (const entity of counts.keys()) tier = maxTier(policy, tier, policyOf(policy, entity).tier);
  return { tier, tags: tagsOf(policy, new Set(counts.keys())), entities: Object.fromEntries([...counts].sort()) };
}
