import { CodedError, checkArgument } from "@seneschal/kernel";
import type { SegmentName } from "./archived.ts";
import type { LogForm, LogRecord } from "./record.ts";

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

/**
 * Segments sort by their events; two that begin alike and end otherwise are two.
 *
 * @example
 * ```ts
 * import { segmentId } from "@seneschal/crypto/audit-log";
 * console.log(segmentId(1, 8192)); // 0000000000000001-0000000000008192
 * ```
 */
export function segmentId(first: number, last: number): string {
  checkArgument("first", first, "number");
  checkArgument("last", last, "number");
  return [first, last].map((number) => String(number).padStart(16, "0")).join("-");
}

/**
 * What a segment may be called; whatever else lies beside them is passed over.
 *
 * @example
 * ```ts
 * import { isSegmentId, segmentId } from "@seneschal/crypto/audit-log";
 * console.log(isSegmentId(segmentId(1, 8192)), isSegmentId("probe")); // true false
 * ```
 */
export function isSegmentId(id: string): boolean {
  checkArgument("id", id, "string");
  return /^\d{16}-\d{16}$/.test(id);
}

/**
 * The manifest as it is written.
 *
 * @example
 * ```ts
 * import { manifestText } from "@seneschal/crypto/audit-log";
 * import { testLogForm } from "@seneschal/crypto/arbitraries";
 * const public_key = "AAAA";
 * const text = manifestText(testLogForm, { instance: "one", first: 1, last: 9, sha256: "00", previous: null, logs: [], public_key });
 * console.log(JSON.parse(text).format); // test.segment/v1
 * ```
 */
export function manifestText(form: LogForm, manifest: Omit<SegmentManifest, "format">): string {
  checkArgument("form", form, "object");
  checkArgument("manifest", manifest, "object");
  return `${JSON.stringify({ format: `${form.segments}/${VERSION}`, ...manifest }, null, 1)}\n`;
}

/**
 * `audit_archive_damaged`: an archive is not what was written, or not of this log.
 *
 * @example
 * ```ts
 * import { archiveDamaged } from "@seneschal/crypto/audit-log";
 * console.log(archiveDamaged("a line is gone").code); // audit_archive_damaged
 * ```
 */
export function archiveDamaged(
  message: string,
  details: Readonly<Record<string, string | number>> = {},
  cause?: unknown,
): CodedError<"audit_archive_damaged"> {
  return new CodedError("audit_archive_damaged", message, details, cause);
}

/**
 * Reads a manifest of a log in one of these forms. Throws `audit_archive_damaged`; `unknown_version` for the format of a later release.
 *
 * @example
 * ```ts
 * import { manifestText, parseManifest, segmentId } from "@seneschal/crypto/audit-log";
 * import { testLogForm } from "@seneschal/crypto/arbitraries";
 * const manifest = { instance: "one", first: 1, last: 9, sha256: "00", previous: null, logs: [], public_key: "AAAA" };
 * console.log(parseManifest(manifestText(testLogForm, manifest), segmentId(1, 9), [testLogForm]).manifest.last); // 9
 * ```
 */
export function parseManifest(
  text: string,
  id: string,
  forms: readonly LogForm[],
): { readonly manifest: SegmentManifest; readonly form: LogForm } {
  checkArgument("text", text, "string");
  checkArgument("forms", forms, "array");
  let found: SegmentManifest;
  try {
    found = JSON.parse(text) as SegmentManifest;
  } catch (cause) {
    throw archiveDamaged(`the manifest of segment ${id} cannot be read`, { segment: id }, cause);
  }
  const { format, first, last, previous, logs, sha256, instance, public_key } = found ?? {};
  const [name, version = ""] = typeof format === "string" ? format.split("/") : [];
  const form = forms.find(({ segments }) => segments === name);
  if (form !== undefined && /^v\d+$/.test(version) && version !== VERSION)
    throw new CodedError("unknown_version", `segment ${id} has the format ${format}; this release reads ${name}/${VERSION}`, {
      segment: id,
    });
  const shaped =
    format === `${form?.segments}/${VERSION}` &&
    Array.isArray(logs) &&
    (previous === null || isSegmentId(String(previous?.id))) &&
    [instance, public_key, sha256].every((text) => typeof text === "string") &&
    [first, last].every((number) => typeof number === "number") &&
    segmentId(first, last) === id;
  if (form === undefined || !shaped)
    throw archiveDamaged(`the manifest of segment ${id} is not one of this segment`, { segment: id });
  return { manifest: found, form };
}

/**
 * An event as a segment holds it: one line of JSON.
 *
 * @example
 * ```ts
 * import { eventLine } from "@seneschal/crypto/audit-log";
 * console.log(eventLine({ seq: 9, stream: "acme", stream_seq: 4, event: { type: "encrypt" } }).trim()); // {"seq":9,"stream":"acme","stream_seq":4,"event":{"type":"encrypt"}}
 * ```
 */
export function eventLine(record: LogRecord): string {
  checkArgument("record", record, "object");
  const { seq, stream, stream_seq, event } = record;
  return `${JSON.stringify({ seq, stream, stream_seq, event })}\n`;
}

/**
 * The event of such a line. Throws `audit_archive_damaged`.
 *
 * @example
 * ```ts
 * import { parseEventLine } from "@seneschal/crypto/audit-log";
 * console.log(parseEventLine('{"seq":9,"stream":"acme","stream_seq":4,"event":{}}').stream_seq); // 4
 * ```
 */
export function parseEventLine(line: string): LogRecord {
  try {
    const found = JSON.parse(line) as LogRecord;
    const { seq, stream, stream_seq, event } = found;
    if (typeof seq !== "number" || typeof stream_seq !== "number" || typeof stream !== "string" || typeof event !== "object")
      throw new TypeError("not the members of an event");
    return found;
  } catch (cause) {
    throw archiveDamaged("a line of a segment is no event", {}, cause);
  }
}

/** The most events of a segment. */
const SEGMENT_EVENTS = 8192;
/** A segment with few events waits so long for more: an archive of a quiet instance grows by one a day. */
const FEW_MS = 86_400_000;

/** Which events are to be archived. */
export interface SegmentDue {
  /** Those of before this time (RFC 3339), */
  readonly before: string;
  /** up to this number of the whole log: others wait for somebody. */
  readonly upTo: number;
  /** Fewer than 8,192 are archived only when the first of them is of before this time. */
  readonly alsoFew: string;
}

/**
 * What is due of a log whose events stay `olderThan` milliseconds at least and until everybody has heard them, who has up to these numbers.
 *
 * @param given.few whether few events wait a day for more
 *
 * @example
 * ```ts
 * import { segmentDue } from "@seneschal/crypto/audit-log";
 * const due = segmentDue({ now: 86_400_000, olderThan: 3_600_000, few: false, heard: [7, 9] });
 * console.log(due.before, due.upTo); // 1970-01-01T23:00:00.000Z 7
 * ```
 */
export function segmentDue(given: {
  readonly now: number;
  readonly olderThan: number;
  readonly few: boolean;
  readonly heard: readonly number[];
}): SegmentDue {
  checkArgument("given", given, "object");
  const { now, olderThan, few, heard } = given;
  return {
    before: new Date(now - olderThan).toISOString(),
    alsoFew: new Date(now - olderThan - (few ? FEW_MS : 0)).toISOString(),
    upTo: Math.min(Number.MAX_SAFE_INTEGER, ...heard),
  };
}

/**
 * The records of the next segment, of those of the whole log in order; none: nothing is due.
 *
 * @example
 * ```ts
 * import { nextSegment } from "@seneschal/crypto/audit-log";
 * async function* pages() {
 *   yield [1, 2].map((seq) => ({ seq, stream: "acme", stream_seq: seq, event: { timestamp: `2026-01-0${seq}T00:00:00.000Z` } }));
 * }
 * const before = "2026-01-02T00:00:00.000Z";
 * console.log((await nextSegment(pages(), { before, alsoFew: before, upTo: 9 })).map(({ seq }) => seq)); // [ 1 ]
 * ```
 */
export async function nextSegment(pages: AsyncIterable<readonly LogRecord[]>, due: SegmentDue): Promise<readonly LogRecord[]> {
  checkArgument("pages", pages, "object");
  checkArgument("due", due, "object");
  const timeOf = ({ event }: LogRecord): string => String(event["timestamp"]);
  const records: LogRecord[] = [];
  for await (const page of pages) {
    const end = page.findIndex((record) => record.seq > due.upTo || timeOf(record) >= due.before);
    records.push(...page.slice(0, end < 0 ? page.length : end));
    if (end >= 0 || records.length >= SEGMENT_EVENTS) break;
  }
  const enough = records.length >= SEGMENT_EVENTS || (records[0] !== undefined && timeOf(records[0]) < due.alsoFew);
  return enough ? records.slice(0, SEGMENT_EVENTS) : [];
}
