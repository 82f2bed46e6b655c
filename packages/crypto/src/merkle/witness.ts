import { checkArgument } from "@seneschal/kernel";
import { bytesEqual } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { nobleSha256, type Sha256 } from "./tree-hash.ts";
import { verifyConsistency } from "./verify-proof.ts";

/**
 * What a log's checkpoint is to somebody who kept an earlier one: seen for the `first` time, the `same`, `grown` from it as the proof shows,
 * `put_back` to a smaller size, `forked` into another log of the same size, or `unproven` to go on from it. A kept and an offered checkpoint
 * that are `forked` convict whoever signed both; a proof that does not hold convicts nobody.
 */
export type Growth = "first" | "same" | "grown" | "put_back" | "forked" | "unproven";

/**
 * Judges an offered checkpoint by the one that was kept, before a witness signs it (C2SP tlog-witness): only of a log that is `first` seen, the
 * `same` or `grown`. The signatures are the caller's to verify. Throws `log_invalid` for two logs' checkpoints.
 *
 * @param proof the hashes of the consistency proof (RFC 9162 section 2.1.4) from the kept size to the offered one
 *
 * @example
 * ```ts
 * import { judgeGrowth, MerkleTree } from "@seneschal/crypto/merkle";
 * const tree = new MerkleTree();
 * const offered = () => ({ origin: "audit.acme.example", size: tree.size, root: tree.root() });
 * for (const entry of [1, 2, 3]) tree.append(Uint8Array.of(entry));
 * const kept = offered();
 * tree.append(Uint8Array.of(4));
 * console.log(judgeGrowth(kept, offered(), tree.consistencyProof(3)), judgeGrowth(offered(), kept, [])); // grown put_back
 * ```
 */
export function judgeGrowth(
  kept: Checkpoint | undefined,
  offered: Checkpoint,
  proof: readonly Uint8Array[],
  hash: Sha256 = nobleSha256,
): Growth {
  checkArgument("offered", offered, "object");
  checkArgument("proof", proof, "array");
  if (kept === undefined) return "first";
  if (kept.origin !== offered.origin) throw cryptoError("log_invalid", "the checkpoints are of two logs");
  if (offered.size < kept.size) return "put_back";
  if (offered.size === kept.size) return bytesEqual(offered.root, kept.root) ? "same" : "forked";
  // Every log begins with the empty one: RFC 9162 has no proof of that.
  if (kept.size === 0) return "grown";
  const claim = { oldSize: kept.size, newSize: offered.size, oldRoot: kept.root, newRoot: offered.root, proof };
  return verifyConsistency(claim, hash) ? "grown" : "unproven";
}

/**
 * Judges a checkpoint as it is offered to a witness (C2SP tlog-witness): with the size `first` that the log's owner believes the witness has, 0 for none, and
 * the proof from there on. `other_size` accuses nobody: the owner did not know what the witness has, is told, and asks again. So a log is `put_back` only by
 * the word of who knows that it was longer, and never by requests that overtook each other.
 *
 * @example
 * ```ts
 * import { judgeOffer } from "@seneschal/crypto/merkle";
 * const [old, kept] = [7, 9].map((size) => ({ origin: "audit.acme.example", size, root: new Uint8Array(32) }));
 * console.log(judgeOffer(kept, old, 7, []), judgeOffer(kept, old, 9, [])); // other_size put_back
 * ```
 */
export function judgeOffer(
  kept: Checkpoint | undefined,
  offered: Checkpoint,
  first: number,
  proof: readonly Uint8Array[],
  hash: Sha256 = nobleSha256,
): Growth | "other_size" {
  return first === (kept?.size ?? 0) ? judgeGrowth(kept, offered, proof, hash) : "other_size";
}
