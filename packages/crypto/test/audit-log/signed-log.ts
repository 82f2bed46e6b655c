import { hex, nobleCrypto } from "@seneschal/crypto";
import { testLogForm as form } from "@seneschal/crypto/arbitraries";
import {
  type ArchivedLog,
  type ArchiveLink,
  archivedCheckpoint,
  archiveLink,
  eventLine,
  LogGrowth,
  type LogIdentity,
  type LogRecord,
  LogWalk,
  logCheckpoint,
  manifestText,
  parseEventLine,
  type SegmentEvents,
  type SegmentName,
  type StreamCheckpoint,
  segmentId,
} from "@seneschal/crypto/audit-log";
import { CompactRange, signNote } from "@seneschal/crypto/merkle";
import { utf8Encode } from "@seneschal/kernel";

const seed = new Uint8Array(32).fill(9);
const key = { name: "one", publicKey: nobleCrypto.ed25519PublicKey(seed) };
export const log: LogIdentity = { form, instance: "one", key };
export const sign = (text: string): Promise<string> => signNote(text, key, (message) => nobleCrypto.ed25519Sign(seed, message));
export const nothingMissing = { accepted: [], after: undefined };
export const emptyTree = () => ({ range: new CompactRange(0, [], form.sha256), gaps: [] });

/** A log that has taken records, all of which are there. */
export function grown(records: readonly LogRecord[]): LogGrowth {
  const growth = new LogGrowth(emptyTree(), form);
  for (const record of records) {
    if (!growth.knows(record.stream)) growth.open(record.stream, emptyTree());
    const finding = growth.take(record, nothingMissing);
    if (finding !== undefined) throw new Error(finding.flaw);
  }
  return growth;
}

export async function checkpointsOf(growth: LogGrowth): Promise<readonly StreamCheckpoint[]> {
  const kept: StreamCheckpoint[] = [];
  for (const [stream, tree] of growth.grown()) {
    const { text, kept: state } = logCheckpoint(log, stream, tree);
    kept.push({ ...state, note: await sign(text) });
  }
  return kept;
}

/** The files of a segment. */
export interface SegmentText {
  readonly id: string;
  readonly manifest: string;
  readonly events: string;
}

/** An archive of records in segments of so many. */
export async function archiveOf(records: readonly LogRecord[], size: number): Promise<readonly SegmentText[]> {
  const segments: SegmentText[] = [];
  const trees = new Map<string, ArchivedLog>();
  let previous: SegmentName | null = null;
  for (let at = 0; at < records.length; at += size) {
    const part = records.slice(at, at + size);
    const walk = new LogWalk((stream) => trees.get(stream) ?? emptyTree(), form);
    for (const record of part) walk.take(record);
    const logs: { stream: string; note: string }[] = [];
    for (const [stream, tree] of walk.logs()) {
      trees.set(stream, tree);
      logs.push({ stream, note: await sign(archivedCheckpoint(log, stream, tree).text) });
    }
    const [first, last] = [part[0]?.seq as number, part.at(-1)?.seq as number];
    const id = segmentId(first, last);
    const events = part.map(eventLine).join("");
    const sha256 = hex(form.sha256(utf8Encode(events)));
    const public_key = Buffer.from(key.publicKey).toString("base64");
    const manifest: string = manifestText(form, { instance: "one", first, last, previous, logs, sha256, public_key });
    segments.push({ id, manifest, events });
    previous = { id, sha256: hex(form.sha256(utf8Encode(manifest))) };
  }
  return segments;
}

/** Reads segments as whoever verifies them does. */
export function opened(segments: readonly SegmentText[]) {
  const texts = new Map<ArchiveLink, string>();
  const chain = segments.map(({ id, manifest, events }) => {
    const link = archiveLink(manifest, id, [form]);
    texts.set(link, events);
    return link;
  });
  const eventsOf = (link: ArchiveLink): SegmentEvents => {
    const text = texts.get(link) ?? "";
    return { records: linesOf(text), sha256: () => hex(form.sha256(utf8Encode(text))) };
  };
  return { chain, eventsOf };
}

function* linesOf(text: string): Generator<LogRecord> {
  for (const line of text.split("\n").slice(0, -1)) yield parseEventLine(line);
}

/** Records as a store hands them out. */
export async function* pagesOf(records: readonly LogRecord[], size = 7): AsyncGenerator<readonly LogRecord[]> {
  for (let at = 0; at < records.length; at += size) yield records.slice(at, at + size);
}
