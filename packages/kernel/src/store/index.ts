export { fromHex, successor, toHex, utf8, utf8Length } from "./byte-string.ts";
export { maxDocumentBytes, serialiseDocument } from "./check-json.ts";
export {
  decideAbort,
  decideMigration,
  type MigrationDecision,
  type MigrationFacts,
  type MigrationRefusal,
} from "./decide-migration.ts";
export { currentDocument } from "./document-version.ts";
export { encodeIndexKey, entryKey } from "./index-key.ts";
export { checkCompaction, checkFeed, type KeyRange, keyRange, type ListRequest, listRequest, wholeFeed } from "./list-range.ts";
export {
  auditKeyId,
  type CommitPlan,
  commitIdWindow,
  type IndexedVersion,
  type PlannedAudit,
  type PlannedDocument,
  type PlanReads,
  planCommits,
  readsOf,
  type StoreHead,
  type StoreView,
} from "./plan-commits.ts";
export {
  answerText,
  auditDocument,
  type PreparedCommit,
  type PreparedPut,
  type PreparedRange,
  prepareCommit,
} from "./prepare-commit.ts";
export {
  auditCollection,
  type CompiledCollection,
  type CompiledSchema,
  collectionOf,
  compileSchema,
  type IndexKeys,
  indexKeys,
  indexKeysOfText,
  indexRevisions,
  maxKeyBytes,
  type StoreSchema,
} from "./schema.ts";
export { settled } from "./settled.ts";
