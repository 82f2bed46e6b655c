export { type Normalised, normalise } from "./classification/normalise.ts";
export { candidates, REPORTED_FROM, type RecogniseOptions, recognise, resolveOverlaps } from "./classification/recognise.ts";
export type { Finding, Pattern, Recogniser, Verdict } from "./classification/recogniser.ts";
export { DEFAULT_RECOGNISERS } from "./classification/recognisers/index.ts";
export {
  DEFAULT_TIER_POLICY,
  DEFAULT_TIERS,
  type EntityPolicy,
  loweredTier,
  lowestTier,
  maxTier,
  policyOf,
  type TierPolicy,
  tagsOf,
  tierRank,
} from "./classification/tiers.ts";
export { isBitcoinAddress } from "./classification/validators/bitcoin.ts";
export { cardNetworks, isCardNumber } from "./classification/validators/card.ts";
export { analyseSql } from "./sql/analyse.ts";
export { type ParsedSql, parseSql } from "./sql/parse-sql.ts";
export { splitStatements } from "./sql/split-statements.ts";
export { SQL_DIALECTS, type SqlParser } from "./sql/sql-parser.ts";
export type { ColumnInput, ResultColumn, SchemaOf, SqlAnalysis, SqlLiteral, SqlOutput } from "./sql/types.ts";
