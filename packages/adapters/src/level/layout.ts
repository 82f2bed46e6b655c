import { successor, utf8 } from "@seneschal/kernel/store";

/**
 * Where things lie, as byte strings:
 *
 * | key | value |
 * |---|---|
 * | `d/<coll>/<id>` | version, space, JSON document |
 * | `i/<coll>/<index>/<values> 0 <id>` | id; for a unique index the key ends behind the zero byte |
 * | `a/<seq>` | JSON `[stream, streamSeq, event]`; also answers the built-in index `seq` of audit |
 * | `c/<seq>` | JSON change |
 * | `s/<stream>` | newest streamSeq |
 * | `w/<commit>` | JSON array of the commit ids of one batch, up to this commit: the window in which a retry is recognised |
 * | `m/format`, `m/head`, `m/indexes` | layout version, sequences, revisions of the indexes that are complete |
 */
export const layout = {
  document: (coll: string, id: string): string => `d/${coll}/${utf8(id)}`,
  documents: (coll: string): string => `d/${coll}/`,
  index: (coll: string, index: string): string => `i/${coll}/${index}/`,
  audit: (seq: number): string => `a/${padded(seq)}`,
  change: (seq: number): string => `c/${padded(seq)}`,
  stream: (stream: string): string => `s/${utf8(stream)}`,
  batch: (end: number): string => `w/${padded(end)}`,
  batches: "w/",
  format: "m/format",
  head: "m/head",
  indexes: "m/indexes",
} as const;

/** A byte string as the engine takes it. */
export function bytes(key: string): Buffer {
  return Buffer.from(key, "latin1");
}

/** The range of all keys that start with a byte string. */
export function rangeOf(prefix: string): { readonly gte: Buffer; readonly lt: Buffer } {
  return { gte: bytes(prefix), lt: bytes(successor(prefix) as string) };
}

function padded(seq: number): string {
  return String(seq).padStart(16, "0");
}
