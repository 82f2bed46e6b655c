import { checkArgument } from "@seneschal/kernel";
import { utf8 } from "../bytes.ts";
import type { CompactRange } from "../merkle/compact-range.ts";
import type { Sha256 } from "../merkle/tree-hash.ts";
import type { LogForm } from "./record.ts";

/** Numbers of an audit log whose records are gone, both inclusive. */
export interface AuditGap {
  readonly first: number;
  readonly last: number;
}

/** A gap as a checkpoint signs it. */
export interface SignedGap extends AuditGap {
  /** Of the whole log: how many of its numbers are accounted for by gaps of streams. */
  readonly claimed?: number;
}

/**
 * The line of a checkpoint that signs a gap.
 *
 * @example
 * ```ts
 * import { gapLine } from "@seneschal/crypto/audit-log";
 * console.log(gapLine({ first: 3, last: 5, claimed: 1 })); // gap 3 5 1
 * ```
 */
export function gapLine(gap: SignedGap): string {
  checkArgument("gap", gap, "object");
  const { first, last, claimed } = gap;
  return `gap ${first} ${last}${claimed === undefined ? "" : ` ${claimed}`}`;
}

/**
 * The gap of such a line. Throws `RangeError` for what {@link gapLine} does not write.
 *
 * @example
 * ```ts
 * import { gapLine, parseGapLine } from "@seneschal/crypto/audit-log";
 * console.log(parseGapLine("gap 3 5 1").last, gapLine({ first: 3, last: 5 })); // 5 gap 3 5
 * ```
 */
export function parseGapLine(line: string): SignedGap {
  checkArgument("line", line, "string");
  const [, first, last, claimed] = /^gap ([1-9]\d{0,15}) ([1-9]\d{0,15})(?: (0|[1-9]\d{0,15}))?$/.exec(line) ?? [];
  if (first === undefined) throw new RangeError("not a gap of a checkpoint");
  return { first: Number(first), last: Number(last), ...(claimed === undefined ? {} : { claimed: Number(claimed) }) };
}

/**
 * The Merkle leaf in the place of a record that is gone. No leaf of a record begins so: theirs are JSON objects.
 *
 * @example
 * ```ts
 * import { gapLeaf } from "@seneschal/crypto/audit-log";
 * import { testLogForm } from "@seneschal/crypto/arbitraries";
 * console.log(gapLeaf("acme", 3, testLogForm.sha256).length); // 32
 * ```
 */
export function gapLeaf(stream: string, number: number, sha256: Sha256): Uint8Array {
  checkArgument("stream", stream, "string");
  checkArgument("sha256", sha256, "function");
  return sha256(utf8(`\0seneschal.audit.gap/v1 ${number} ${stream}`));
}

/** Appends the leaves of the gaps that a log's tree has come to. */
export function passGaps(
  range: CompactRange,
  gaps: readonly AuditGap[],
  log: {
    readonly stream: string;
    readonly form: Pick<LogForm, "sha256">;
    readonly onNode?: Parameters<CompactRange["appendHash"]>[1];
  },
): void {
  for (const { first, last } of gaps)
    for (let gone = first; range.size + 1 === gone && gone <= last; gone += 1)
      range.appendHash(gapLeaf(log.stream, gone, log.form.sha256), log.onNode);
}

/**
 * Whether accepted gaps, in order, leave none of these numbers out.
 *
 * @example
 * ```ts
 * import { coversGap } from "@seneschal/crypto/audit-log";
 * const accepted = [{ first: 1, last: 2 }, { first: 3, last: 3 }];
 * console.log(coversGap(accepted, { first: 2, last: 3 }), coversGap(accepted, { first: 3, last: 4 })); // true false
 * ```
 */
export function coversGap(accepted: readonly AuditGap[], gap: AuditGap): boolean {
  checkArgument("accepted", accepted, "array");
  checkArgument("gap", gap, "object");
  let next = gap.first;
  for (const { first, last } of accepted) if (first <= next && last >= next) next = last + 1;
  return next > gap.last;
}

/**
 * Accounts for `missing` records of a stream between two that are there, by numbers of the whole log: gaps of it that lie between
 * them and that no other stream accounts for. `undefined` when those are too few. The earliest are taken: later ones may still
 * be another stream's.
 *
 * @example
 * ```ts
 * import { claimGaps } from "@seneschal/crypto/audit-log";
 * const whole = [{ first: 3, last: 4, claimed: 1 }];
 * console.log(claimGaps(whole, 1, { after: 2, before: 5 })?.[0]?.claimed, claimGaps(whole, 2, { after: 2, before: 5 })); // 2 undefined
 * ```
 */
export function claimGaps(
  whole: readonly SignedGap[],
  missing: number,
  between: { readonly after: number; readonly before: number },
): readonly SignedGap[] | undefined {
  checkArgument("whole", whole, "array");
  checkArgument("missing", missing, "number");
  checkArgument("between", between, "object");
  const { after, before } = between;
  let left = missing;
  const claimed = whole.map((gap): SignedGap => {
    if (gap.first <= after || gap.last >= before) return gap;
    const taken = Math.min(left, gap.last - gap.first + 1 - (gap.claimed ?? 0));
    left -= taken;
    return { ...gap, claimed: (gap.claimed ?? 0) + taken };
  });
  return left === 0 ? claimed : undefined;
}
