import { checkArgument } from "@seneschal/kernel";
import { base64 } from "../bytes.ts";
import { checkpointText } from "../merkle/checkpoint.ts";
import { type KeptCheckpoint, openCheckpoint, openTree } from "../merkle/open-tree.ts";
import { gapLine, parseGapLine } from "./gaps.ts";
import type { LogIdentity } from "./record.ts";
import type { LogTree } from "./tree.ts";

/** A segment of the archive by its manifest. */
export interface SegmentName {
  readonly id: string;
  /** SHA-256 of the manifest, hex. */
  readonly sha256: string;
}

/** How far a stream, or the whole log, is archived: what its events stand for once they are not in the store any more. */
export interface StoredArchive extends KeptCheckpoint {
  readonly stream: string;
  /** Of the whole log: the newest segment. */
  readonly segment?: SegmentName;
}

/** A log as far as it is archived. */
export interface ArchivedLog extends LogTree {
  /** The number of its last event in the whole log. */
  readonly seq: number;
  /** The time of that event. */
  readonly until: string;
}

/**
 * What is signed of a log as far as it is archived, and what is stored with the note.
 *
 * @example
 * ```ts
 * import { archivedCheckpoint } from "@seneschal/crypto/audit-log";
 * import { CompactRange } from "@seneschal/crypto/merkle";
 * import { testLogForm } from "@seneschal/crypto/arbitraries";
 * const range = new CompactRange(0, [], testLogForm.sha256);
 * const archived = { range, gaps: [], seq: 3, until: "2026-01-01T00:00:00.000Z" };
 * console.log(archivedCheckpoint({ form: testLogForm, instance: "one" }, "acme", archived).kept); // { stream: 'acme', size: 0, peaks: [] }
 * ```
 */
export function archivedCheckpoint(log: Omit<LogIdentity, "key">, stream: string, archived: ArchivedLog) {
  checkArgument("log", log, "object");
  checkArgument("archived", archived, "object");
  const { range, gaps, seq, until } = archived;
  const { size } = range;
  const origin = log.form.archiveOrigin(log.instance, stream);
  const extensions = [`last ${seq} ${until}`, ...gaps.filter(({ last }) => last <= size).map(gapLine)];
  return {
    text: checkpointText({ origin, size, root: range.root(), extensions }),
    kept: { stream, size, peaks: range.hashes.map(base64) },
  };
}

/** What a note says of a log as far as it is archived. Throws `log_invalid` or a RangeError unless the key has signed just that. */
export function readArchiveNote(note: string, stream: string, log: LogIdentity) {
  const { extensions, ...rest } = openCheckpoint(note, expectedOf(log, stream));
  return { ...rest, ...saidOf(extensions) };
}

/**
 * How far a log is archived; `damaged` when the key has not signed what is stored.
 *
 * @example
 * ```ts
 * import { archivedCheckpoint, openArchived } from "@seneschal/crypto/audit-log";
 * import { CompactRange, signNote } from "@seneschal/crypto/merkle";
 * import { nobleCrypto } from "@seneschal/crypto";
 * import { testLogForm } from "@seneschal/crypto/arbitraries";
 * const seed = new Uint8Array(32).fill(9);
 * const key = { name: "one", publicKey: nobleCrypto.ed25519PublicKey(seed) };
 * const log = { form: testLogForm, instance: "one", key };
 * const range = new CompactRange(0, [], testLogForm.sha256);
 * range.append(Uint8Array.of(1));
 * const { text, kept } = archivedCheckpoint(log, "acme", { range, gaps: [], seq: 1, until: "2026-01-01T00:00:00.000Z" });
 * const note = await signNote(text, key, (message) => nobleCrypto.ed25519Sign(seed, message));
 * const opened = openArchived({ ...kept, note }, "acme", log);
 * console.log(opened !== "damaged" && opened.range.size, openArchived({ ...kept, note }, "globex", log)); // 1 damaged
 * ```
 */
export function openArchived(stored: StoredArchive, stream: string, log: LogIdentity): ArchivedLog | "damaged" {
  checkArgument("stored", stored, "object");
  checkArgument("log", log, "object");
  const tree = openTree(stored, expectedOf(log, stream), log.form.sha256);
  try {
    return tree === undefined ? "damaged" : { range: tree.range, ...saidOf(tree.extensions) };
  } catch {
    return "damaged";
  }
}

const expectedOf = ({ form, instance, key }: LogIdentity, stream: string) => ({
  origin: form.archiveOrigin(instance, stream),
  keys: [key],
});

function saidOf([last = "", ...gaps]: readonly string[] = []): Omit<ArchivedLog, "range"> {
  const [, seq, until = ""] = /^last ([1-9]\d{0,15}) (\S+)$/.exec(last) ?? [];
  if (seq === undefined) throw new RangeError("not the note of an archive");
  return { seq: Number(seq), until, gaps: gaps.map(parseGapLine) };
}
