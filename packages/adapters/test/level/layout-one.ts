import type { Commit } from "@seneschal/kernel/ports";
import { encodeIndexKey, entryKey } from "@seneschal/kernel/store";
import { alter } from "./level-entries.ts";

const padded = (seq: number): string => String(seq).padStart(16, "0");

/** The nth commit of a directory of layout 1: one audit event in one of two streams. */
export function oldCommit(n: number): Commit {
  return { commitId: `commit ü ${n}`, audit: [{ stream: `s${n % 2}`, event: { type: "t", n } }] };
}

/** A directory as layout 1 left it after so many commits, the first of them of one audit event, with the index `by_type` of audit. */
export async function writeLayoutOne(path: string, commits: number, audited = commits): Promise<void> {
  const entries = new Map<string, string>([
    ["m/format", "1"],
    ["m/head", JSON.stringify({ commit: commits, change: 0, audit: audited })],
    ["m/indexes", JSON.stringify({ "audit.stream": "1", "audit.seq": "1", "audit.by_type": "1" })],
  ]);
  for (let seq = 1; seq <= audited; seq += 1)
    for (const { stream, event } of oldCommit(seq).audit ?? []) {
      const streamSeq = Math.ceil(seq / 2);
      const index = (name: string, values: readonly (string | number)[]): void =>
        void entries.set(`i/audit/${name}/${entryKey(encodeIndexKey(values), padded(seq))}`, String(seq));
      entries.set(`a/${padded(seq)}`, JSON.stringify([stream, streamSeq, event]));
      index("seq", [seq]);
      index("stream", [stream, streamSeq]);
      index("by_type", ["t"]);
      entries.set(`s/${stream}`, String(streamSeq));
    }
  for (let seq = Math.max(1, commits - 100_000 + 1); seq <= commits; seq += 1) {
    const { commitId } = oldCommit(seq);
    entries.set(`t/${Buffer.from(commitId).toString("latin1")}`, String(seq));
    entries.set(`q/${padded(seq)}`, commitId);
  }
  await alter(path, entries);
}
