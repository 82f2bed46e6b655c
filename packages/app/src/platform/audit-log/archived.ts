import {
  type ArchivedLog,
  type LogIdentity,
  openArchived,
  type SegmentName,
  type StoredArchive,
  wholeLog,
} from "@seneschal/crypto/audit-log";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { collection } from "../collection.ts";
import { readable } from "./readable.ts";

export const auditArchives = collection<StoredArchive>("audit_archives");

/** How far a log is archived by what is in the store; `damaged` when that is not what the key has signed, `undefined`: it is not archived. */
export async function archivedLog(
  store: Pick<DocumentStore, "get">,
  stream: string,
  log: LogIdentity,
): Promise<ArchivedLog | "damaged" | undefined> {
  const stored = await readable(() => store.get(auditArchives.name, stream));
  return stored === undefined || stored === "damaged"
    ? stored
    : openArchived(stored.doc as unknown as StoredArchive, stream, log);
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

/** That part of what is archived of a log, if the key has signed it. */
export function archivedPart(archived: ArchivedLog | "damaged" | undefined): ArchivedPart | undefined {
  return archived === undefined || archived === "damaged" ? undefined : { through: archived.range.size, until: archived.until };
}

/** What to tell of an archive to who reads a period that begins then, or all of a log; nothing where it does not reach into that. */
export function archivedIn(archived: ArchivedPart | undefined, since?: string): { archived?: ArchivedPart } {
  return archived === undefined || (since !== undefined && since > archived.until) ? {} : { archived };
}

/** The header of an export that lacks what is archived. */
export function archivedHeader({ archived }: { readonly archived?: ArchivedPart }): Record<string, string> {
  return archived === undefined ? {} : { "audit-archived": `through=${archived.through}; until=${archived.until}` };
}
