import type { BackupTarget } from "@seneschal/adapters/backups";
import { bytesEqual, hex } from "@seneschal/crypto";
import {
  type ArchivedLog,
  archiveDamaged,
  archivedCheckpoint,
  eventLine,
  type LogForm,
  type LogRecord,
  type LogTree,
  LogWalk,
  manifestText,
  nextSegment,
  parseManifest,
  requireLogs,
  type SegmentDue,
  type SegmentName,
  type SignedGap,
  segmentFiles,
  segmentId,
  type TileComparison,
  wholeLog,
} from "@seneschal/crypto/audit-log";
import { CompactRange, claimRanges, type NoteKey, proveClaim } from "@seneschal/crypto/merkle";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { base64 } from "../bytes.ts";
import { archivedSegment, auditArchives } from "./archived.ts";
import { type AuditFinding, AuditTampered } from "./finding.ts";
import type { GuardedWrites } from "./guarded-writes.ts";
import { eventsOf, readFile } from "./read-archive.ts";
import { recordsInOrder } from "./records.ts";
import { keptTiles, readTree, tiledSize } from "./tiles.ts";

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
  const signed = async (stream: string): Promise<SignedLog> =>
    (await inside.signed(stream)) ?? fail("checkpoint_missing", stream);
  const whole = await inside.signed(wholeLog);
  if (whole === undefined) return undefined;
  const previous = (await archivedSegment(store)) ?? null;
  const begun = whole.archived?.range.size ?? 0;
  // What a crash left behind.
  if (begun > 0) await store.compact({ audit: begun });
  const upTo = Math.min(due.upTo, whole.size);
  const records = await nextSegment(recordsInOrder(store, wholeLog, begun + 1), { ...due, upTo });
  const [first, last] = [records[0]?.seq, records.at(-1)?.seq];
  if (first === undefined || last === undefined) return undefined;

  const known = new Map<string, SignedLog>();
  for (const stream of new Set([wholeLog, ...records.map((record) => record.stream)])) {
    await inside.tile(stream);
    known.set(stream, await signed(stream));
  }
  const begin = (stream: string): LogTree => {
    const { archived, gaps } = known.get(stream) as SignedLog;
    return { range: new CompactRange(archived?.range.size, archived?.range.hashes, sha256), gaps };
  };
  const logs = await provenLogs(inside, records, { begin, known });

  const notes: { stream: string; note: string; kept: ReturnType<typeof archivedCheckpoint>["kept"] }[] = [];
  for (const [stream, log] of logs) {
    const { text, kept } = archivedCheckpoint(inside, stream, log);
    notes.push({ stream, note: await inside.sign(text), kept });
  }
  const id = segmentId(first, last);
  const events = Buffer.from(records.map(eventLine).join(""));
  const manifest = Buffer.from(
    manifestText(form, {
      instance,
      first,
      last,
      previous,
      logs: notes.map(({ stream, note }) => ({ stream, note })),
      sha256: hex(sha256(events)),
      public_key: base64(whole.key.publicKey),
    }),
  );
  await target.write(id, segmentFiles.events, pieces(events));
  await target.write(id, segmentFiles.manifest, pieces(manifest));

  const [eventsBack, manifestBack] = await Promise.all([
    readFile(target, id, segmentFiles.events),
    readFile(target, id, segmentFiles.manifest),
  ]);
  if (!bytesEqual(eventsBack, events) || !bytesEqual(manifestBack, manifest))
    throw archiveDamaged(`segment ${id} is not what was written`, { segment: id });
  const again = new LogWalk(begin, form);
  for await (const record of eventsOf(pieces(eventsBack))) again.take(record);
  const written = parseManifest(manifestBack.toString("utf8"), id, [form]).manifest;
  requireLogs(again.logs(), written, { form, instance, key: whole.key });

  const name = { id, sha256: hex(sha256(manifest)) };
  return {
    name,
    first,
    last,
    async keep(unit) {
      const now = await unit.get(auditArchives, wholeLog);
      if ((now?.size ?? 0) !== begun) return false;
      for (const { stream, note, kept } of notes)
        unit.put(auditArchives, stream, { ...kept, note, ...(stream === wholeLog && { segment: name }) });
      return true;
    },
    forget: () => store.compact({ audit: last }),
  };
}

/** Walks the events, and holds what they come to against what is signed of each log, and every hash that is kept of them. */
async function provenLogs(
  { store, form }: LogToArchive,
  records: readonly LogRecord[],
  { begin, known }: { readonly begin: (stream: string) => LogTree; readonly known: ReadonlyMap<string, SignedLog> },
): Promise<ReadonlyMap<string, ArchivedLog>> {
  const tiles = new Map<string, TileComparison>();
  for (const [stream, { range, archived }] of known) {
    if (range === undefined) continue;
    const tiled = await tiledSize(store, stream, range.size);
    tiles.set(stream, await keptTiles(store, stream, form).comparison(tiled, archived?.range.size));
  }
  const walk = new LogWalk(begin, form, (stream) => tiles.get(stream)?.onNode);
  for (const record of records) walk.take(record);
  for (const [stream, { range }] of walk.logs()) {
    const { range: head, gaps, archived } = known.get(stream) as SignedLog;
    if (head === undefined) continue;
    const compared = tiles.get(stream);
    await compared?.compare(true);
    const claim = { kind: "consistency", first: range.size, second: head.size } as const;
    const state = { stream, size: head.size, gaps, form, archived: archived?.range.size };
    const tree = await readTree(store, claimRanges(claim, head.size), state);
    const proven = proveClaim(claim, { size: head.size, root: head.root() }, (leaves) => tree.root(leaves), form.sha256);
    const kept = compared?.wrong === undefined && (await tiledSize(store, stream, head.size)) >= range.size;
    if (proven === undefined || !kept) fail("hash_differs", stream);
    else if (!bytesEqual(proven.root, range.root())) fail("root_differs", stream);
  }
  return walk.logs();
}

function fail(flaw: AuditFinding["flaw"], stream: string): never {
  throw new AuditTampered({ flaw, stream, sequence: null });
}

const PIECE = 64 * 1024;

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}
