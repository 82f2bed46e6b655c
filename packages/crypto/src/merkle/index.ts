export {
  type Checkpoint,
  checkpointText,
  cosignNote,
  type NoteKey,
  noteVerifierKey,
  parseCheckpoint,
  parseVerifierKey,
  type SignBytes,
  signNote,
  type VerifiedNote,
  verifyNote,
  witnessVerifierKey,
} from "./checkpoint.ts";
export { claimRanges, type LogClaim, type LogProof, proveClaim } from "./claims.ts";
export { CompactRange, foldPeaks } from "./compact-range.ts";
export { MerkleTree } from "./merkle-tree.ts";
export { type ExpectedCheckpoint, type KeptCheckpoint, openCheckpoint, openTree } from "./open-tree.ts";
export { consistencyRanges, inclusionRanges, type LeafRange, type NodeId, rangeNodes } from "./proof-ranges.ts";
export {
  openTiles,
  TILE_WIDTH,
  type Tile,
  TileCollector,
  TiledTree,
  type TileId,
  tileLeaf,
  tilesBetween,
  tileWidth,
} from "./tiles.ts";
export { emptyRoot, leafHash, nodeHash, type Sha256 } from "./tree-hash.ts";
export { verifyConsistency, verifyInclusion, verifySubtreeConsistency, verifySubtreeInclusion } from "./verify-proof.ts";
export { type Growth, judgeGrowth, judgeOffer } from "./witness.ts";
