export { type ArchivedSegment, archiveDue, archiveRounds } from "./archive-due.ts";
export { archiveSegment, type SegmentToKeep, type SignedLog } from "./archive-segment.ts";
export { type ArchiveSetting, auditSetting } from "./archive-setting.ts";
export {
  type ArchivedPart,
  archivedHeader,
  archivedIn,
  archivedLog,
  archivedPart,
  auditArchives,
} from "./archived.ts";
export { type AuditFinding, AuditTampered } from "./finding.ts";
export { commitGuarded } from "./guarded-writes.ts";
export { mendTiles } from "./mend-tiles.ts";
export { openArchive, tryArchive } from "./open-archive.ts";
export { eventsOf, verifyArchiveFiles } from "./read-archive.ts";
export { readable } from "./readable.ts";
export { recordsInOrder } from "./records.ts";
export { auditTiles, auditTrees, cutTiles, extendTiles, keptTiles, readTree, tiledSize, UNTILED } from "./tiles.ts";
