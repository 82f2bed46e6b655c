import { checkArgument } from "@seneschal/kernel";
import { bytesEqual } from "../bytes.ts";
import { CompactRange } from "../merkle/compact-range.ts";
import type { ArchivedLog } from "./archived.ts";
import { passGaps } from "./gaps.ts";
import { type LogFinding, type LogForm, type LogRecord, numberIn } from "./record.ts";
import type { LogTree } from "./tree.ts";

/**
 * Judges records against what is signed of their log: every one there, in order, unchanged, and none cut off; behind it, that none is
 * missing. Where a gap was accepted, none may stand. `undefined`: nothing is wrong.
 *
 * @param pages the log's records in order
 *
 * @example
 * ```ts
 * import { verifyRecords } from "@seneschal/crypto/audit-log";
 * import { CompactRange } from "@seneschal/crypto/merkle";
 * import { testLogForm } from "@seneschal/crypto/arbitraries";
 * const record = (number: number) => ({ seq: number, stream: "acme", stream_seq: number, event: {} });
 * const range = new CompactRange(0, [], testLogForm.sha256);
 * for (const number of [1, 2]) range.appendHash(testLogForm.leaf(record(number)));
 * async function* pages(...numbers: readonly number[]) {
 *   yield numbers.map(record);
 * }
 * const given = { stream: "acme", form: testLogForm };
 * console.log(await verifyRecords(pages(1, 2), { range, gaps: [] }, given)); // undefined
 * console.log((await verifyRecords(pages(2), { range, gaps: [] }, given))?.flaw); // event_missing
 * ```
 */
export async function verifyRecords(
  pages: AsyncIterable<readonly LogRecord[]>,
  signed: LogTree,
  given: {
    readonly stream: string;
    readonly form: LogForm;
    /** What is archived of the log, as it was signed: records go on from there, and those up to there are passed over. */
    readonly archived?: ArchivedLog | undefined;
    /** Sees every perfect subtree of the log's tree; nothing is proven by them unless nothing is wrong. */
    readonly onNode?: Parameters<CompactRange["appendHash"]>[1];
  },
): Promise<LogFinding | undefined> {
  checkArgument("pages", pages, "object");
  checkArgument("signed", signed, "object");
  checkArgument("given", given, "object");
  const { stream, form, archived, onNode } = given;
  const found = (flaw: LogFinding["flaw"], sequence: number | null): LogFinding => ({ flaw, stream, sequence });
  const begun = archived?.range.size ?? 0;
  const range = new CompactRange(begun, archived?.range.hashes, form.sha256);
  const gaps = signed.gaps.filter(({ first }) => first > begun);
  let next = begun + 1;
  const pass = (): void => {
    passGaps(range, gaps, given);
    next = Math.max(next, range.size + 1);
  };
  for await (const page of pages)
    for (const record of page) {
      const number = numberIn(stream, record);
      if (number <= begun) continue;
      const gap = gaps.find(({ last }) => last >= next);
      if (gap !== undefined && gap.first <= number && number <= gap.last) return found("root_differs", number);
      pass();
      if (number !== next) return found("event_missing", next);
      if (range.size < signed.range.size) range.appendHash(form.leaf(record), onNode);
      next += 1;
    }
  pass();
  if (range.size !== signed.range.size) return found("event_missing", next);
  return bytesEqual(range.root(), signed.range.root()) ? undefined : found("root_differs", null);
}
