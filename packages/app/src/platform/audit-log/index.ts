export { type ArchivedSegment, archiveDue, archiveRounds } from "./archive-due.ts";
export { archiveSegment, type SegmentDue, type SegmentToKeep, type SignedLog } from "./archive-segment.ts";
export { type ArchiveSetting, auditSetting } from "./archive-setting.ts";
export {
  type ArchivedLog,
  type ArchivedPart,
  archivedHeader,
  archivedIn,
  archivedLog,
  auditArchives,
  openArchived,
} from "./archived.ts";
export { type AuditFinding, AuditTampered } from "./finding.ts";
export { gapLeaf } from "./gaps.ts";
export { commitGuarded } from "./guarded-writes.ts";
export type { LogForm } from "./log-form.ts";
export { mendTiles } from "./mend-tiles.ts";
export { openArchive, tryArchive } from "./open-archive.ts";
export { readable } from "./readable.ts";
export { numberIn, recordsInOrder, wholeLog } from "./records.ts";
export { eventsOf, segmentFiles } from "./segment.ts";
export {
  auditTiles,
  auditTrees,
  changedBehind,
  cutTiles,
  extendTiles,
  readTree,
  tileComparison,
  tiledLeaf,
  tiledLeaves,
  tiledSize,
  UNTILED,
  wrongArchivedTile,
} from "./tiles.ts";
export { type ArchiveExpectations, type ArchiveVerdict, verifyArchive } from "./verify-archive.ts";
