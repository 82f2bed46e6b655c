import type { Sha256 } from "@seneschal/crypto/merkle";

/** The Merkle leaf in the place of a record that is gone. No leaf of a record begins so: theirs are JSON objects. */
export function gapLeaf(stream: string, number: number, sha256: Sha256): Uint8Array {
  return sha256(Buffer.from(`\0seneschal.audit.gap/v1 ${number} ${stream}`, "utf8"));
}
