import { checkArgument } from "@seneschal/kernel";
import { base64, bytesEqual, fromBase64, hex, utf8 } from "../bytes.ts";
import { type NoteKey, noteVerifierKey, parseVerifierKey } from "../merkle/checkpoint.ts";
import { CompactRange } from "../merkle/compact-range.ts";
import { openCheckpoint } from "../merkle/open-tree.ts";
import { type ArchivedLog, readArchiveNote, type SegmentName } from "./archived.ts";
import type { SignedGap } from "./gaps.ts";
import { type LogForm, type LogIdentity, type LogRecord, wholeLog } from "./record.ts";
import { archiveDamaged, parseManifest, type SegmentManifest } from "./segment.ts";
import { LogWalk, requireLogs } from "./walk.ts";

/** A segment by its manifest. */
export interface ArchiveLink {
  readonly name: SegmentName;
  readonly form: LogForm;
  readonly manifest: SegmentManifest;
}

/**
 * Reads the manifest of a segment of a log in one of these forms. Throws `audit_archive_damaged`, also for another segment than the one that is named behind it.
 *
 * @example
 * ```ts
 * import { archiveLink, manifestText, segmentId } from "@seneschal/crypto/audit-log";
 * import { testLogForm } from "@seneschal/crypto/arbitraries";
 * const manifest = { instance: "one", first: 1, last: 9, sha256: "00", previous: null, logs: [], public_key: "AAAA" };
 * const link = archiveLink(manifestText(testLogForm, manifest), segmentId(1, 9), [testLogForm]);
 * console.log(link.name.id, link.name.sha256.length); // 0000000000000001-0000000000000009 64
 * ```
 */
export function archiveLink(text: string, id: string, forms: readonly LogForm[], named?: SegmentName): ArchiveLink {
  const { manifest, form } = parseManifest(text, id, forms);
  const sha256 = hex(form.sha256(utf8(text)));
  if (named !== undefined && named.sha256 !== sha256) throw archiveDamaged(`segment ${id} is not the one that the next names`);
  return { name: { id, sha256 }, form, manifest };
}

/** The events of a segment as they pass, and the SHA-256 of their file, hex, when they have. */
export interface SegmentEvents {
  readonly records: AsyncIterable<LogRecord> | Iterable<LogRecord>;
  readonly sha256: () => string;
}

/**
 * Verifies the segments of an archive, one behind the other from the first on.
 *
 * @example
 * ```ts
 * import { archivedCheckpoint, archiveLink, ArchiveWalk, eventLine, LogWalk, manifestText, segmentId } from "@seneschal/crypto/audit-log";
 * import { CompactRange, signNote } from "@seneschal/crypto/merkle";
 * import { nobleCrypto, hex } from "@seneschal/crypto";
 * import { testLogForm } from "@seneschal/crypto/arbitraries";
 * const seed = new Uint8Array(32).fill(9);
 * const key = { name: "one", publicKey: nobleCrypto.ed25519PublicKey(seed) };
 * const log = { form: testLogForm, instance: "one", key };
 * const records = [{ seq: 1, stream: "acme", stream_seq: 1, event: { timestamp: "2026-01-01T00:00:00.000Z" } }];
 * const walk = new LogWalk(() => ({ range: new CompactRange(0, [], testLogForm.sha256), gaps: [] }), testLogForm);
 * for (const record of records) walk.take(record);
 * const logs: { stream: string; note: string }[] = [];
 * for (const [stream, archived] of walk.logs()) {
 *   const { text } = archivedCheckpoint(log, stream, archived);
 *   logs.push({ stream, note: await signNote(text, key, (message) => nobleCrypto.ed25519Sign(seed, message)) });
 * }
 * const sha256 = hex(testLogForm.sha256(new TextEncoder().encode(records.map(eventLine).join(""))));
 * const public_key = Buffer.from(key.publicKey).toString("base64");
 * const text = manifestText(testLogForm, { instance: "one", first: 1, last: 1, sha256, previous: null, logs, public_key });
 * const verified = new ArchiveWalk(log);
 * await verified.take(archiveLink(text, segmentId(1, 1), [testLogForm]), { records, sha256: () => sha256 });
 * console.log([...verified.ranges].map(([stream, range]) => `${stream} ${range.size}`)); // [ '/all 1', 'acme 1' ]
 * ```
 */
export class ArchiveWalk {
  /** Each log as far as it was walked. */
  readonly ranges = new Map<string, CompactRange>();
  readonly #gaps = new Map<string, readonly SignedGap[]>();
  readonly #log: LogIdentity;
  readonly #passed: ConstructorParameters<typeof LogWalk>[2];

  /** @param passed sees the subtrees of a log */
  constructor(log: LogIdentity, passed?: ConstructorParameters<typeof LogWalk>[2]) {
    this.#log = log;
    this.#passed = passed;
  }

  /** Takes the next segment, and answers with the logs that have events in it. Throws `audit_archive_damaged`. */
  async take(
    link: ArchiveLink,
    events: SegmentEvents,
    seen: (record: LogRecord) => void = () => undefined,
  ): Promise<ReadonlyMap<string, ArchivedLog>> {
    const { form, instance, key } = this.#log;
    const { name, manifest } = link;
    if (link.form !== form || manifest.instance !== instance) throw archiveDamaged(`segment ${name.id} is of another instance`);
    if (manifest.public_key !== base64(key.publicKey))
      throw archiveDamaged(`segment ${name.id} names another key than the log's`);
    for (const { stream, note } of manifest.logs) this.#gaps.set(stream, this.#gapsOf(note, stream));
    const begin = (stream: string) => {
      const range = this.ranges.get(stream) ?? new CompactRange(0, [], form.sha256);
      this.ranges.set(stream, range);
      return { range, gaps: this.#gaps.get(stream) ?? [] };
    };
    const walk = new LogWalk(begin, form, this.#passed);
    for await (const record of events.records) {
      walk.take(record);
      seen(record);
    }
    if (events.sha256() !== manifest.sha256) throw archiveDamaged(`segment ${name.id} has other events than its manifest says`);
    requireLogs(walk.logs(), manifest, this.#log);
    return walk.logs();
  }

  #gapsOf(note: string, stream: string): readonly SignedGap[] {
    try {
      return readArchiveNote(note, stream, this.#log).gaps;
    } catch (cause) {
      throw archiveDamaged(`what is said of the archived log of ${stream} is not signed by the key`, {}, cause);
    }
  }
}

/** What an archive was found to hold. */
export interface ArchiveVerdict {
  readonly instance: string;
  readonly segments: number;
  /** Of the last event, in the whole log. */
  readonly last: number;
  /** The key that signed the archive, as a verifier key of C2SP signed-note: to be compared with what was kept of it. */
  readonly verifier_key: string;
  /** Each log, the whole one under `/all`, as far as it is archived; `root` is base64. */
  readonly logs: Readonly<Record<string, { readonly size: number; readonly root: string; readonly until: string }>>;
  /** Of a checkpoint that was given: whether the archive reaches up to its size, and so has been proven to be its beginning. */
  readonly checkpoint?: { readonly origin: string; readonly size: number; readonly reached: boolean };
}

/** What an archive is held against. */
export interface ArchiveExpectations {
  /** A verifier key that was kept of the log. Without one, that which the archive names is believed. */
  readonly verifierKey?: string;
  /** A checkpoint that was kept: a C2SP signed note, of an organisation's log or of the whole. */
  readonly checkpoint?: string;
}

/**
 * Verifies an archive by its segments alone: every one from the first on, each event in its place in the whole log and in its organisation's, under what the
 * log's key signed, and a checkpoint that was kept, when the archive reaches so far. Throws `audit_archive_damaged`.
 *
 * @param chain the segments, the first first
 *
 * @example
 * ```ts
 * import { archivedCheckpoint, archiveLink, eventLine, LogWalk, manifestText, segmentId, verifyArchive } from "@seneschal/crypto/audit-log";
 * import { CompactRange, signNote, noteVerifierKey } from "@seneschal/crypto/merkle";
 * import { nobleCrypto, hex } from "@seneschal/crypto";
 * import { testLogForm } from "@seneschal/crypto/arbitraries";
 * const seed = new Uint8Array(32).fill(9);
 * const key = { name: "one", publicKey: nobleCrypto.ed25519PublicKey(seed) };
 * const log = { form: testLogForm, instance: "one", key };
 * const records = [{ seq: 1, stream: "acme", stream_seq: 1, event: { timestamp: "2026-01-01T00:00:00.000Z" } }];
 * const walk = new LogWalk(() => ({ range: new CompactRange(0, [], testLogForm.sha256), gaps: [] }), testLogForm);
 * for (const record of records) walk.take(record);
 * const logs: { stream: string; note: string }[] = [];
 * for (const [stream, archived] of walk.logs()) {
 *   const { text } = archivedCheckpoint(log, stream, archived);
 *   logs.push({ stream, note: await signNote(text, key, (message) => nobleCrypto.ed25519Sign(seed, message)) });
 * }
 * const sha256 = hex(testLogForm.sha256(new TextEncoder().encode(records.map(eventLine).join(""))));
 * const public_key = Buffer.from(key.publicKey).toString("base64");
 * const text = manifestText(testLogForm, { instance: "one", first: 1, last: 1, sha256, previous: null, logs, public_key });
 * const chain = [archiveLink(text, segmentId(1, 1), [testLogForm])];
 * const verdict = await verifyArchive(chain, () => ({ records, sha256: () => sha256 }), { verifierKey: noteVerifierKey(key) });
 * console.log(verdict.segments, verdict.last, Object.keys(verdict.logs)); // 1 1 [ '/all', 'acme' ]
 * ```
 */
export async function verifyArchive(
  chain: readonly ArchiveLink[],
  eventsOf: (link: ArchiveLink) => SegmentEvents,
  expectations: ArchiveExpectations,
): Promise<ArchiveVerdict> {
  checkArgument("chain", chain, "array");
  checkArgument("eventsOf", eventsOf, "function");
  checkArgument("expectations", expectations, "object");
  const { verifierKey, checkpoint } = expectations;
  const newest = chain.at(-1);
  if (newest === undefined) throw archiveDamaged("there is no segment");
  const { form, manifest } = newest;
  const { instance } = manifest;
  const key = verifierKey === undefined ? namedKey(newest) : parseVerifierKey(verifierKey).key;
  const kept = checkpoint === undefined ? undefined : keptCheckpoint(checkpoint, key);

  let reached = false;
  const walk = new ArchiveWalk({ form, instance, key });
  const hold = (stream: string): void => {
    const range = walk.ranges.get(stream);
    if (kept === undefined || range?.size !== kept.size || form.checkpointOrigin(instance, stream) !== kept.origin) return;
    if (!bytesEqual(range.root(), kept.root))
      throw archiveDamaged(`the archive does not begin as the log did when it had ${kept.size} events`);
    reached = true;
  };
  const until = new Map<string, string>();
  for (const link of chain) {
    const walked = await walk.take(link, eventsOf(link), ({ stream }) => {
      for (const one of [wholeLog, stream]) hold(one);
    });
    for (const [stream, log] of walked) until.set(stream, log.until);
  }
  const logs = [...walk.ranges].map(
    ([stream, range]) => [stream, { size: range.size, root: base64(range.root()), until: until.get(stream) ?? "" }] as const,
  );
  return {
    instance,
    segments: chain.length,
    last: manifest.last,
    verifier_key: noteVerifierKey(key),
    logs: Object.fromEntries(logs),
    ...(kept && { checkpoint: { origin: kept.origin, size: kept.size, reached } }),
  };
}

/** The key that an archive names. */
function namedKey({ form, manifest }: ArchiveLink): NoteKey {
  try {
    return { name: form.keyName(manifest.instance), publicKey: fromBase64(manifest.public_key) };
  } catch (cause) {
    throw archiveDamaged("the key that the archive names is none", {}, cause);
  }
}

function keptCheckpoint(note: string, key: NoteKey) {
  try {
    return openCheckpoint(note, { keys: [key] });
  } catch (cause) {
    throw archiveDamaged("the checkpoint is not signed by the key of the archive", {}, cause);
  }
}
