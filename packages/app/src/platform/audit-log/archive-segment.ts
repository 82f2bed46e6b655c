import type { BackupTarget } from "@seneschal/adapters/backups";
import type { SignedGap } from "@seneschal/core/audit";
import { bytesEqual, hex } from "@seneschal/crypto";
import { CompactRange, claimRanges, type NoteKey, proveClaim } from "@seneschal/crypto/merkle";
import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { base64 } from "../bytes.ts";
import { type ArchivedLog, archivedSegment, archiveText, auditArchives, type SegmentName, storedArchive } from "./archived.ts";
import { type AuditFinding, AuditTampered } from "./finding.ts";
import type { GuardedWrites } from "./guarded-writes.ts";
import type { LogForm, LogRecord } from "./log-form.ts";
import { recordsInOrder, wholeLog } from "./records.ts";
import { eventLine, eventsOf, LogWalk, manifestText, parseManifest, requireLogs, segmentFiles, segmentId } from "./segment.ts";
import { readTree, tileComparison, tiledSize } from "./tiles.ts";

/** The most events of a segment. */
const SEGMENT_EVENTS = 8192;

/** Which events are to be archived. */
export interface SegmentDue {
  /** Those of before this time (RFC 3339), */
  readonly before: string;
  /** up to this number of the whole log: others wait for somebody. */
  readonly upTo: number;
  /** Fewer than 8,192 are archived only when the first of them is of before this time. */
  readonly alsoFew: string;
}

/** A segment that the archive has, and what makes it the one that the store counts on. */
export interface SegmentToKeep {
  readonly name: SegmentName;
  readonly first: number;
  readonly last: number;
  /** Writes down that the events are archived; false: another process was here. */
  keep(unit: GuardedWrites): Promise<boolean>;
  /** Removes the events from the store, when that is written down. May be repeated. */
  forget(): Promise<void>;
}

/** A log as far as it is signed. */
export interface SignedLog {
  readonly key: NoteKey;
  readonly size: number;
  /** What was signed of it. The whole log may have none where only its streams are signed: the archive is the first to sign it. */
  readonly range?: CompactRange;
  readonly gaps: readonly SignedGap[];
  readonly archived?: ArchivedLog;
}

/** The log whose events are archived. */
export interface LogToArchive {
  readonly store: DocumentStore;
  readonly instance: string;
  readonly form: LogForm;
  /** A log as far as it is signed. Throws {@link AuditTampered}. */
  readonly signed: (stream: string) => Promise<SignedLog | undefined>;
  /** Makes tiles of what is signed of a log. */
  readonly tile: (stream: string) => Promise<void>;
  readonly sign: (text: string) => Promise<string>;
}

/**
 * Writes the next segment of the whole log into an archive: events that are signed, each proven to be the one that was, with all hashes of their trees kept,
 * read back and verified again as it lies there. `undefined`: nothing is due. No event leaves the store here: see {@link SegmentToKeep}.
 */
export async function archiveSegment(
  inside: LogToArchive,
  target: BackupTarget,
  due: SegmentDue,
): Promise<SegmentToKeep | undefined> {
  const { store, instance, form } = inside;
  const { sha256 } = form;
  const known = new Map<string, Promise<SignedLog>>();
  const signed = (stream: string): Promise<SignedLog> => {
    const found = known.get(stream) ?? inside.signed(stream).then((log) => log ?? fail("checkpoint_missing", stream));
    known.set(stream, found);
    return found;
  };
  const whole = await inside.signed(wholeLog);
  if (whole === undefined) return undefined;
  const previous = (await archivedSegment(store)) ?? null;
  const begun = whole.archived?.range.size ?? 0;
  // What a crash left behind.
  if (begun > 0) await store.compact({ audit: begun });
  const records = await dueRecords(store, begun, { ...due, upTo: Math.min(due.upTo, whole.size) });
  const [first, last] = [records[0]?.seq, records.at(-1)?.seq];
  if (first === undefined || last === undefined) return undefined;

  for (const stream of new Set([wholeLog, ...records.map((record) => record.stream)])) {
    await inside.tile(stream);
    known.delete(stream);
  }
  const begin = async (stream: string) => {
    const { archived, gaps } = await signed(stream);
    return { range: new CompactRange(archived?.range.size ?? 0, archived?.range.hashes ?? [], sha256), gaps };
  };
  const logs = await provenLogs(inside, records, { begin, signed });

  const notes: { stream: string; note: string }[] = [];
  for (const [stream, log] of logs) notes.push({ stream, note: await inside.sign(archiveText(form, instance, stream, log)) });
  const id = segmentId(first, last);
  const events = Buffer.from(records.map(eventLine).join(""));
  const manifest = Buffer.from(
    manifestText(form, {
      instance,
      first,
      last,
      previous,
      logs: notes,
      sha256: hex(sha256(events)),
      public_key: base64(whole.key.publicKey),
    }),
  );
  await target.write(id, segmentFiles.events, pieces(events));
  await target.write(id, segmentFiles.manifest, pieces(manifest));

  const [eventsBack, manifestBack] = await Promise.all([
    readWhole(target, id, segmentFiles.events),
    readWhole(target, id, segmentFiles.manifest),
  ]);
  if (!bytesEqual(eventsBack, events) || !bytesEqual(manifestBack, manifest))
    throw new CodedError("audit_archive_damaged", `segment ${id} is not what was written`, { segment: id });
  const again = new LogWalk(begin, form);
  for await (const record of eventsOf(pieces(eventsBack))) await again.take(record);
  requireLogs(again.logs(), parseManifest(manifestBack.toString("utf8"), id, [form]).manifest, { form, key: whole.key });

  const name = { id, sha256: hex(sha256(manifest)) };
  return {
    name,
    first,
    last,
    async keep(unit) {
      const now = await unit.get(auditArchives, wholeLog);
      if ((now?.size ?? 0) !== begun) return false;
      for (const { stream, note } of notes)
        unit.put(
          auditArchives,
          stream,
          storedArchive(stream, logs.get(stream) as ArchivedLog, note, stream === wholeLog ? name : undefined),
        );
      return true;
    },
    forget: () => store.compact({ audit: last }),
  };
}

/** Walks the events, and holds what they come to against what is signed of each log, and every hash that is kept of them. */
async function provenLogs(
  { store, form }: LogToArchive,
  records: readonly LogRecord[],
  {
    begin,
    signed,
  }: {
    readonly begin: ConstructorParameters<typeof LogWalk>[0];
    readonly signed: (stream: string) => Promise<SignedLog>;
  },
): Promise<ReadonlyMap<string, ArchivedLog>> {
  const tiles = new Map<string, Awaited<ReturnType<typeof tileComparison>>>();
  for (const stream of new Set([wholeLog, ...records.map((record) => record.stream)])) {
    const { range, archived } = await signed(stream);
    if (range === undefined) continue;
    const tiled = await tiledSize(store, stream, range.size);
    tiles.set(stream, await tileComparison(store, stream, tiled, archived?.range.size ?? 0));
  }
  const walk = new LogWalk(begin, form, (stream) => tiles.get(stream)?.onNode);
  for (const record of records) await walk.take(record);
  for (const [stream, { range }] of walk.logs()) {
    const { range: head, gaps, archived } = await signed(stream);
    if (head === undefined) continue;
    const compared = tiles.get(stream);
    await compared?.compare(true);
    const claim = { kind: "consistency", first: range.size, second: head.size } as const;
    const state = { stream, size: head.size, gaps, form, archived: archived?.range.size };
    const tree = await readTree(store, claimRanges(claim, head.size), state);
    const proven = proveClaim(claim, { size: head.size, root: head.root() }, (leaves) => tree.root(leaves), form.sha256);
    const kept = compared?.wrong() === undefined && (await tiledSize(store, stream, head.size)) >= range.size;
    if (proven === undefined || !kept) fail("hash_differs", stream);
    else if (!bytesEqual(proven.root, range.root())) fail("root_differs", stream);
  }
  return walk.logs();
}

function fail(flaw: AuditFinding["flaw"], stream: string): never {
  throw new AuditTampered({ flaw, stream, sequence: null });
}

const timeOf = (event: JsonObject): string => String(event["timestamp"]);

async function dueRecords(store: DocumentStore, behind: number, due: SegmentDue): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  const isDue = ({ seq, event }: LogRecord): boolean => seq <= due.upTo && timeOf(event) < due.before;
  for await (const page of recordsInOrder(store, wholeLog, behind + 1)) {
    const next = page.findIndex((record) => !isDue(record));
    records.push(...page.slice(0, next < 0 ? page.length : next));
    if (next >= 0 || records.length >= SEGMENT_EVENTS) break;
  }
  const enough = records.length >= SEGMENT_EVENTS || (records[0] !== undefined && timeOf(records[0].event) < due.alsoFew);
  return enough ? records.slice(0, SEGMENT_EVENTS) : [];
}

const PIECE = 64 * 1024;

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

/** A file of a segment. */
async function readWhole(target: BackupTarget, id: string, file: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of target.read(id, file)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
