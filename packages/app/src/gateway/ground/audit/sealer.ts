import { type AuditGap, claimGaps, coversGap, gapLine, parseGapLine, type SignedGap } from "@seneschal/core/audit";
import { bytesEqual } from "@seneschal/crypto";
import {
  CompactRange,
  checkpointText,
  type NoteKey,
  parseCheckpoint,
  type Sha256,
  signNote,
  verifyNote,
} from "@seneschal/crypto/merkle";
import type { DocumentStore } from "@seneschal/kernel/ports";
import {
  type AuditFinding,
  AuditTampered,
  auditArchives,
  gapLeaf,
  openArchived,
  readable,
  recordsInOrder,
  wholeLog,
} from "../../../platform/audit-log/index.ts";
import { base64, bytes } from "../../../platform/bytes.ts";
import { collection } from "../../../platform/collection.ts";
import type { Unit } from "../store/unit-of-work.ts";
import { type AuditRecord, auditLeaf } from "./event.ts";
import { checkpointOrigin, gatewayLog } from "./form.ts";
import { acceptedGaps } from "./gaps.ts";
import type { LogKey } from "./log-key.ts";

/** The newest signed state of one stream, and of the whole log under `/all`. */
export interface StoredCheckpoint {
  readonly stream: string;
  readonly size: number;
  /** Roots of the perfect subtrees, base64: what appending needs. */
  readonly peaks: readonly string[];
  /** C2SP signed note. */
  readonly note: string;
}

export const checkpoints = collection<StoredCheckpoint>("audit_checkpoints");

/** A log as far as it is signed. */
export interface LogTree {
  readonly range: CompactRange;
  /** In order. */
  readonly gaps: readonly SignedGap[];
}

/** The most events that {@link sealBatch} takes under one signature. */
export const SEAL_BATCH = 1024;

/** So many are read and hashed at once: requests wait for no more than that. */
const SLICE = 64;

/** What a batch came to. */
export interface Sealed {
  readonly taken: number;
  /** How far each stream is signed now, without the whole log. */
  readonly sizes: readonly (readonly [stream: string, size: number])[];
  /** Streams that do not go on where their checkpoints end: they are signed no further, all others are. */
  readonly broken: readonly AuditFinding[];
}

/**
 * Brings the checkpoints up to the newest audit event, one batch: reads what came since the last, appends it to the tree of
 * its stream and of the whole log, signs. Goes on only from what the key has signed. Throws {@link AuditTampered} when the whole log
 * does not go on where its checkpoint ends, but for an accepted gap. A stream's gap is one only as far as gaps of the whole log account for it.
 */
export async function sealBatch(
  store: DocumentStore,
  unit: Unit,
  key: LogKey,
  { instance, sha256, own }: { readonly instance: string; readonly sha256: Sha256; readonly own: Map<string, string> },
): Promise<Sealed> {
  const opened = async (stream: string): Promise<LogTree | AuditFinding> => {
    const stored = await readable(() => unit.get(checkpoints, stream));
    if (stored === "damaged") return { flaw: "checkpoint_invalid", stream, sequence: null };
    return openTree(stored, stream, { instance, key: key.note, sha256, own });
  };
  const opening = await opened(wholeLog);
  if ("flaw" in opening) throw new AuditTampered(opening);
  const { range: whole } = opening;
  let wholeGaps = opening.gaps;
  if (key.begun && whole.size === 0) throw new AuditTampered({ flaw: "checkpoint_missing", stream: wholeLog, sequence: null });
  const trees = new Map<string, LogTree | AuditFinding>();
  let accepted: readonly AuditGap[] | undefined;
  let taken = 0;
  for (let more = true; more && taken < SEAL_BATCH; ) {
    const entries = await store.auditRead(whole.size, SLICE);
    for (const { seq, stream, streamSeq, event } of entries) {
      if (seq !== whole.size + 1) {
        const gap = { first: whole.size + 1, last: seq - 1, claimed: 0 };
        accepted ??= await acceptedGaps(store, instance, key.note);
        if (gap.last < gap.first || !coversGap(accepted, gap))
          throw new AuditTampered({ flaw: "event_missing", stream: wholeLog, sequence: gap.first });
        appendGap(whole, wholeLog, gap, sha256);
        wholeGaps = [...wholeGaps, gap];
      }
      let tree = trees.get(stream) ?? (await opened(stream));
      if (!("flaw" in tree) && streamSeq > tree.range.size + 1) {
        const gap = { first: tree.range.size + 1, last: streamSeq - 1 };
        /** The record before it may be archived; that behind it is this one. */
        const archivedBefore = async ({ first }: AuditGap): Promise<number | undefined> => {
          const stored = await readable(() => unit.get(auditArchives, stream));
          if (stored === undefined || stored === "damaged") return undefined;
          const archived = openArchived(stored, stream, { form: gatewayLog(sha256), instance, key: key.note });
          return archived !== "damaged" && archived.range.size === first - 1 ? archived.seq : undefined;
        };
        const after = (await archivedBefore(gap)) ?? (await recordBefore(store, stream, gap));
        const claimed = after === undefined ? undefined : claimGaps(wholeGaps, gap.last - gap.first + 1, { after, before: seq });
        if (claimed !== undefined) {
          wholeGaps = claimed;
          appendGap(tree.range, stream, gap, sha256);
          tree = { range: tree.range, gaps: [...tree.gaps, gap] };
        }
      }
      trees.set(stream, tree);
      const leaf = auditLeaf({ stream, stream_seq: streamSeq, event } as unknown as AuditRecord, sha256);
      whole.appendHash(leaf);
      if ("flaw" in tree) continue;
      if (streamSeq === tree.range.size + 1) tree.range.appendHash(leaf);
      else trees.set(stream, gapBehind(stream, tree.range.size));
    }
    taken += entries.length;
    more = entries.length === SLICE;
  }
  const broken: AuditFinding[] = [];
  const sizes: (readonly [string, number])[] = [];
  if (taken === 0) return { taken, sizes, broken };
  for (const [stream, tree] of trees.set(wholeLog, { range: whole, gaps: wholeGaps })) {
    if ("flaw" in tree) {
      broken.push(tree);
      continue;
    }
    const { range, gaps } = tree;
    const origin = checkpointOrigin(instance, stream);
    const text = checkpointText({ origin, size: range.size, root: range.root(), extensions: gaps.map(gapLine) });
    const note = await signNote(text, key.note, key.sign);
    own.set(stream, note);
    unit.put(checkpoints, stream, { stream, size: range.size, peaks: range.hashes.map(base64), note });
    if (stream !== wholeLog) sizes.push([stream, range.size]);
  }
  if (!key.begun) await key.begin(unit);
  return { taken, sizes, broken };
}

function appendGap(range: CompactRange, stream: string, { first, last }: AuditGap, sha256: Sha256): void {
  for (let number = first; number <= last; number += 1) range.appendHash(gapLeaf(stream, number, sha256));
}

/** The number in the whole log of the stream's record before a gap, 0 before the first; `undefined` when not exactly the gap is missing. */
async function recordBefore(store: DocumentStore, stream: string, { first, last }: AuditGap): Promise<number | undefined> {
  const there = first === 1 ? [{ seq: 0, stream_seq: 0 }] : [];
  for await (const page of recordsInOrder(store, stream, Math.max(1, first - 1))) {
    there.push(...page);
    if (there.length > 1) break;
  }
  const [before, behind] = there;
  return before?.stream_seq === first - 1 && behind?.stream_seq === last + 1 ? before.seq : undefined;
}

/** Events in between are gone, or the checkpoint that counted them is. */
function gapBehind(stream: string, size: number): AuditFinding {
  return size === 0
    ? { flaw: "checkpoint_missing", stream, sequence: null }
    : { flaw: "event_missing", stream, sequence: size + 1 };
}

/** The tree that a checkpoint leaves, if the key has signed what it says. */
export function openTree(
  stored: StoredCheckpoint | undefined,
  stream: string,
  {
    instance,
    key,
    sha256,
    own,
  }: {
    readonly instance: string;
    readonly key: NoteKey;
    readonly sha256: Sha256;
    /** The last note of each stream that this process signed: its signature needs no proof. */
    readonly own?: ReadonlyMap<string, string>;
  },
): LogTree | AuditFinding {
  if (stored === undefined) return { range: new CompactRange(0, [], sha256), gaps: [] };
  const signed = signedState(stored, stream, instance, own?.get(stream) === stored.note ? undefined : key);
  const range = signed && peaksOf(stored, sha256);
  if (signed === undefined || range === undefined || !bytesEqual(range.root(), signed.root))
    return { flaw: "checkpoint_invalid", stream, sequence: null };
  return { range, gaps: signed.gaps };
}

function peaksOf({ size, peaks }: StoredCheckpoint, sha256: Sha256): CompactRange | undefined {
  try {
    const hashes = peaks.map(bytes);
    // Several texts mean the same bytes; one of them is ours.
    if (hashes.some((hash, i) => base64(hash) !== peaks[i])) return undefined;
    return new CompactRange(size, hashes, sha256);
  } catch {
    return undefined;
  }
}

/** A note without its signatures. */
const textOf = (note: string): string => note.slice(0, note.indexOf("\n\n") + 1);

/** What the key has signed of a stream, or whoever did, without a key; `undefined` when the checkpoint says anything else. */
export function signedState(
  stored: StoredCheckpoint,
  stream: string,
  instance: string,
  key: NoteKey | undefined,
): { readonly size: number; readonly root: Uint8Array; readonly gaps: readonly SignedGap[] } | undefined {
  try {
    const text = key === undefined ? textOf(stored.note) : verifyNote(stored.note, [key]).text;
    const signed = parseCheckpoint(text);
    const same = signed.origin === checkpointOrigin(instance, stream) && signed.size === stored.size;
    const gaps = (signed.extensions ?? []).map(parseGapLine);
    return same && stored.stream === stream ? { size: signed.size, root: signed.root, gaps } : undefined;
  } catch {
    return undefined;
  }
}
