export {
  type ArchivedLog,
  archivedCheckpoint,
  openArchived,
  type SegmentName,
  type StoredArchive,
} from "./archived.ts";
export { type AuditGap, claimGaps, coversGap, gapLeaf, gapLine, parseGapLine, type SignedGap } from "./gaps.ts";
export { LogGrowth, type MissingFacts } from "./growth.ts";
export { type GrownTiles, KeptTiles, logLeaves, type ReadTiles, type TileComparison } from "./kept-tiles.ts";
export { type LogFinding, type LogForm, type LogIdentity, type LogRecord, numberIn, wholeLog } from "./record.ts";
export {
  archiveDamaged,
  eventLine,
  isSegmentId,
  manifestText,
  nextSegment,
  parseEventLine,
  parseManifest,
  type SegmentDue,
  type SegmentManifest,
  segmentDue,
  segmentFiles,
  segmentId,
} from "./segment.ts";
export { type LogTree, logCheckpoint, openLogTree, type StreamCheckpoint, signedGaps } from "./tree.ts";
export {
  type ArchiveExpectations,
  type ArchiveLink,
  type ArchiveVerdict,
  ArchiveWalk,
  archiveLink,
  type SegmentEvents,
  verifyArchive,
} from "./verify-archive.ts";
export { type ClaimsVerdict, type LogFacts, type RootClaim, verifyClaims } from "./verify-claims.ts";
export { verifyRecords } from "./verify-records.ts";
export { LogWalk, requireLogs } from "./walk.ts";
