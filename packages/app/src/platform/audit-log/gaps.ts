import type { Sha256 } from "@seneschal/crypto/merkle";

/** Numbers of a log whose records are gone, both inclusive. */
export interface AuditGap {
  readonly first: number;
  readonly last: number;
}

/** A gap as a checkpoint signs it. */
export interface SignedGap extends AuditGap {
  /** Of the whole log: how many of its numbers are accounted for by gaps of streams. */
  readonly claimed?: number;
}

/** The Merkle leaf in the place of a record that is gone. No leaf of a record begins so: theirs are JSON objects. */
export function gapLeaf(stream: string, number: number, sha256: Sha256): Uint8Array {
  return sha256(Buffer.from(`\0seneschal.audit.gap/v1 ${number} ${stream}`, "utf8"));
}

/** The line of a checkpoint that signs a gap. */
export function gapLine({ first, last, claimed }: SignedGap): string {
  return `gap ${first} ${last}${claimed === undefined ? "" : ` ${claimed}`}`;
}

/** Throws for what {@link gapLine} does not write. */
export function parseGapLine(line: string): SignedGap {
  const [, first, last, claimed] = /^gap ([1-9]\d{0,15}) ([1-9]\d{0,15})(?: (0|[1-9]\d{0,15}))?$/.exec(line) ?? [];
  if (first === undefined) throw new RangeError("not a gap of a checkpoint");
  return { first: Number(first), last: Number(last), ...(claimed === undefined ? {} : { claimed: Number(claimed) }) };
}
