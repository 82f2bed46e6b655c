import type { CompactRange } from "../merkle/compact-range.ts";
import { type AuditGap, claimGaps, coversGap, passGaps, type SignedGap } from "./gaps.ts";
import { type LogFinding, type LogForm, type LogRecord, wholeLog } from "./record.ts";
import type { LogTree } from "./tree.ts";

/** What is known of the records that are missing before one. */
export interface MissingFacts {
  /** Gaps of the whole log that the operator has accepted, in order. */
  readonly accepted: readonly AuditGap[];
  /** The number in the whole log of the record before the gap of a stream, 0 before its first; `undefined`: not exactly that gap is missing. */
  readonly after: number | undefined;
}

/**
 * A log that grows: records in the order of the whole are appended to the tree of it and of each of their streams, as the next checkpoints sign them.
 *
 * @example
 * ```ts
 * import { LogGrowth } from "@seneschal/crypto/audit-log";
 * import { CompactRange } from "@seneschal/crypto/merkle";
 * import { testLogForm } from "@seneschal/crypto/arbitraries";
 * const empty = () => ({ range: new CompactRange(0, [], testLogForm.sha256), gaps: [] });
 * const growth = new LogGrowth(empty(), testLogForm);
 * growth.open("acme", empty());
 * const nothing = { accepted: [], after: undefined };
 * console.log(growth.take({ seq: 1, stream: "acme", stream_seq: 1, event: {} }, nothing), growth.size); // undefined 1
 * console.log(growth.take({ seq: 3, stream: "acme", stream_seq: 2, event: {} }, nothing)?.flaw); // event_missing
 * ```
 */
export class LogGrowth {
  readonly #form: LogForm;
  readonly #whole: { readonly range: CompactRange; gaps: readonly SignedGap[] };
  readonly #streams = new Map<string, { readonly range: CompactRange; gaps: readonly SignedGap[] } | LogFinding>();

  /** @param whole the whole log as far as it is signed */
  constructor(whole: LogTree, form: LogForm) {
    this.#whole = { ...whole };
    this.#form = form;
  }

  /** How many records the whole log has by now. */
  get size(): number {
    return this.#whole.range.size;
  }

  /** Whether it is known how far a stream is signed. */
  knows(stream: string): boolean {
    return this.#streams.has(stream);
  }

  /** Says how far a stream is signed, or what is wrong with that: such a stream is signed no further, all others are. */
  open(stream: string, tree: LogTree | LogFinding): void {
    this.#streams.set(stream, { ...tree });
  }

  /** The numbers that are missing between a log and its next record. A `last` before `first`: that number was there before. */
  gapBefore(stream: string, number: number): AuditGap | undefined {
    const tree = stream === wholeLog ? this.#whole : this.#streams.get(stream);
    if (tree === undefined || "flaw" in tree || number === tree.range.size + 1) return undefined;
    return { first: tree.range.size + 1, last: number - 1 };
  }

  /**
   * Takes the next record of the whole log, whose stream is known. What it answers with ends the log: the whole does not go on where it was signed, but for
   * accepted gaps. A stream's gap is one only as far as gaps of the whole log account for it.
   */
  take(record: LogRecord, { accepted, after }: MissingFacts): LogFinding | undefined {
    const { seq, stream, stream_seq } = record;
    const lost = this.gapBefore(wholeLog, seq);
    if (lost !== undefined) {
      if (lost.last < lost.first || !coversGap(accepted, lost))
        return { flaw: "event_missing", stream: wholeLog, sequence: lost.first };
      this.#pass(wholeLog, this.#whole, { ...lost, claimed: 0 });
    }
    const leaf = this.#form.leaf(record);
    const tree = this.#streams.get(stream);
    if (tree !== undefined && !("flaw" in tree)) {
      const gap = this.gapBefore(stream, stream_seq);
      const missing = gap === undefined ? 0 : gap.last - gap.first + 1;
      const claimed =
        missing > 0 && after !== undefined ? claimGaps(this.#whole.gaps, missing, { after, before: seq }) : undefined;
      if (gap !== undefined && claimed !== undefined) {
        this.#whole.gaps = claimed;
        this.#pass(stream, tree, gap);
      }
      if (stream_seq === tree.range.size + 1) tree.range.appendHash(leaf);
      else this.#streams.set(stream, gapBehind(stream, tree.range.size));
    }
    this.#whole.range.appendHash(leaf);
    return undefined;
  }

  /** Streams that do not go on where they were signed. */
  broken(): readonly LogFinding[] {
    return [...this.#streams.values()].filter((tree) => "flaw" in tree);
  }

  /** The others, and the whole log, as they are to be signed. */
  *grown(): Generator<readonly [stream: string, tree: LogTree]> {
    for (const [stream, tree] of this.#streams) if (!("flaw" in tree)) yield [stream, tree];
    yield [wholeLog, this.#whole];
  }

  #pass(stream: string, tree: { readonly range: CompactRange; gaps: readonly SignedGap[] }, gap: SignedGap): void {
    passGaps(tree.range, [gap], { stream, form: this.#form });
    tree.gaps = [...tree.gaps, gap];
  }
}

/** Events in between are gone, or the checkpoint that counted them is. */
function gapBehind(stream: string, size: number): LogFinding {
  return size === 0
    ? { flaw: "checkpoint_missing", stream, sequence: null }
    : { flaw: "event_missing", stream, sequence: size + 1 };
}
