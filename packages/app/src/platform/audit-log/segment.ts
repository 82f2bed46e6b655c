import type { SignedGap } from "@seneschal/core/audit";
import { bytesEqual } from "@seneschal/crypto";
import type { CompactRange, NoteKey } from "@seneschal/crypto/merkle";
import { CodedError } from "@seneschal/kernel";
import { type ArchivedLog, parseArchiveNote, type SegmentName } from "./archived.ts";
import { gapLeaf } from "./gaps.ts";
import type { LogForm, LogRecord } from "./log-form.ts";
import { wholeLog } from "./records.ts";

/** The files of a segment. The manifest is written last: without one it is no segment. */
export const segmentFiles = { events: "events.jsonl", manifest: "manifest.json" } as const;

const VERSION = "v1";

/** What a segment says of itself. Every process makes the same of the same events. */
export interface SegmentManifest {
  readonly format: string;
  readonly instance: string;
  /** Numbers of the first and the last event in the whole log. */
  readonly first: number;
  readonly last: number;
  /** Of the file of events, hex. */
  readonly sha256: string;
  /** The segment before; null: it is the first. */
  readonly previous: SegmentName | null;
  /** Each log that has an event here, the whole log among them, as far as it is archived with this segment. */
  readonly logs: readonly { readonly stream: string; readonly note: string }[];
  /** That signed the notes, base64. It is worth what it is compared with. */
  readonly public_key: string;
}

/** Segments sort by their events; two that begin alike and end otherwise are two. */
export function segmentId(first: number, last: number): string {
  return [first, last].map((number) => String(number).padStart(16, "0")).join("-");
}

/** What a segment may be called; whatever else lies beside them is passed over. */
export function isSegmentId(id: string): boolean {
  return /^\d{16}-\d{16}$/.test(id);
}

/** The manifest as it is written. */
export function manifestText(form: LogForm, manifest: Omit<SegmentManifest, "format">): string {
  return `${JSON.stringify({ format: `${form.segments}/${VERSION}`, ...manifest }, null, 1)}\n`;
}

const archiveDamaged = (message: string, details: Record<string, string | number | null> = {}): CodedError =>
  new CodedError("audit_archive_damaged", message, details);

/** Reads a manifest of a log in one of these forms. Throws `audit_archive_damaged`; `unknown_version` for the format of a later release. */
export function parseManifest(
  text: string,
  id: string,
  forms: readonly LogForm[],
): { readonly manifest: SegmentManifest; readonly form: LogForm } {
  let found: SegmentManifest;
  try {
    found = JSON.parse(text) as SegmentManifest;
  } catch (cause) {
    throw new CodedError("audit_archive_damaged", `the manifest of segment ${id} cannot be read`, { segment: id }, cause);
  }
  const { format, first, last, logs, sha256, instance, public_key } = found ?? {};
  const [name, version = ""] = typeof format === "string" ? format.split("/") : [];
  const form = forms.find(({ segments }) => segments === name);
  if (form !== undefined && /^v\d+$/.test(version) && version !== VERSION)
    throw new CodedError("unknown_version", `segment ${id} has the format ${format}; this release reads ${name}/${VERSION}`, {
      segment: id,
    });
  const shaped =
    format === `${form?.segments}/${VERSION}` &&
    Array.isArray(logs) &&
    [instance, public_key, sha256].every((text) => typeof text === "string") &&
    segmentId(first, last) === id;
  if (form === undefined || !shaped)
    throw archiveDamaged(`the manifest of segment ${id} is not one of this segment`, { segment: id });
  return { manifest: found, form };
}

/** An event as a segment holds it: one line of JSON. */
export function eventLine({ seq, stream, stream_seq, event }: LogRecord): string {
  return `${JSON.stringify({ seq, stream, stream_seq, event })}\n`;
}

/** The events of a segment, line by line. Throws `audit_archive_damaged`. */
export async function* eventsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LogRecord> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  const parse = (line: string): LogRecord => {
    try {
      const found = JSON.parse(line) as LogRecord;
      const { seq, stream, stream_seq, event } = found;
      if (typeof seq !== "number" || typeof stream_seq !== "number" || typeof stream !== "string" || typeof event !== "object")
        throw new TypeError("not the members of an event");
      return found;
    } catch (cause) {
      throw new CodedError("audit_archive_damaged", "a line of a segment is no event", {}, cause);
    }
  };
  try {
    for await (const chunk of chunks) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() as string;
      for (const line of lines) yield parse(line);
    }
  } catch (cause) {
    if (cause instanceof TypeError) throw new CodedError("audit_archive_damaged", "a segment is not UTF-8", {}, cause);
    throw cause;
  }
  if (rest !== "") throw archiveDamaged("a segment ends within a line");
}

/** Where a log stands while its events pass. */
interface Walked {
  readonly range: CompactRange;
  readonly gaps: readonly SignedGap[];
  seq: number;
  until: string;
}

/** Takes events in the order of the whole log, and builds the tree of it and of each of their streams. */
export class LogWalk {
  readonly #logs = new Map<string, Walked>();
  readonly #begin: (stream: string) => Promise<Pick<ArchivedLog, "range" | "gaps">>;
  readonly #form: LogForm;
  readonly #passed: (stream: string) => Parameters<CompactRange["appendHash"]>[1];

  /**
   * @param begin where a log goes on from, and the gaps that it may have
   * @param passed sees the subtrees of a log
   */
  constructor(
    begin: (stream: string) => Promise<Pick<ArchivedLog, "range" | "gaps">>,
    form: LogForm,
    passed: (stream: string) => Parameters<CompactRange["appendHash"]>[1] = () => undefined,
  ) {
    this.#begin = begin;
    this.#form = form;
    this.#passed = passed;
  }

  /** Throws `audit_archive_damaged` where an event is not the next of its log. */
  async take(record: LogRecord): Promise<void> {
    const leaf = this.#form.leaf(record);
    for (const [stream, number] of [
      [wholeLog, record.seq],
      [record.stream, record.stream_seq],
    ] as const) {
      const log = this.#logs.get(stream) ?? { ...(await this.#begin(stream)), seq: 0, until: "" };
      this.#logs.set(stream, log);
      const { range, gaps } = log;
      const onNode = this.#passed(stream);
      for (const { first, last } of gaps)
        for (let gone = first; range.size + 1 === gone && gone <= last; gone += 1)
          range.appendHash(gapLeaf(stream, gone, this.#form.sha256), onNode);
      if (number !== range.size + 1)
        throw archiveDamaged(`event ${range.size + 1} of ${stream} is not where it should be`, {
          stream,
          sequence: range.size + 1,
        });
      range.appendHash(leaf, onNode);
      Object.assign(log, { seq: record.seq, until: String(record.event["timestamp"]) });
    }
  }

  /** Each log that had an event, as it stands now. */
  logs(): ReadonlyMap<string, ArchivedLog> {
    return this.#logs;
  }
}

/** Throws `audit_archive_damaged` unless logs are what the notes of a manifest say, signed by the key. */
export function requireLogs(
  logs: ReadonlyMap<string, ArchivedLog>,
  { logs: notes, instance }: SegmentManifest,
  { form, key }: { readonly form: LogForm; readonly key: NoteKey },
): void {
  if (notes.length !== logs.size) throw archiveDamaged("a segment has events of other logs than it says");
  for (const { stream, note } of notes) {
    const wrong = archiveDamaged(`the archived log of ${stream} is not what was signed`, { stream });
    let said: ReturnType<typeof parseArchiveNote>;
    try {
      said = parseArchiveNote(form, note, instance, stream, key);
    } catch {
      throw wrong;
    }
    const log = logs.get(stream);
    const same = log !== undefined && log.range.size === said.size && log.seq === said.seq && log.until === said.until;
    if (!same || !bytesEqual(log.range.root(), said.root)) throw wrong;
  }
}
