export {
  type ClassificationResult,
  type ClassifiedFinding,
  type Classifier,
  type ClassifierOptions,
  createClassifier,
  MAX_QUERY_LENGTH,
} from "./classification/classifier.ts";
export {
  type ClassificationAnswer,
  type ClassificationTask,
  classifierInThread,
  classifyTask,
  classifyWith,
  type TableFacts,
  type TaskClassifier,
} from "./classification/classify-task.ts";
export { mergedResource } from "./classification/code/merged-resource.ts";
export type { Catalogue, KnownResource } from "./classification/code/sql-evidence.ts";
export { columnName } from "./classification/columns/column-name.ts";
export { type ColumnClassifier, type ColumnReport, classifyColumnValues } from "./classification/columns/column-report.ts";
export { COLUMN_THRESHOLD, type ColumnSample, type ColumnVerdict, classifyColumn } from "./classification/columns/columns.ts";
export { CsvSplitter } from "./classification/columns/csv.ts";
export {
  type CsvDialect,
  type CsvHeader,
  csvDialect,
  csvHeader,
  headerName,
  isHeaderName,
  laterName,
  tellsDialect,
} from "./classification/columns/csv-table.ts";
export { SpreadValues } from "./classification/columns/spread-values.ts";
export type { Evidence } from "./classification/evidence.ts";
export { LEXICON, type LexiconTerm, Surroundings, termOf } from "./classification/lexicon.ts";
export { wordsOf } from "./classification/names/words-of.ts";
export { DEFAULT_RECOGNISERS } from "./classification/recognisers/index.ts";
export { isIpv6 } from "./classification/recognisers/ip.ts";
export { type DataRequest, requestOf } from "./classification/request.ts";
export type { Recognised } from "./classification/search/asked-recognisers.ts";
export { boundedPattern } from "./classification/search/bounded-pattern.ts";
export { type ConfiguredRecogniser, configuredRecogniser } from "./classification/search/configured-recogniser.ts";
export { heard, type Unheard, withHeard } from "./classification/search/heard.ts";
export { type Narrowing, narrowed } from "./classification/search/narrowed.ts";
export { type Normalised, normalise } from "./classification/search/normalise.ts";
export { candidates, REPORTED_FROM, type RecogniseOptions, recognise } from "./classification/search/recognise.ts";
export type { Finding, Matcher, Pattern, Recogniser, Verdict } from "./classification/search/recogniser.ts";
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
  unclassifiedTier,
} from "./classification/tiers.ts";
export { unreadable } from "./classification/unreadable.ts";
export { isBitcoinAddress } from "./classification/validators/bitcoin.ts";
export { cardNetworks, isCardNumber } from "./classification/validators/card.ts";
export { type EnforcedSql, enforceSql, MAX_ENFORCED_SQL, type QueryReads, queryReads } from "./enforce/enforce-sql.ts";
export {
  type Enforcement,
  type EnforcementTask,
  enforceTask,
  type QueryTask,
  type SqlEnforcer,
} from "./enforce/enforcement-task.ts";
export { type QueriedTable, queriedCatalogue } from "./enforce/queried-catalogue.ts";
export { COLUMN_TYPES, type ConditionColumn } from "./enforce/row-call.ts";
export { conditionSql, type RowCondition, type SqlCondition } from "./enforce/row-condition.ts";
export { ENFORCED_DIALECTS, type EnforcedDialect } from "./enforce/sql-text.ts";
export { tableQuery, tableView } from "./enforce/table-query.ts";
export {
  type ColumnMask,
  type EnforcedTable,
  FILTERED_ROW,
  filterRules,
  type RowFilter,
  type TableRules,
  tableRules,
} from "./enforce/table-rules.ts";
export { type GovernanceErrorCode, governanceError } from "./errors.ts";
export { approvalThatHelps, findAlternatives } from "./evaluate/alternatives.ts";
export {
  type ApprovalDecision,
  type ApprovalRecord,
  type ApprovalStatus,
  approvalStatus,
  approvalStatuses,
  decideApproval,
  givenApproval,
  requestApproval,
  revokeApproval,
} from "./evaluate/approval-step.ts";
export { classifyRequest, MIN_GROUP } from "./evaluate/classify-request.ts";
export { DECISION_PATH, evaluateOperation } from "./evaluate/evaluate-operation.ts";
export { isSameHolder, type KeyHolder } from "./evaluate/key-holder.ts";
export type {
  Alternative,
  Approval,
  EvaluatedResource,
  EvaluationCatalogue,
  Obligation,
  OperationRequest,
  Transformation,
  Verdict as OperationVerdict,
} from "./evaluate/types.ts";
export { type JsonCell, jsonCells } from "./json-cells.ts";
export { type JsonToken, jsonTokens } from "./json-tokens.ts";
export {
  type ColumnChange,
  type ColumnEffect,
  type ColumnImpact,
  columnImpact,
  type ImpactedColumn,
  surerEffect,
} from "./lineage/column-impact.ts";
export { type DatasetChange, datasetEvent } from "./lineage/dataset-event.ts";
export type { LineageWarning } from "./lineage/facets.ts";
export { DEFAULT_PROPAGATION, LineageGraph, type PropagationPolicy, type Teller } from "./lineage/graph.ts";
export {
  LineageHistory,
  type LineageRunRecord,
  type RunStatus,
  type SchemaChanges,
  type SchemaVersion,
  schemaChanges,
} from "./lineage/history.ts";
export { LineageIngest } from "./lineage/ingest.ts";
export {
  applyLineageDiff,
  type Differences,
  type LineageDiff,
  type LineageSnapshot,
  lineageDiff,
  lineageSnapshot,
  type SnapshotColumn,
  type SnapshotResource,
} from "./lineage/lineage-diff.ts";
export {
  lineageRun,
  type RunDataset,
  type RunEvent,
  type RunInputField,
  type RunOptions,
  type RunState,
} from "./lineage/lineage-run.ts";
export { type EventDataset, type LineageEvent, readLineageEvent } from "./lineage/read-event.ts";
export { resourceId } from "./lineage/resource-id.ts";
export { type CatalogueSearch, searchCatalogue } from "./lineage/search-catalogue.ts";
export { MAX_LINEAGE_SQL, readLineageSql, type SqlQuestion, type SqlReader, type SqlReading } from "./lineage/sql-reading.ts";
export type { ColumnLink, EdgeView, Link, ResourceInfo, TierTags, Visit } from "./lineage/types.ts";
export {
  decideModel,
  type Flag,
  MODEL_DECISION_PATH,
  type ModelQuestion,
  type ModelVerdict,
  type Sensitivity,
} from "./models/decide.ts";
export { type Found, hidden } from "./models/hide.ts";
export { INJECTIONS, type Injection, injectionsIn } from "./models/injection.ts";
export { countsAcross, readTogether, type Said, type Stretch } from "./models/joined-talk.ts";
export { memberAt } from "./models/member-at.ts";
export { Placeholders } from "./models/placeholders.ts";
export { type CompletionText, type ModelAnswer, readCompletion, readEmbeddings, readModels } from "./models/read-completion.ts";
export {
  MODEL_ENDPOINTS,
  type ModelEndpoint,
  type ModelRequest,
  type PromptText,
  readModelRequest,
} from "./models/read-request.ts";
export { REDACTION_FORMATS, type RedactionFormat, redactAs } from "./redaction/formats.ts";
export { plainNumber } from "./redaction/known-values.ts";
export { markerForms } from "./redaction/markers.ts";
export {
  checkRedactionOptions,
  type Redacted,
  type Redaction,
  type RedactionOptions,
  type Restored,
  redact,
  restore,
} from "./redaction/redact.ts";
export { type RedactedColumn, redactColumns, type TableColumn } from "./redaction/redact-columns.ts";
export { redactCsv } from "./redaction/redact-csv.ts";
export { redactEventStream, redactEvents } from "./redaction/redact-events.ts";
export { redactJson, redactJsonLines } from "./redaction/redact-json.ts";
export { type RedactedWorkbook, redactWorkbook, restoreWorkbook, type WorkbookParts } from "./redaction/redact-workbook.ts";
export { type RedactionKeys, redactionKeys } from "./redaction/redaction-keys.ts";
export { type RedactionTask, type Redactor, redactTask } from "./redaction/redaction-task.ts";
export {
  isKnownEntity,
  parseRedactionRule,
  REDACTION_OPERATORS,
  type RedactionOperator,
  type RedactionRule,
  redactionRuleFor,
  unknownInRule,
} from "./redaction/rules.ts";
export {
  type SampledColumn,
  type ScannedAsset,
  type ScannedColumn,
  sameSchema,
  scannedAsset,
  scannedTier,
} from "./scan/scanned-asset.ts";
export { analyseSql } from "./sql/analysis/analyse-sql.ts";
export { type ParsedSql, parseSql } from "./sql/parse-sql.ts";
export { splitStatements } from "./sql/split-statements.ts";
export { SQL_DIALECTS, type SqlParser } from "./sql/sql-parser.ts";
export type { ColumnInput, ResultColumn, SchemaOf, SqlAnalysis, SqlLiteral, SqlOutput } from "./sql/types.ts";
