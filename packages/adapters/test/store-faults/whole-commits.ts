import type { DocumentStore } from "@seneschal/kernel/ports";
import { expect } from "vitest";

/** Asserts that the store holds whole commits only, each in every place, with dense sequences; gives their numbers. */
export async function wholeCommits(store: DocumentStore): Promise<Set<number>> {
  const numbers = new Set<number>();
  const streams = new Map<string, number>();
  for (let seq = 0; ; ) {
    const entries = await store.auditRead(seq, 1000);
    if (entries.length === 0) break;
    for (const entry of entries) {
      seq += 1;
      expect(entry.seq).toBe(seq);
      const streamSeq = (streams.get(entry.stream) ?? 0) + 1;
      expect(entry.streamSeq).toBe(streamSeq);
      streams.set(entry.stream, streamSeq);
      numbers.add(entry.event["n"] as number);
    }
  }
  const all = [...numbers];
  expect(await store.getMany("things", all.map(String)).then((slots) => slots.map((slot) => slot?.doc["n"]))).toEqual(all);
  expect(
    await store
      .getMany(
        "twins",
        all.map((n) => `twin-${n}`),
      )
      .then((slots) => slots.map((slot) => slot?.doc["n"])),
  ).toEqual(all);
  for (const [coll, index] of [
    ["things", "by_group"],
    ["twins", "by_n"],
    ["audit", "seq"],
  ] as const)
    expect(await store.count(coll, index, [])).toBe(all.length);
  let changes = 0;
  for (;;) {
    const page = await store.changes(changes, 1000);
    if (page.length === 0) break;
    for (const change of page) {
      changes += 1;
      expect(change.seq).toBe(changes);
    }
  }
  expect(changes).toBe(all.length * 2);
  return numbers;
}
