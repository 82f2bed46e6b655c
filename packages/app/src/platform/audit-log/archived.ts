import { gapLine, parseGapLine, type SignedGap } from "@seneschal/core/audit";
import { bytesEqual } from "@seneschal/crypto";
import { CompactRange, checkpointText, type NoteKey, parseCheckpoint, verifyNote } from "@seneschal/crypto/merkle";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { base64, bytes } from "../bytes.ts";
import { collection } from "../collection.ts";
import type { LogForm } from "./log-form.ts";
import { readable } from "./readable.ts";
import { wholeLog } from "./records.ts";

/** How far a stream, or the whole log, is archived: what its events stand for once they are not in the store any more. */
interface StoredArchive {
  readonly stream: string;
  readonly size: number;
  /** Roots of the perfect subtrees over what is archived, base64. */
  readonly peaks: readonly string[];
  /** C2SP signed note of {@link archiveText}. */
  readonly note: string;
  /** Of the whole log: the newest segment, and the SHA-256 of its manifest, hex. */
  readonly segment?: SegmentName;
}

/** A segment of the archive by its manifest. */
export interface SegmentName {
  readonly id: string;
  readonly sha256: string;
}

export const auditArchives = collection<StoredArchive>("audit_archives");

/** A log as far as it is archived. */
export interface ArchivedLog {
  readonly range: CompactRange;
  readonly gaps: readonly SignedGap[];
  /** The number of its last event in the whole log. */
  readonly seq: number;
  /** The time of that event. */
  readonly until: string;
}

/** What is signed of a log as far as it is archived. */
export function archiveText(form: LogForm, instance: string, stream: string, { range, gaps, seq, until }: ArchivedLog): string {
  const extensions = [`last ${seq} ${until}`, ...gaps.filter(({ last }) => last <= range.size).map(gapLine)];
  return checkpointText({ origin: form.archiveOrigin(instance, stream), size: range.size, root: range.root(), extensions });
}

/** What a note says of an archive, if the key has signed just that; throws otherwise. */
export function parseArchiveNote(form: LogForm, note: string, instance: string, stream: string, key: NoteKey) {
  const { origin, size, root, extensions = [] } = parseCheckpoint(verifyNote(note, [key]).text);
  const [last = "", ...gaps] = extensions;
  const [, seq, until = ""] = /^last ([1-9]\d{0,15}) (\S+)$/.exec(last) ?? [];
  if (origin !== form.archiveOrigin(instance, stream) || seq === undefined) throw new RangeError("not the note of this archive");
  return { size, root, seq: Number(seq), until, gaps: gaps.map(parseGapLine) };
}

/** How far a log is archived; `damaged` when the key has not signed what is stored. */
export function openArchived(
  stored: StoredArchive,
  stream: string,
  { form, instance, key }: { readonly form: LogForm; readonly instance: string; readonly key: NoteKey },
): ArchivedLog | "damaged" {
  try {
    const { size, root, ...said } = parseArchiveNote(form, stored.note, instance, stream, key);
    const range = new CompactRange(size, stored.peaks.map(bytes), form.sha256);
    return stored.size === size && bytesEqual(range.root(), root) ? { range, ...said } : "damaged";
  } catch {
    return "damaged";
  }
}

/** How far a log is archived by what is in the store; `damaged` when that is not what the key has signed, `undefined`: it is not archived. */
export async function archivedLog(
  store: DocumentStore,
  stream: string,
  given: Parameters<typeof openArchived>[2],
): Promise<ArchivedLog | "damaged" | undefined> {
  const stored = await readable(() => store.get(auditArchives.name, stream));
  return stored === undefined || stored === "damaged"
    ? stored
    : openArchived(stored.doc as unknown as StoredArchive, stream, given);
}

/** The newest segment of the archive, by the database; nobody vouches for it. */
export async function archivedSegment(store: DocumentStore): Promise<SegmentName | undefined> {
  const stored = await readable(() => store.get(auditArchives.name, wholeLog));
  return stored === undefined || stored === "damaged" ? undefined : (stored.doc as unknown as StoredArchive).segment;
}

/** What an archive has of a log: its events up to this number, of up to this time, are read there. */
export interface ArchivedPart {
  readonly through: number;
  readonly until: string;
}

/** What to tell of an archive to who reads a period that begins then, or all of a log; nothing where it does not reach into that. */
export function archivedIn(archived: ArchivedPart | undefined, since?: string): { archived?: ArchivedPart } {
  return archived === undefined || (since !== undefined && since > archived.until) ? {} : { archived };
}

/** The header of an export that lacks what is archived. */
export function archivedHeader({ archived }: { readonly archived?: ArchivedPart }): Record<string, string> {
  return archived === undefined ? {} : { "audit-archived": `through=${archived.through}; until=${archived.until}` };
}

/** What is stored of a log as far as it is archived. */
export function storedArchive(stream: string, { range }: ArchivedLog, note: string, segment?: SegmentName): StoredArchive {
  return { stream, size: range.size, peaks: range.hashes.map(base64), note, ...(segment && { segment }) };
}
