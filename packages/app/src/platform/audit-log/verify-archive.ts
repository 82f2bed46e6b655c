import { createHash } from "node:crypto";
import type { BackupTarget } from "@seneschal/adapters/backups";
import type { SignedGap } from "@seneschal/core/audit";
import { bytesEqual, hex } from "@seneschal/crypto";
import {
  CompactRange,
  type NoteKey,
  noteVerifierKey,
  parseCheckpoint,
  parseVerifierKey,
  verifyNote,
} from "@seneschal/crypto/merkle";
import { CodedError, checkArgument } from "@seneschal/kernel";
import { bytes } from "../bytes.ts";
import { type ArchivedLog, parseArchiveNote, type SegmentName } from "./archived.ts";
import type { LogForm, LogRecord } from "./log-form.ts";
import { wholeLog } from "./records.ts";
import { eventsOf, isSegmentId, LogWalk, parseManifest, requireLogs, type SegmentManifest, segmentFiles } from "./segment.ts";

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
  /** The forms of log that it may be of. */
  readonly forms: readonly LogForm[];
  /** A verifier key that was kept of the log. Without one, that which the archive names is believed. */
  readonly verifierKey?: string;
  /** A checkpoint that was kept: a C2SP signed note, of an organisation's log or of the whole. */
  readonly checkpoint?: string;
}

/**
 * Verifies an archive by its files alone: every segment from the first on, each event in its place in the whole log and in its organisation's, under what the
 * log's key signed, and a checkpoint that was kept, when the archive reaches so far. Throws `audit_archive_damaged`.
 */
export async function verifyArchive(
  target: Pick<BackupTarget, "list" | "read">,
  expectations: ArchiveExpectations,
): Promise<ArchiveVerdict> {
  checkArgument("target", target, "object");
  checkArgument("expectations", expectations, "object");
  const { forms, verifierKey, checkpoint } = expectations;
  const chain = await chainOf(target, forms);
  const [newest] = chain.slice(-1);
  if (newest === undefined) throw damaged("there is no segment");
  const { form, manifest } = newest;
  const { instance, public_key } = manifest;
  const key: NoteKey =
    verifierKey === undefined
      ? { name: form.keyName(instance), publicKey: bytes(public_key) }
      : parseVerifierKey(verifierKey).key;
  const kept = checkpoint === undefined ? undefined : keptCheckpoint(checkpoint, key);

  const origins = new Map<string, string>();
  let reached: string | undefined;
  const walk = new ArchiveWalk(target, { form, instance, key });
  const hold = (stream: string): void => {
    const origin = origins.get(stream) ?? form.checkpointOrigin(instance, stream);
    origins.set(stream, origin);
    const range = walk.ranges.get(stream);
    if (kept === undefined || range === undefined || origin !== kept.origin || range.size !== kept.size) return;
    if (!bytesEqual(range.root(), kept.root))
      throw damaged(`the archive does not begin as the log did when it had ${kept.size} events`);
    reached = stream;
  };
  const until = new Map<string, string>();
  for (const link of chain) {
    const walked = await walk.take(link, ({ stream }) => {
      for (const one of [wholeLog, stream]) hold(one);
    });
    for (const [stream, log] of walked) until.set(stream, log.until);
  }
  const logs = [...walk.ranges].map(([stream, range]) => {
    const root = Buffer.from(range.root()).toString("base64");
    return [stream, { size: range.size, root, until: until.get(stream) ?? "" }] as const;
  });
  return {
    instance,
    segments: chain.length,
    last: manifest.last,
    verifier_key: noteVerifierKey(key),
    logs: Object.fromEntries(logs),
    ...(kept && { checkpoint: { origin: kept.origin, size: kept.size, reached: reached !== undefined } }),
  };
}

const damaged = (message: string, cause?: unknown): CodedError => new CodedError("audit_archive_damaged", message, {}, cause);

/** Verifies the segments of an archive, one behind the other from the first on. */
export class ArchiveWalk {
  /** Each log as far as it was walked. */
  readonly ranges = new Map<string, CompactRange>();
  readonly #gaps = new Map<string, readonly SignedGap[]>();
  readonly #target: Pick<BackupTarget, "read">;
  readonly #of: { readonly form: LogForm; readonly instance: string; readonly key: NoteKey };
  readonly #passed: ConstructorParameters<typeof LogWalk>[2];

  /** @param passed sees the subtrees of a log */
  constructor(
    target: Pick<BackupTarget, "read">,
    of: { readonly form: LogForm; readonly instance: string; readonly key: NoteKey },
    passed?: ConstructorParameters<typeof LogWalk>[2],
  ) {
    this.#target = target;
    this.#of = of;
    this.#passed = passed;
  }

  /** Takes the next segment, and answers with the logs that have events in it. Throws `audit_archive_damaged`. */
  async take(link: Link, seen: (record: LogRecord) => void = () => undefined): Promise<ReadonlyMap<string, ArchivedLog>> {
    const { form, instance, key } = this.#of;
    const { name, manifest } = link;
    if (link.form !== form || manifest.instance !== instance) throw damaged(`segment ${name.id} is of another instance`);
    for (const { stream, note } of manifest.logs) this.#gaps.set(stream, gapsOf(note, link, stream, key));
    const begin = async (stream: string) => {
      const range = this.ranges.get(stream) ?? new CompactRange(0, [], form.sha256);
      this.ranges.set(stream, range);
      return { range, gaps: this.#gaps.get(stream) ?? [] };
    };
    const walk = new LogWalk(begin, form, this.#passed);
    const text = new Sum(this.#target.read(name.id, segmentFiles.events));
    for await (const record of eventsOf(text)) {
      await walk.take(record);
      seen(record);
    }
    if (text.sha256() !== manifest.sha256) throw damaged(`segment ${name.id} has other events than its manifest says`);
    requireLogs(walk.logs(), manifest, { form, key });
    return walk.logs();
  }
}

/** A segment by its manifest. */
export interface Link {
  readonly name: SegmentName;
  readonly form: LogForm;
  readonly manifest: SegmentManifest;
}

/** The segments from the first to the newest, or to the one that is named, each named by the one behind it. Others are what a crash or another process left: their events are in these too. */
export async function chainOf(
  target: Pick<BackupTarget, "list" | "read">,
  forms: readonly LogForm[],
  newest?: SegmentName,
): Promise<readonly Link[]> {
  const load = async (id: string): Promise<Link | undefined> => {
    let text: string;
    try {
      text = await wholeText(target.read(id, segmentFiles.manifest));
    } catch {
      return undefined;
    }
    const { manifest, form } = parseManifest(text, id, forms);
    return { name: { id, sha256: hex(form.sha256(Buffer.from(text))) }, form, manifest };
  };
  const chain: Link[] = [];
  const before = async (named: SegmentName): Promise<Link> => {
    const link = await load(named.id);
    if (link === undefined) throw damaged(`segment ${named.id} is missing`);
    if (link.name.sha256 !== named.sha256) throw damaged(`segment ${named.id} is not the one that the next names`);
    return link;
  };
  const ids = newest === undefined ? (await target.list()).filter(isSegmentId) : [];
  const ends = [...ids].sort((a, b) => (a.slice(17) < b.slice(17) ? 1 : -1));
  if (newest !== undefined) chain.unshift(await before(newest));
  for (const end of ends) {
    const link = await load(end);
    if (link === undefined) continue;
    chain.unshift(link);
    break;
  }
  for (let named = chain[0]?.manifest.previous ?? null; named !== null; named = chain[0]?.manifest.previous ?? null)
    chain.unshift(await before(named));
  return chain;
}

function gapsOf(note: string, { form, manifest: { instance } }: Link, stream: string, key: NoteKey): readonly SignedGap[] {
  try {
    return parseArchiveNote(form, note, instance, stream, key).gaps;
  } catch (cause) {
    throw damaged(`what is said of the archived log of ${stream} is not signed by the key`, cause);
  }
}

function keptCheckpoint(note: string, key: NoteKey) {
  try {
    return parseCheckpoint(verifyNote(note, [key]).text);
  } catch (cause) {
    throw damaged("the checkpoint is not signed by the key of the archive", cause);
  }
}

async function wholeText(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const read: Uint8Array[] = [];
  for await (const chunk of chunks) read.push(chunk);
  return Buffer.concat(read).toString("utf8");
}

/** Bytes that pass, and their SHA-256, hex, when they have. */
class Sum {
  readonly #chunks: AsyncIterable<Uint8Array>;
  readonly #hash = createHash("sha256");

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#chunks) {
      this.#hash.update(chunk);
      yield chunk;
    }
  }

  sha256(): string {
    return this.#hash.digest("hex");
  }
}
