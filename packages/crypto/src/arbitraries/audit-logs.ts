import type { JsonObject } from "@seneschal/kernel";
import fc from "fast-check";
import type { LogForm, LogRecord } from "../audit-log/record.ts";
import { utf8 } from "../bytes.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { leafHash, nobleSha256 } from "../merkle/tree-hash.ts";

/** A form of log for tests: every member of a record is in its leaf. */
export const testLogForm: LogForm = {
  segments: "test.segment",
  keyName: (instance) => instance,
  checkpointOrigin: (instance, stream) => `test/${instance}${stream.startsWith("/") ? stream : `/${stream}`}`,
  archiveOrigin: (instance, stream) => `test.archive/${instance}${stream.startsWith("/") ? stream : `/${stream}`}`,
  signsWhole: true,
  sha256: nobleSha256,
  leaf: ({ stream, stream_seq, event }) => leafHash(utf8(canonicalJson({ stream, stream_seq, event }))),
};

/** The records of an audit log of up to three streams, as they were written one after the other. */
export function auditRecords(size: { readonly min: number; readonly max: number }): fc.Arbitrary<readonly LogRecord[]> {
  const entry = fc.record({ stream: fc.constantFrom("acme", "globex", "initech"), act: fc.string({ maxLength: 6 }) });
  return fc.array(entry, { minLength: size.min, maxLength: size.max }).map((entries) => {
    const sizes = new Map<string, number>();
    return entries.map(({ stream, act }, at): LogRecord => {
      const stream_seq = (sizes.get(stream) ?? 0) + 1;
      sizes.set(stream, stream_seq);
      const event: JsonObject = { act, timestamp: new Date(at * 1000).toISOString() };
      return { seq: at + 1, stream, stream_seq, event };
    });
  });
}

/** Something that was done to a list of records, or of segments. */
export type LogDamage = "dropped" | "swapped" | "repeated";

/** What somebody did to a list, one of whose items is at `at`; the same list where that changes nothing. */
export function damagedList<T>(items: readonly T[], damage: LogDamage, at: number): readonly T[] {
  const [item, next] = items.slice(at, at + 2);
  if (item === undefined) return items;
  const others: readonly T[] =
    damage === "dropped" ? [] : damage === "repeated" ? [item, item] : next === undefined ? [item] : [next, item];
  return [...items.slice(0, at), ...others, ...items.slice(at + (damage === "swapped" ? 2 : 1))];
}
