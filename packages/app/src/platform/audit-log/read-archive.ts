import { createHash } from "node:crypto";
import type { BackupTarget } from "@seneschal/adapters/backups";
import {
  type ArchiveExpectations,
  type ArchiveLink,
  type ArchiveVerdict,
  archiveDamaged,
  archiveLink,
  isSegmentId,
  type LogForm,
  type LogRecord,
  parseEventLine,
  type SegmentEvents,
  type SegmentName,
  segmentFiles,
  verifyArchive,
} from "@seneschal/crypto/audit-log";
import { checkArgument } from "@seneschal/kernel";

type Archive = Pick<BackupTarget, "list" | "read">;

/** Verifies an archive by its files alone: see `verifyArchive` of `@seneschal/crypto/audit-log`. `forms`: of log that it may be of. */
export async function verifyArchiveFiles(
  target: Archive,
  expected: ArchiveExpectations & { readonly forms: readonly LogForm[] },
): Promise<ArchiveVerdict> {
  checkArgument("target", target, "object");
  checkArgument("expected", expected, "object");
  const { forms, ...expectations } = expected;
  return verifyArchive(await chainOf(target, forms), ({ name }) => segmentEvents(target, name.id), expectations);
}

/** The segments from the first to the newest, or to the one that is named, each named by the one behind it. Others are what a crash or another process left: their events are in these too. */
export async function chainOf(target: Archive, forms: readonly LogForm[], newest?: SegmentName): Promise<readonly ArchiveLink[]> {
  const textOf = async (id: string): Promise<string | undefined> => {
    try {
      return (await readFile(target, id, segmentFiles.manifest)).toString("utf8");
    } catch {
      return undefined;
    }
  };
  const chain: ArchiveLink[] = [];
  let named = newest ?? null;
  if (named === null) {
    const ids = (await target.list()).filter(isSegmentId);
    for (const id of ids.sort((a, b) => (a.slice(17) < b.slice(17) ? 1 : -1))) {
      const text = await textOf(id);
      if (text === undefined) continue;
      const link = archiveLink(text, id, forms);
      chain.unshift(link);
      named = link.manifest.previous;
      break;
    }
  }
  while (named !== null) {
    const text = await textOf(named.id);
    if (text === undefined) throw archiveDamaged(`segment ${named.id} is missing`);
    const link = archiveLink(text, named.id, forms, named);
    chain.unshift(link);
    named = link.manifest.previous;
  }
  return chain;
}

/** The events of a segment as its file has them. */
export function segmentEvents(target: Pick<BackupTarget, "read">, id: string): SegmentEvents {
  const hash = createHash("sha256");
  const passing = async function* () {
    for await (const chunk of target.read(id, segmentFiles.events)) {
      hash.update(chunk);
      yield chunk;
    }
  };
  return { records: eventsOf(passing()), sha256: () => hash.digest("hex") };
}

/** The events of a segment, line by line. Throws `audit_archive_damaged`. */
export async function* eventsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LogRecord> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  try {
    for await (const chunk of chunks) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() as string;
      for (const line of lines) yield parseEventLine(line);
    }
  } catch (cause) {
    if (cause instanceof TypeError) throw archiveDamaged("a segment is not UTF-8", {}, cause);
    throw cause;
  }
  if (rest !== "") throw archiveDamaged("a segment ends within a line");
}

/** A file of a segment. */
export async function readFile(target: Pick<BackupTarget, "read">, id: string, file: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of target.read(id, file)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
