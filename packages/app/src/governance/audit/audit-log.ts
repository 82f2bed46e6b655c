import { randomUUID } from "node:crypto";
import type { JsonObject } from "@seneschal/core";
import type { AuditDraft, AuditEntry, DocumentStore } from "@seneschal/core/ports";
import {
  CompactRange,
  checkpointText,
  leafHash,
  MerkleTree,
  type NoteKey,
  noteVerifierKey,
  type SignBytes,
  signNote,
} from "@seneschal/crypto/merkle";
import { type CheckpointDoc, newestCheckpoint, signedUpTo } from "./checkpoints.ts";
import { leafData, leavesOf, PAGE } from "./records.ts";
import { sha256 } from "./sha256.ts";
import { type AuditVerdict, type LogClaim, verifyLog } from "./verify-log.ts";

/** Who signs the checkpoints. */
export interface CheckpointSigner {
  readonly key: NoteKey;
  readonly sign: SignBytes;
}

/** What of a stream's tree is signed, and the store's sequence at that moment. */
interface TreeState {
  readonly stream: string;
  readonly seq: number;
  readonly size: number;
  readonly root: Uint8Array;
  readonly peaks: readonly Uint8Array[];
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
  committed(drafts: readonly AuditDraft[], numbers: readonly Pick<AuditEntry, "seq" | "streamSeq">[]): void {
    for (const [i, { seq, streamSeq }] of numbers.entries()) {
      const { stream, event } = drafts[i] as AuditDraft;
      const edge = this.#edges.get(stream);
      if (edge === undefined || this.#followed !== seq - 1) return;
      this.#count({ seq, stream, streamSeq, event }, edge);
    }
  }

  /** Counts the records that are in the store now. */
  follow(): Promise<void> {
    return this.#inTurn(() => this.#follow());
  }

  /** Writes a checkpoint of the newest state of every stream that has records which none counts. */
  checkpointAll(now: number): Promise<void> {
    return this.#inTurn(async () => {
      await this.#follow();
      await this.#sign(now);
    });
  }

  /** The checkpoint of the newest state of a stream; none for an empty log. */
  async checkpoint(stream: string, now: number): Promise<CheckpointDoc | undefined> {
    await this.checkpointAll(now);
    return newestCheckpoint(this.#store, stream);
  }

  /** Reads the whole log from the store again and compares it with every kept checkpoint and, if given, the caller's own. */
  verify(stream: string, own?: LogClaim): Promise<AuditVerdict> {
    return verifyLog(this.#store, stream, own);
  }

  /** Inclusion proof of the record at `streamSeq` (from 1) in the newest tree. */
  async proof(stream: string, streamSeq: number, event: JsonObject) {
    const tree = await this.#tree(stream);
    const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
    return {
      leaf: encode(leafHash(leafData(event), sha256)),
      index: streamSeq - 1,
      size: tree.size,
      root: encode(tree.root()),
      proof: tree.inclusionProof(streamSeq - 1).map(encode),
    };
  }

  /** Whoever counts or signs does so alone. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work, work);
    this.#last = done;
    return done;
  }

  async #follow(): Promise<void> {
    this.#followed ??= await signedUpTo(this.#store);
    for (;;) {
      const entries = await this.#store.auditRead(this.#followed, PAGE);
      for (const entry of entries) this.#count(entry, this.#edges.get(entry.stream) ?? (await this.#edgeOf(entry.stream)));
      if (entries.length < PAGE) return;
    }
  }

  #count({ seq, stream, streamSeq, event }: AuditEntry, edge: CompactRange): void {
    // What is counted already is passed over. Behind a gap nothing more is counted: `verify` shows it.
    if (streamSeq === edge.size + 1) {
      edge.append(leafData(event));
      this.#unsigned.add(stream);
    }
    this.#followed = Math.max(this.#followed ?? 0, seq);
  }

  /** The edge that the newest checkpoint left. */
  async #edgeOf(stream: string): Promise<CompactRange> {
    const newest = await newestCheckpoint(this.#store, stream);
    const edge =
      newest?.peaks === undefined
        ? new CompactRange(0, [], sha256)
        : new CompactRange(newest.size, newest.peaks.map(bytesOf), sha256);
    if (newest !== undefined && edge.size === 0)
      for await (const leaf of leavesOf(this.#store, stream)) if (edge.append(leaf) + 1 === newest.size) break;
    this.#edges.set(stream, edge);
    return edge;
  }

  async #sign(now: number): Promise<void> {
    // At one moment: records are counted while this waits.
    const seq = this.#followed ?? 0;
    const states = [...this.#edges]
      .filter(([stream]) => this.#unsigned.has(stream))
      .map(([stream, edge]) => ({ stream, seq, size: edge.size, root: edge.root(), peaks: edge.hashes }));
    const docs: CheckpointDoc[] = [];
    for (const state of states) {
      const previous = await newestCheckpoint(this.#store, state.stream);
      // Another process may have been here; what it signed is never written over.
      if (previous === undefined || previous.size < state.size) docs.push(await this.#signed(state, previous, now));
    }
    if (docs.length > 0) {
      const puts = docs.map((doc) => ({
        coll: "audit_checkpoints",
        id: `${doc.stream}/${doc.size}`,
        doc: doc as unknown as JsonObject,
        ifVersion: 0,
      }));
      if (!(await this.#store.commit({ commitId: randomUUID(), puts })).ok) return;
    }
    for (const { stream, size } of states) if (this.#edges.get(stream)?.size === size) this.#unsigned.delete(stream);
  }

  async #signed(state: TreeState, previous: CheckpointDoc | undefined, now: number): Promise<CheckpointDoc> {
    const { stream, seq, size, root, peaks } = state;
    const timestamp = new Date(now).toISOString();
    const text = checkpointText({
      origin: `${this.#signer.key.name}/${encodeURIComponent(stream)}`,
      size,
      root,
      extensions: [...(previous === undefined ? [] : [`previous ${previous.root}`]), `time ${timestamp}`],
    });
    return {
      stream,
      size,
      root: Buffer.from(root).toString("base64"),
      peaks: peaks.map((peak) => Buffer.from(peak).toString("base64")),
      seq,
      note: await signNote(text, this.#signer.key, this.#signer.sign),
      timestamp,
    };
  }

  /** The whole tree of a stream, with every record that is in the store now. */
  async #tree(stream: string): Promise<MerkleTree> {
    const tree = this.#trees.get(stream) ?? new MerkleTree(sha256);
    this.#trees.set(stream, tree);
    for (;;) {
      const { size } = tree;
      const { items } = await this.#store.list("audit", "stream", [stream], { from: [size + 1], limit: PAGE });
      for (const { doc } of items) {
        // Another caller may have added it while this one waited for the store.
        if (doc["stream_seq"] === tree.size + 1) tree.append(leafData(doc["event"] as JsonObject));
      }
      if (items.length < PAGE || tree.size === size) return tree;
    }
  }
}

function bytesOf(base64: string): Uint8Array {
  return Buffer.from(base64, "base64");
}
