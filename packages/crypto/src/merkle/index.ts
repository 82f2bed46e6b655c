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
export { CompactRange, foldPeaks } from "./compact-range.ts";
export { MerkleTree } from "./merkle-tree.ts";
export { consistencyRanges, inclusionRanges, type LeafRange, type NodeId, rangeNodes } from "./proof-ranges.ts";
export { emptyRoot, leafHash, nodeHash, type Sha256 } from "./tree-hash.ts";
export { verifyConsistency, verifyInclusion, verifySubtreeConsistency, verifySubtreeInclusion } from "./verify-proof.ts";
export { type Growth, judgeGrowth } from "./witness.ts";
