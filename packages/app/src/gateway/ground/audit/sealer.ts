import {
  type AuditGap,
  type LogFinding,
  LogGrowth,
  type LogIdentity,
  type LogTree,
  logCheckpoint,
  openArchived,
  openLogTree,
  type StreamCheckpoint,
  wholeLog,
} from "@seneschal/crypto/audit-log";
import { signNote } from "@seneschal/crypto/merkle";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { AuditTampered, auditArchives, readable, recordsInOrder } from "../../../platform/audit-log/index.ts";
import { collection } from "../../../platform/collection.ts";
import type { Unit } from "../store/unit-of-work.ts";
import { acceptedGaps } from "./gaps.ts";
import type { LogKey } from "./log-key.ts";

/** The newest checkpoint of each stream, and of the whole log under `/all`. */
export const checkpoints = collection<StreamCheckpoint>("audit_checkpoints");

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
  readonly broken: readonly LogFinding[];
}

/**
 * Brings the checkpoints up to the newest audit event, one batch: reads what came since the last, appends it to the tree of
 * its stream and of the whole log, signs. Goes on only from what the key has signed. Throws {@link AuditTampered} when the whole log
 * does not go on where its checkpoint ends, but for an accepted gap: see {@link LogGrowth}.
 *
 * @param log.own the last note of each stream that this process signed: its signature needs no proof
 */
export async function sealBatch(
  store: DocumentStore,
  unit: Unit,
  key: LogKey,
  log: Omit<LogIdentity, "key"> & { readonly own: Map<string, string> },
): Promise<Sealed> {
  const { form, instance, own } = log;
  const identity: LogIdentity = { form, instance, key: key.note };
  const opened = async (stream: string): Promise<LogTree | LogFinding> => {
    const stored = await readable(() => unit.get(checkpoints, stream));
    if (stored === "damaged") return { flaw: "checkpoint_invalid", stream, sequence: null };
    return openLogTree(stored, stream, identity, own.get(stream) === stored?.note ? "checked" : undefined);
  };
  /** The number in the whole log of the record before a gap, which may be archived; see `MissingFacts`. */
  const before = async (stream: string, gap: AuditGap): Promise<number | undefined> => {
    const stored = await readable(() => unit.get(auditArchives, stream));
    const archived = stored === undefined || stored === "damaged" ? "damaged" : openArchived(stored, stream, identity);
    if (archived !== "damaged" && archived.range.size === gap.first - 1) return archived.seq;
    return recordBefore(store, stream, gap);
  };
  const whole = await opened(wholeLog);
  if ("flaw" in whole) throw new AuditTampered(whole);
  const growth = new LogGrowth(whole, form);
  if (key.begun && growth.size === 0) throw new AuditTampered({ flaw: "checkpoint_missing", stream: wholeLog, sequence: null });
  let accepted: readonly AuditGap[] | undefined;
  let taken = 0;
  for (let more = true; more && taken < SEAL_BATCH; ) {
    const entries = await store.auditRead(growth.size, SLICE);
    for (const { seq, stream, streamSeq, event } of entries) {
      if (!growth.knows(stream)) growth.open(stream, await opened(stream));
      if (growth.gapBefore(wholeLog, seq) !== undefined) accepted ??= await acceptedGaps(store, instance, key.note);
      const gap = growth.gapBefore(stream, streamSeq);
      const after = gap && (await before(stream, gap));
      const finding = growth.take({ seq, stream, stream_seq: streamSeq, event }, { accepted: accepted ?? [], after });
      if (finding !== undefined) throw new AuditTampered(finding);
    }
    taken += entries.length;
    more = entries.length === SLICE;
  }
  const sizes: (readonly [string, number])[] = [];
  if (taken === 0) return { taken, sizes, broken: [] };
  for (const [stream, tree] of growth.grown()) {
    const { text, kept } = logCheckpoint(log, stream, tree);
    const note = await signNote(text, key.note, key.sign);
    own.set(stream, note);
    unit.put(checkpoints, stream, { ...kept, note });
    if (stream !== wholeLog) sizes.push([stream, kept.size]);
  }
  if (!key.begun) await key.begin(unit);
  return { taken, sizes, broken: growth.broken() };
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
