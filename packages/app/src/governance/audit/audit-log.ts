import { randomUUID } from "node:crypto";
import type { JsonObject } from "@seneschal/core";
import type { DocumentStore, Stored } from "@seneschal/core/ports";
import { canonicalJson } from "@seneschal/crypto";
import {
  checkpointText,
  leafHash,
  MerkleTree,
  type NoteKey,
  noteVerifierKey,
  type SignBytes,
  signNote,
} from "@seneschal/crypto/merkle";

/** Who signs the checkpoints. */
export interface CheckpointSigner {
  readonly key: NoteKey;
  readonly sign: SignBytes;
}

/** A kept checkpoint. */
interface CheckpointDoc {
  readonly stream: string;
  readonly size: number;
  readonly root: string;
  readonly note: string;
  readonly timestamp: string;
}

export interface AuditVerdict {
  readonly valid: boolean;
  readonly records: number;
  readonly root: string;
  readonly checkpoints: number;
  /** Size of the first checkpoint that the log does not agree with. */
  readonly first_bad_checkpoint: number | null;
  /** Records that a checkpoint counts and the log lacks. */
  readonly missing: number;
}

/** So many are read and hashed at once: requests wait for no more than that. */
const PAGE = 64;

/**
 * The audit log of each organisation as an RFC 9162 Merkle tree over the RFC 8785 form of its records. The store appends the records in the transaction of what
 * they record; the tree follows them. Signed checkpoints are kept in the store, and worth copying elsewhere: only a copy shows that log and checkpoints
 * were both rewritten.
 */
export class AuditLog {
  readonly #store: DocumentStore;
  readonly #signer: CheckpointSigner;
  readonly #trees = new Map<string, MerkleTree>();

  constructor(store: DocumentStore, signer: CheckpointSigner) {
    this.#store = store;
    this.#signer = signer;
  }

  get verifierKey(): string {
    return noteVerifierKey(this.#signer.key);
  }

  /** The tree of a stream, with every record that is in the store now. */
  async tree(stream: string): Promise<MerkleTree> {
    const tree = this.#trees.get(stream) ?? new MerkleTree();
    this.#trees.set(stream, tree);
    for (;;) {
      const { items } = await this.#store.list("audit", "stream", [stream], { from: [tree.size + 1], limit: PAGE });
      for (const item of items) {
        // Another caller may have added it while this one waited for the store.
        if (item.doc["stream_seq"] === tree.size + 1) tree.append(leafOf(item));
      }
      if (items.length < PAGE) return tree;
    }
  }

  /** Writes a checkpoint of the newest state; none for an empty log or when nothing was added since. */
  async checkpoint(stream: string, now: number): Promise<CheckpointDoc | undefined> {
    const tree = await this.tree(stream);
    if (tree.size === 0) return undefined;
    const id = `${stream}/${tree.size}`;
    const known = await this.#store.get("audit_checkpoints", id);
    if (known !== undefined) return known.doc as unknown as CheckpointDoc;
    const root = tree.root();
    const { items } = await this.#store.list("audit_checkpoints", "by_size", [stream], { limit: 1, reverse: true });
    const previous = (items[0]?.doc as unknown as CheckpointDoc | undefined)?.root;
    const text = checkpointText({
      origin: `${this.#signer.key.name}/${encodeURIComponent(stream)}`,
      size: tree.size,
      root,
      extensions: [...(previous === undefined ? [] : [`previous ${previous}`]), `time ${new Date(now).toISOString()}`],
    });
    const doc: CheckpointDoc = {
      stream,
      size: tree.size,
      root: Buffer.from(root).toString("base64"),
      note: await signNote(text, this.#signer.key, this.#signer.sign),
      timestamp: new Date(now).toISOString(),
    };
    await this.#store.commit({
      commitId: randomUUID(),
      puts: [{ coll: "audit_checkpoints", id, doc: doc as unknown as JsonObject, ifVersion: 0 }],
    });
    return doc;
  }

  /** Reads the whole log from the store again and compares it with every kept checkpoint and, if given, the caller's own. */
  async verify(stream: string, own?: { readonly size: number; readonly root: string }): Promise<AuditVerdict> {
    const tree = new MerkleTree();
    for (let from = 1; ; from += PAGE) {
      const { items } = await this.#store.list("audit", "stream", [stream], { from: [from], limit: PAGE });
      let expected = from;
      for (const item of items) {
        if (item.doc["stream_seq"] !== expected++) break;
        tree.append(leafOf(item));
      }
      if (items.length < PAGE) break;
    }
    const checkpoints: { readonly size: number; readonly root: string }[] = own === undefined ? [] : [own];
    for (let cursor: string | undefined; ; ) {
      const page = await this.#store.list("audit_checkpoints", "by_size", [stream], {
        limit: PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      });
      checkpoints.push(...page.items.map((item) => item.doc as unknown as CheckpointDoc));
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
    let bad: number | null = null;
    let largest = 0;
    for (const { size, root } of checkpoints) {
      largest = Math.max(largest, size);
      const agrees = size <= tree.size && Buffer.from(tree.root(size)).toString("base64") === root;
      if (!agrees) bad = Math.min(bad ?? size, size);
    }
    return {
      valid: bad === null,
      records: tree.size,
      root: Buffer.from(tree.root()).toString("base64"),
      checkpoints: checkpoints.length,
      first_bad_checkpoint: bad,
      missing: Math.max(0, largest - tree.size),
    };
  }

  /** Inclusion proof of the record at `streamSeq` (from 1) in the newest tree. */
  async proof(stream: string, streamSeq: number, event: JsonObject) {
    const tree = await this.tree(stream);
    const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
    return {
      leaf: encode(leafHash(Buffer.from(canonicalJson(event)))),
      index: streamSeq - 1,
      size: tree.size,
      root: encode(tree.root()),
      proof: tree.inclusionProof(streamSeq - 1).map(encode),
    };
  }
}

function leafOf(item: Stored): Uint8Array {
  return Buffer.from(canonicalJson(item.doc["event"] as JsonObject));
}
