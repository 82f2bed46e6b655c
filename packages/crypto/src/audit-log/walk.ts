import { checkArgument } from "@seneschal/kernel";
import { bytesEqual } from "../bytes.ts";
import type { CompactRange } from "../merkle/compact-range.ts";
import { type ArchivedLog, readArchiveNote } from "./archived.ts";
import { passGaps, type SignedGap } from "./gaps.ts";
import { type LogForm, type LogIdentity, type LogRecord, wholeLog } from "./record.ts";
import { archiveDamaged, type SegmentManifest } from "./segment.ts";
import type { LogTree } from "./tree.ts";

/** Where a log stands while its events pass. */
interface Walked {
  readonly range: CompactRange;
  readonly gaps: readonly SignedGap[];
  seq: number;
  until: string;
}

/**
 * Takes events in the order of the whole log, and builds the tree of it and of each of their streams.
 *
 * @example
 * ```ts
 * import { LogWalk } from "@seneschal/crypto/audit-log";
 * import { CompactRange } from "@seneschal/crypto/merkle";
 * import { testLogForm } from "@seneschal/crypto/arbitraries";
 * const walk = new LogWalk(() => ({ range: new CompactRange(0, [], testLogForm.sha256), gaps: [] }), testLogForm);
 * walk.take({ seq: 1, stream: "acme", stream_seq: 1, event: { timestamp: "2026-01-01T00:00:00.000Z" } });
 * console.log([...walk.logs()].map(([stream, log]) => `${stream} ${log.range.size}`)); // [ '/all 1', 'acme 1' ]
 * ```
 */
export class LogWalk {
  readonly #logs = new Map<string, Walked>();
  readonly #begin: (stream: string) => LogTree;
  readonly #form: LogForm;
  readonly #passed: (stream: string) => Parameters<CompactRange["appendHash"]>[1];

  /**
   * @param begin where a log goes on from, and the gaps that it may have
   * @param passed sees the subtrees of a log
   */
  constructor(
    begin: (stream: string) => LogTree,
    form: LogForm,
    passed: (stream: string) => Parameters<CompactRange["appendHash"]>[1] = () => undefined,
  ) {
    this.#begin = begin;
    this.#form = form;
    this.#passed = passed;
  }

  /** Throws `audit_archive_damaged` where an event is not the next of its log. */
  take(record: LogRecord): void {
    const leaf = this.#form.leaf(record);
    for (const [stream, number] of [
      [wholeLog, record.seq],
      [record.stream, record.stream_seq],
    ] as const) {
      const log = this.#logs.get(stream) ?? { ...this.#begin(stream), seq: 0, until: "" };
      this.#logs.set(stream, log);
      const { range, gaps } = log;
      const onNode = this.#passed(stream);
      passGaps(range, gaps, { stream, form: this.#form, onNode });
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

/**
 * Throws `audit_archive_damaged` unless logs are what the notes of a manifest say, signed by the key.
 *
 * @example
 * ```ts
 * import { requireLogs } from "@seneschal/crypto/audit-log";
 * import { testLogForm } from "@seneschal/crypto/arbitraries";
 * const key = { name: "one", publicKey: new Uint8Array(32) };
 * const log = { form: testLogForm, instance: "one", key };
 * const manifest = { format: "", instance: "one", first: 1, last: 1, sha256: "", previous: null, public_key: "", logs: [] };
 * requireLogs(new Map(), manifest, log);
 * try {
 *   requireLogs(new Map(), { ...manifest, logs: [{ stream: "acme", note: "" }] }, log);
 * } catch (error) {
 *   console.log((error as Error).message); // a segment has events of other logs than it says
 * }
 * ```
 */
export function requireLogs(logs: ReadonlyMap<string, ArchivedLog>, manifest: SegmentManifest, log: LogIdentity): void {
  checkArgument("logs", logs, "object");
  checkArgument("manifest", manifest, "object");
  const { logs: notes } = manifest;
  const named = new Set(notes.map(({ stream }) => stream));
  if (notes.length !== named.size || named.size !== logs.size)
    throw archiveDamaged("a segment has events of other logs than it says");
  for (const { stream, note } of notes)
    if (!isSigned(logs.get(stream), stream, note, log))
      throw archiveDamaged(`the archived log of ${stream} is not what was signed`, { stream });
}

function isSigned(walked: ArchivedLog | undefined, stream: string, note: string, log: LogIdentity): boolean {
  try {
    const { size, root, seq, until } = readArchiveNote(note, stream, log);
    const same = walked?.range.size === size && walked.seq === seq && walked.until === until;
    return same && bytesEqual(walked.range.root(), root);
  } catch {
    return false;
  }
}
