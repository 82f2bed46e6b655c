import { createHash } from "node:crypto";
import type { BackupTarget } from "@seneschal/adapters/backups";
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
import { parseArchiveNote, type SegmentName } from "./archived.ts";
import type { SignedGap } from "./gaps.ts";
import type { LogForm } from "./log-form.ts";
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

  const gaps = new Map<string, readonly SignedGap[]>();
  const ranges = new Map<string, CompactRange>();
  const until = new Map<string, string>();
  const origins = new Map<string, string>();
  let reached: string | undefined;
  const hold = (stream: string): void => {
    const origin = origins.get(stream) ?? form.checkpointOrigin(instance, stream);
    origins.set(stream, origin);
    const range = ranges.get(stream);
    if (kept === undefined || range === undefined || origin !== kept.origin || range.size !== kept.size) return;
    if (!bytesEqual(range.root(), kept.root))
      throw damaged(`the archive does not begin as the log did when it had ${kept.size} events`);
    reached = stream;
  };
  const begin = async (stream: string) => {
    const range = ranges.get(stream) ?? new CompactRange(0, [], form.sha256);
    ranges.set(stream, range);
    return { range, gaps: gaps.get(stream) ?? [] };
  };

  let last = 0;
  for (const link of chain) {
    const { name, manifest } = link;
    if (link.form !== form || manifest.instance !== instance) throw damaged(`segment ${name.id} is of another instance`);
    for (const { stream, note } of manifest.logs) gaps.set(stream, gapsOf(note, link, stream, key));
    const walk = new LogWalk(begin, form);
    const text = new Sum(target.read(name.id, segmentFiles.events));
    for await (const record of eventsOf(text)) {
      await walk.take(record);
      for (const stream of [wholeLog, record.stream]) hold(stream);
    }
    if (text.sha256() !== manifest.sha256) throw damaged(`segment ${name.id} has other events than its manifest says`);
    requireLogs(walk.logs(), manifest, { form, key });
    for (const [stream, log] of walk.logs()) until.set(stream, log.until);
    last = manifest.last;
  }
  const logs = [...ranges].map(([stream, range]) => {
    const root = Buffer.from(range.root()).toString("base64");
    return [stream, { size: range.size, root, until: until.get(stream) ?? "" }] as const;
  });
  return {
    instance,
    segments: chain.length,
    last,
    verifier_key: noteVerifierKey(key),
    logs: Object.fromEntries(logs),
    ...(kept && { checkpoint: { origin: kept.origin, size: kept.size, reached: reached !== undefined } }),
  };
}

const damaged = (message: string, cause?: unknown): CodedError => new CodedError("audit_archive_damaged", message, {}, cause);

interface Link {
  readonly name: SegmentName;
  readonly form: LogForm;
  readonly manifest: SegmentManifest;
}

/** The segments from the first to the newest, each named by the one behind it. Others are what a crash or another process left: their events are in these too. */
async function chainOf(target: Pick<BackupTarget, "list" | "read">, forms: readonly LogForm[]): Promise<readonly Link[]> {
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
  const ids = (await target.list()).filter(isSegmentId);
  const ends = [...ids].sort((a, b) => (a.slice(17) < b.slice(17) ? 1 : -1));
  const chain: Link[] = [];
  for (const end of ends) {
    const newest = await load(end);
    if (newest === undefined) continue;
    chain.unshift(newest);
    break;
  }
  for (let before = chain[0]?.manifest.previous ?? null; before !== null; before = chain[0]?.manifest.previous ?? null) {
    const link = await load(before.id);
    if (link === undefined) throw damaged(`segment ${before.id} is missing`);
    if (link.name.sha256 !== before.sha256) throw damaged(`segment ${before.id} is not the one that the next names`);
    chain.unshift(link);
  }
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
