import { checkArgument } from "@seneschal/kernel";
import { bytesEqual } from "../bytes.ts";
import { consistencyRanges, inclusionRanges, type LeafRange } from "./proof-ranges.ts";
import { nobleSha256, type Sha256 } from "./tree-hash.ts";
import { verifyConsistency, verifyInclusion } from "./verify-proof.ts";

/** What somebody wants proven of a log: that a leaf is in its tree of `size` leaves, or that the tree of `second` leaves begins with that of `first`. */
export type LogClaim =
  | { readonly kind: "inclusion"; readonly index: number; readonly size: number; readonly leaf: Uint8Array }
  | { readonly kind: "consistency"; readonly first: number; readonly second: number };

/** A claim's proof, as RFC 9162 has its hashes, and the roots that it is about: at `size`, or at `first`. */
export interface LogProof {
  readonly root: Uint8Array;
  /** At `second`; of an inclusion the same as `root`. */
  readonly secondRoot: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

const sizesOf = (claim: LogClaim) =>
  claim.kind === "inclusion" ? ([claim.size, claim.size] as const) : ([claim.first, claim.second] as const);

const pathOf = (claim: LogClaim): readonly LeafRange[] =>
  claim.kind === "inclusion" ? inclusionRanges(claim.index, claim.size) : consistencyRanges(claim.first, claim.second);

/** The ranges whose roots {@link proveClaim} asks for. Throws `log_invalid` for a claim beyond the tree of `size` leaves. */
export function claimRanges(claim: LogClaim, size: number): readonly LeafRange[] {
  checkArgument("claim", claim, "object");
  checkArgument("size", size, "number");
  const [first, second] = sizesOf(claim);
  return [{ from: 0, to: first }, { from: 0, to: second }, ...pathOf(claim), ...consistencyRanges(second, size)];
}

/**
 * Proves a claim from roots that nobody vouches for, and verifies it under a root that somebody does before it is given: `undefined` when it does not
 * hold, or a root is not there. So what is kept of a tree can be damaged, and no wrong proof is made of it.
 *
 * @param head a size of the log and its root, as they were signed
 */
export function proveClaim(
  claim: LogClaim,
  head: { readonly size: number; readonly root: Uint8Array },
  rootOf: (range: LeafRange) => Uint8Array | undefined,
  hash: Sha256 = nobleSha256,
): LogProof | undefined {
  checkArgument("claim", claim, "object");
  checkArgument("head", head, "object");
  checkArgument("rootOf", rootOf, "function");
  const [first, second] = sizesOf(claim);
  const roots = claimRanges(claim, head.size).map(rootOf);
  if (!areThere(roots)) return undefined;
  const [root, secondRoot, ...hashes] = roots as [Uint8Array, Uint8Array, ...Uint8Array[]];
  const length = pathOf(claim).length;
  const [proof, onwards] = [hashes.slice(0, length), hashes.slice(length)];
  const holds =
    claim.kind === "inclusion"
      ? verifyInclusion({ index: claim.index, size: claim.size, leaf: claim.leaf, proof, root }, hash)
      : verifyConsistency({ oldSize: first, newSize: second, oldRoot: root, newRoot: secondRoot, proof }, hash);
  const signed =
    second === head.size
      ? bytesEqual(secondRoot, head.root)
      : verifyConsistency({ oldSize: second, newSize: head.size, oldRoot: secondRoot, newRoot: head.root, proof: onwards }, hash);
  return holds && signed ? { root, secondRoot, proof } : undefined;
}

function areThere(roots: readonly (Uint8Array | undefined)[]): roots is readonly Uint8Array[] {
  return roots.every((root) => root !== undefined);
}
