import { randomUUID } from "node:crypto";
import {
  CompactRange,
  leafHash,
  MerkleTree,
  type NoteKey,
  noteVerifierKey,
  type SignBytes,
  signNote,
} from "@seneschal/crypto/merkle";
import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { AuditDraft, AuditNumber, DocumentStore } from "@seneschal/kernel/ports";
import { lostRace } from "../fault.ts";
import {
  bytesOf,
  type CheckpointDoc,
  furthestCheckpoint,
  isSigned,
  newestCheckpoint,
  noteText,
  type TreeState,
  textOf,
} from "./checkpoints.ts";
import { leafData, leavesOf, PAGE } from "./records.ts";
import { sha256 } from "./sha256.ts";
import { type AuditVerdict, type LogClaim, verifyLog } from "./verify-log.ts";

/** Other processes sign too; each round leaves less to be done. */
const TRIES = 5;

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
  /** Whole trees, of streams that proofs were asked of. */
  readonly #trees = new Map<string, MerkleTree>();

  constructor(store: DocumentStore, signer: CheckpointSigner) {
    this.#store = store;
    this.#signer = signer;
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
      this.#append(stream, edge, leafData(time === undefined ? event : { ...event, timestamp: time }));
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
  verify(stream: string, own?: LogClaim): Promise<AuditVerdict> {
    return verifyLog(this.#store, stream, this.#signer.key, own);
  }

  /** Inclusion proof of the record at `streamSeq` (from 1) in the newest tree. */
  async proof(stream: string, streamSeq: number, event: JsonObject) {
    const tree = await this.#tree(stream);
    return {
      leaf: textOf(leafHash(leafData(event), sha256)),
      index: streamSeq - 1,
      size: tree.size,
      root: textOf(tree.root()),
      proof: tree.inclusionProof(streamSeq - 1).map(textOf),
    };
  }

  /** How many records the log has, and the proof that its first `first` ones are unchanged in its first `second` ones, when it has so many. */
  async consistency(stream: string, first: number, second?: number) {
    const tree = await this.#tree(stream);
    const { size } = tree;
    const to = second ?? size;
    if (first > to || to > size) return { size };
    const proof = { first_root: textOf(tree.root(first)), second_root: textOf(tree.root(to)) };
    return { size, proven: { first, second: to, ...proof, proof: tree.consistencyProof(first, to).map(textOf) } };
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
        const edge = this.#edges.get(stream) ?? (await this.#edgeOf(stream));
        if (edge.size < streamSeq - 1 && !this.#broken.has(stream))
          await this.#catchUp(stream, edge, (leaf) => this.#append(stream, edge, leaf));
        if (edge.size === streamSeq - 1) this.#append(stream, edge, leafData(event));
        if (edge.size < streamSeq) this.#broken.add(stream);
        this.#followed = Math.max(this.#followed, seq);
      }
      if (entries.length < PAGE) return;
    }
  }

  /** Where the checkpoints end: only what we signed says that there is nothing to read before it. */
  async #resume(): Promise<number> {
    const furthest = await furthestCheckpoint(this.#store);
    return furthest !== undefined && isSigned(this.#signer.key, furthest) ? (furthest.seq ?? 0) : 0;
  }

  /** The edge that the newest checkpoint left; an empty one where it is not ours or lacks the peaks. */
  async #edgeOf(stream: string): Promise<CompactRange> {
    const newest = await newestCheckpoint(this.#store, stream);
    const edge =
      newest !== undefined && isSigned(this.#signer.key, newest)
        ? new CompactRange(newest.size, newest.peaks?.map(bytesOf), sha256)
        : new CompactRange(0, [], sha256);
    this.#edges.set(stream, edge);
    return edge;
  }

  #append(stream: string, edge: CompactRange, leaf: Uint8Array): void {
    edge.append(leaf);
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
      if (puts.length === 0 || (await this.#store.commit({ commitId: randomUUID(), puts })).ok) break;
      if (tries === TRIES) throw lostRace();
    }
    for (const { stream, size } of states) if (this.#edges.get(stream)?.size === size) this.#unsigned.delete(stream);
  }

  async #signed(state: TreeState, previous: CheckpointDoc | undefined, now: number): Promise<CheckpointDoc> {
    const { stream, seq, size, root, peaks } = state;
    const timestamp = new Date(now).toISOString();
    const text = noteText(this.#signer.key.name, state, previous?.root, timestamp);
    const note = await signNote(text, this.#signer.key, this.#signer.sign);
    return { stream, size, root: textOf(root), peaks: peaks.map(textOf), seq, note, timestamp };
  }

  /** The whole tree of a stream, with every record that is in the store now. */
  async #tree(stream: string): Promise<MerkleTree> {
    const tree = this.#trees.get(stream) ?? new MerkleTree(sha256);
    this.#trees.set(stream, tree);
    await this.#catchUp(stream, tree, (leaf) => tree.append(leaf));
    return tree;
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

function lacking(stream: string): CodedError<string> {
  return new CodedError("log_invalid", `the audit log of ${stream} lacks a record`);
}
