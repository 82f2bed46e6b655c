import { randomUUID } from "node:crypto";
import type { BackupTarget } from "@seneschal/adapters/backups";
import { type ArchivedLog, type LogIdentity, type RootClaim, type SegmentDue, wholeLog } from "@seneschal/crypto/audit-log";
import {
  CompactRange,
  claimRanges,
  type LogClaim,
  type NoteKey,
  noteVerifierKey,
  proveClaim,
  type SignBytes,
  signNote,
} from "@seneschal/crypto/merkle";
import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { AuditDraft, AuditNumber, Del, DocumentStore } from "@seneschal/kernel/ports";
import {
  type ArchivedPart,
  AuditTampered,
  archivedLog,
  archivedPart,
  archiveSegment,
  commitGuarded,
  cutTiles,
  extendTiles,
  mendTiles,
  readTree,
  type SegmentToKeep,
  type SignedLog,
  tiledSize,
  UNTILED,
} from "../../platform/audit-log/index.ts";
import { lostRace } from "../fault.ts";
import {
  type CheckpointDoc,
  furthestCheckpoint,
  isVouchedFor,
  newestCheckpoint,
  noteText,
  signedTree,
  type TreeState,
  textOf,
} from "./checkpoints.ts";
import { governanceLog as form } from "./form.ts";
import { leafOf, leavesOf, PAGE } from "./records.ts";
import { sha256 } from "./sha256.ts";
import { type AuditVerdict, verifyLog } from "./verify-log.ts";

/** Other processes sign too; each round leaves less to be done. */
const TRIES = 5;

/** Checkpoints that are kept of each log: the newest counts whatever the others do, they only say where a log stopped being what it was. */
const CHECKPOINTS_KEPT = 1000;

/** Who signs the checkpoints. */
export interface CheckpointSigner {
  readonly key: NoteKey;
  readonly sign: SignBytes;
}

/**
 * The audit log of each organisation as an RFC 9162 Merkle tree over the RFC 8785 form of its records. The store appends the records in the transaction of what
 * they record; the trees follow them, and go on from the newest checkpoints after a restart. Signed checkpoints are kept in the store, and worth copying elsewhere:
 * only a copy shows that log and checkpoints were both rewritten.
 */
export class AuditLog {
  readonly #store: DocumentStore;
  readonly #signer: CheckpointSigner;
  readonly #kept: number;
  /** The right edge of each stream's tree, where the newest records go. */
  readonly #edges = new Map<string, CompactRange>();
  /** Streams with records that no checkpoint counts. */
  readonly #unsigned = new Set<string>();
  /** The store's sequence of the newest record that the trees count. */
  #followed: number | undefined;
  /** Up to here checkpoints count the records of all streams. */
  #signedUpTo = 0;
  /** Streams that lack a record. */
  readonly #broken = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();
  #doubted = false;

  /** `kept`: checkpoints of each log; the oldest beyond them go with the commit of a new one. */
  constructor(store: DocumentStore, signer: CheckpointSigner, kept = CHECKPOINTS_KEPT) {
    this.#store = store;
    this.#signer = signer;
    this.#kept = kept;
  }

  get #identity(): LogIdentity {
    const { key } = this.#signer;
    return { form, instance: key.name, key };
  }

  get verifierKey(): string {
    return noteVerifierKey(this.#signer.key);
  }

  /** Counts records that were just committed, if they are the next ones; others are found by {@link follow}. */
  committed(drafts: readonly AuditDraft[], numbers: readonly AuditNumber[]): void {
    for (const [i, { seq, streamSeq, time }] of numbers.entries()) {
      const { stream, event } = drafts[i] as AuditDraft;
      const edge = this.#edges.get(stream);
      if (edge === undefined || this.#followed !== seq - 1 || edge.size !== streamSeq - 1) return;
      // As it was written: its time may be that of the record before.
      this.#append(stream, edge, leafOf(time === undefined ? event : { ...event, timestamp: time }));
      this.#followed = seq;
    }
  }

  /** Counts the records that are in the store now. */
  follow(): Promise<void> {
    return this.#inTurn(() => this.#follow());
  }

  /** Writes a checkpoint of the newest state of every stream that has records which none counts. Rejects with `log_invalid` when a stream lacks a record; the others are signed. */
  checkpointAll(now: number): Promise<void> {
    return this.#inTurn(async () => {
      await this.#follow();
      const seq = this.#followed ?? 0;
      await this.#sign([...this.#unsigned], seq, now);
      this.#signedUpTo = seq;
      for (const stream of this.#broken) throw lacking(stream);
    });
  }

  /** The checkpoint of the newest state of a stream, up to a record that it lacks; none for an empty log. */
  async checkpoint(stream: string, now: number): Promise<CheckpointDoc | undefined> {
    await this.#inTurn(async () => {
      await this.#follow();
      if (this.#unsigned.has(stream)) await this.#sign([stream], this.#signedUpTo, now);
    });
    return newestCheckpoint(this.#store, stream);
  }

  /** Reads the whole log from the store again and compares it with every kept checkpoint and, if given, the caller's own. */
  async verify(stream: string, own?: RootClaim): Promise<AuditVerdict> {
    const verdict = await verifyLog(this.#store, stream, this.#identity, own);
    this.#doubted ||= !verdict.valid;
    return verdict;
  }

  /** Inclusion proof of the record at `streamSeq` (from 1) in the newest tree. Throws `log_invalid` when the log does not prove it. */
  async proof(stream: string, streamSeq: number, event: JsonObject) {
    const index = streamSeq - 1;
    const leaf = form.leaf({ seq: 0, stream, stream_seq: streamSeq, event });
    const { size, proven } = await this.#prove(stream, (size) => ({ kind: "inclusion", index, size, leaf }));
    return { leaf: textOf(leaf), index, size, root: textOf(proven.root), proof: proven.proof.map(textOf) };
  }

  /** How many records the log has, and the proof that its first `first` ones are unchanged in its first `second` ones, when it has so many. */
  async consistency(stream: string, first: number, second?: number) {
    const { size } = await this.#whole(stream);
    const to = second ?? size;
    if (first > to || to > size) return { size };
    const { proven } = await this.#prove(stream, () => ({ kind: "consistency", first, second: to }));
    const roots = { first_root: textOf(proven.root), second_root: textOf(proven.secondRoot) };
    return { size, proven: { first, second: to, ...roots, proof: proven.proof.map(textOf) } };
  }

  /** What of a stream is archived, as the key has signed it; `undefined`: nothing. */
  async archived(stream: string): Promise<ArchivedPart | undefined> {
    return archivedPart(await this.#archived(stream));
  }

  /** Moves the next segment of records into an archive; see {@link archiveSegment}. What no checkpoint counts is signed before. */
  async archive(target: BackupTarget, due: SegmentDue, now: number): Promise<SegmentToKeep | undefined> {
    await this.checkpointAll(now);
    const { key, sign } = this.#signer;
    return archiveSegment(
      {
        store: this.#store,
        ...this.#identity,
        signed: (stream) => this.#signedLog(stream),
        tile: async (stream) => {
          const range = (await this.#signedLog(stream))?.range;
          if (range !== undefined) await this.#tile(stream, range.size);
        },
        sign: (text) => signNote(text, key, sign),
      },
      target,
      due,
    );
  }

  /** Makes the hashes that are kept of archived records anew from the archive, where they are damaged; see {@link mendTiles}. Answers with the logs that were mended. */
  async mend(target: BackupTarget): Promise<readonly string[]> {
    const mended = await mendTiles({ store: this.#store, ...this.#identity }, target);
    this.#doubted = false;
    return mended;
  }

  /** Whether a log was not whole, or did not prove what it should, since the hashes of archived records were looked at last. */
  get doubted(): boolean {
    return this.#doubted;
  }

  #archived(stream: string): Promise<ArchivedLog | "damaged" | undefined> {
    return archivedLog(this.#store, stream, this.#identity);
  }

  /** A log as far as checkpoints count it. That of all streams is signed by its archive alone. */
  async #signedLog(stream: string): Promise<SignedLog | undefined> {
    const { key } = this.#signer;
    const archived = await this.#archived(stream);
    const damaged = () => new AuditTampered({ flaw: "checkpoint_invalid", stream, sequence: null });
    if (archived === "damaged") throw damaged();
    const rest = { key, gaps: [], ...(archived && { archived }) };
    if (stream === wholeLog) return this.#signedUpTo === 0 ? undefined : { ...rest, size: this.#signedUpTo };
    const newest = await newestCheckpoint(this.#store, stream);
    const range = newest && (await this.#signedRange(stream, newest));
    if (range !== undefined && range.size < (archived?.range.size ?? 0)) throw damaged();
    return range && { ...rest, size: range.size, range };
  }

  /** The tree that a checkpoint counts; one of an earlier version has no peaks: its records have. */
  async #signedRange(stream: string, newest: CheckpointDoc): Promise<CompactRange | undefined> {
    const signed = signedTree(this.#signer.key, newest);
    if (signed !== undefined) return signed;
    const edge = await this.#whole(stream);
    const same = edge.size === newest.size && textOf(edge.root()) === newest.root;
    return same && isVouchedFor(this.#signer.key, newest) ? new CompactRange(edge.size, edge.hashes, sha256) : undefined;
  }

  /** Proves what is claimed of the newest tree by stored hashes: O(log n) reads. It was verified under what is signed and what came since. */
  async #prove(stream: string, claimOf: (size: number) => LogClaim) {
    const edge = await this.#whole(stream);
    const head = { size: edge.size, root: edge.root() };
    const claim = claimOf(head.size);
    const ranges = claimRanges(claim, head.size);
    for (let anew = false; ; anew = true) {
      if (head.size - (await tiledSize(this.#store, stream, head.size)) > UNTILED) await this.#tile(stream, head.size);
      const archived = await this.#archivedSize(stream);
      const tree = await readTree(this.#store, ranges, { stream, size: head.size, gaps: [], form, archived });
      const proven = proveClaim(claim, head, (leaves) => tree.root(leaves), sha256);
      if (proven !== undefined) return { size: head.size, proven };
      if (anew) {
        this.#doubted = true;
        throw notWhole(stream);
      }
      // Tiles are believed by nobody: those of records that are in the store are made anew.
      await commitGuarded(this.#store, (unit) => cutTiles(unit, stream, archived));
    }
  }

  /** The edge of a stream with every record that is in the store now. */
  async #whole(stream: string): Promise<CompactRange> {
    await this.follow();
    const edge = await this.#edge(stream);
    await this.#catchUp(stream, edge, (leaf) => this.#append(stream, edge, leaf));
    return edge;
  }

  /** Makes tiles of a stream's first records. */
  async #tile(stream: string, size: number): Promise<void> {
    const known = { stream, size, gaps: [], form, archived: await this.#archivedSize(stream) };
    let anew = false;
    for (let state: Awaited<ReturnType<typeof extendTiles>> = "more"; state !== "done"; ) {
      state = await commitGuarded(this.#store, (unit) => extendTiles(this.#store, unit, known));
      if (state !== "damaged") continue;
      // Those of what is archived are not made again.
      if (anew) return;
      anew = true;
    }
  }

  async #archivedSize(stream: string): Promise<number> {
    const archived = await this.#archived(stream);
    if (archived === "damaged") throw notWhole(stream);
    return archived?.range.size ?? 0;
  }

  /** Whoever counts or signs does so alone. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work, work);
    this.#last = done;
    return done;
  }

  async #follow(): Promise<void> {
    this.#followed ??= this.#signedUpTo = await this.#resume();
    for (;;) {
      const entries = await this.#store.auditRead(this.#followed, PAGE);
      for (const { seq, stream, streamSeq, event } of entries) {
        const edge = await this.#edge(stream);
        if (edge.size < streamSeq - 1 && !this.#broken.has(stream))
          await this.#catchUp(stream, edge, (leaf) => this.#append(stream, edge, leaf));
        if (edge.size === streamSeq - 1) this.#append(stream, edge, leafOf(event));
        if (edge.size < streamSeq) this.#broken.add(stream);
        this.#followed = Math.max(this.#followed, seq);
      }
      if (entries.length < PAGE) return;
    }
  }

  /** Where the checkpoints end: only what we signed says that there is nothing to read before it. */
  async #resume(): Promise<number> {
    const furthest = await furthestCheckpoint(this.#store);
    return furthest !== undefined && signedTree(this.#signer.key, furthest) !== undefined ? (furthest.seq ?? 0) : 0;
  }

  /** The edge of a stream: at first the one that the newest checkpoint left, or the archive; an empty one where they are not ours or lack the peaks. */
  async #edge(stream: string): Promise<CompactRange> {
    const known = this.#edges.get(stream);
    if (known !== undefined) return known;
    const newest = await newestCheckpoint(this.#store, stream);
    const archived = await this.#archived(stream);
    const signed = (newest && signedTree(this.#signer.key, newest)) ?? new CompactRange(0, [], sha256);
    const begun = archived === undefined || archived === "damaged" ? undefined : archived.range;
    // Somebody else may have made it while this waited for the store.
    const edge = this.#edges.get(stream) ?? (begun !== undefined && begun.size > signed.size ? begun : signed);
    this.#edges.set(stream, edge);
    return edge;
  }

  #append(stream: string, edge: CompactRange, leaf: Uint8Array): void {
    edge.appendHash(leaf);
    this.#unsigned.add(stream);
  }

  async #sign(streams: readonly string[], seq: number, now: number): Promise<void> {
    // At one moment: records are counted while this waits.
    const states = streams.flatMap((stream): TreeState[] => {
      const edge = this.#edges.get(stream);
      return edge === undefined ? [] : [{ stream, seq, size: edge.size, root: edge.root(), peaks: edge.hashes }];
    });
    for (let tries = 1; ; tries += 1) {
      const docs: CheckpointDoc[] = [];
      for (const state of states) {
        const previous = await newestCheckpoint(this.#store, state.stream);
        // Another process may have been here; what it signed is never written over.
        if (previous === undefined || previous.size < state.size) docs.push(await this.#signed(state, previous, now));
      }
      const puts = docs.map((doc) => ({
        coll: "audit_checkpoints",
        id: `${doc.stream}/${doc.size}`,
        doc: doc as unknown as JsonObject,
        ifVersion: 0,
      }));
      const dels = (await Promise.all(docs.map(({ stream }) => this.#tooMany(stream)))).flat();
      if (puts.length === 0 || (await this.#store.commit({ commitId: randomUUID(), puts, dels })).ok) break;
      if (tries === TRIES) throw lostRace();
    }
    for (const { stream, size } of states) if (this.#edges.get(stream)?.size === size) this.#unsigned.delete(stream);
  }

  /** The oldest checkpoints of a log that one more is too many for; a log of before there was a bound loses them page by page. */
  async #tooMany(stream: string): Promise<readonly Del[]> {
    const over = (await this.#store.count("audit_checkpoints", "by_size", [stream])) + 1 - this.#kept;
    if (over <= 0) return [];
    const { items } = await this.#store.list("audit_checkpoints", "by_size", [stream], { limit: Math.min(over, PAGE) });
    return items.map(({ id }) => ({ coll: "audit_checkpoints", id }));
  }

  async #signed(state: TreeState, previous: CheckpointDoc | undefined, now: number): Promise<CheckpointDoc> {
    const { stream, seq, size, root, peaks } = state;
    const timestamp = new Date(now).toISOString();
    const text = noteText(this.#signer.key.name, state, previous?.root, timestamp);
    const note = await signNote(text, this.#signer.key, this.#signer.sign);
    return { stream, size, root: textOf(root), peaks: peaks.map(textOf), seq, note, timestamp };
  }

  /** Appends what a tree does not count yet, from the stream's own records, until one is missing. */
  async #catchUp(stream: string, tree: { readonly size: number }, append: (leaf: Uint8Array) => void): Promise<void> {
    let at = tree.size;
    for await (const leaf of leavesOf(this.#store, stream, at + 1)) {
      // Somebody else may have appended it while this waited for the store.
      if (tree.size === at) append(leaf);
      at += 1;
    }
  }
}

function notWhole(stream: string): CodedError<string> {
  return new CodedError("log_invalid", `the audit log of ${stream} is not whole: nothing is proven by it`);
}

function lacking(stream: string): CodedError<string> {
  return new CodedError("log_invalid", `the audit log of ${stream} lacks a record`);
}
