import { type CompactRange, checkpointText, type NoteKey, openCheckpoint, openTree } from "@seneschal/crypto/merkle";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { everyDocument } from "../../platform/index.ts";
import { governanceLog } from "./form.ts";
import { sha256 } from "./sha256.ts";

/** A kept checkpoint. */
export interface CheckpointDoc {
  readonly stream: string;
  /** Records that it counts. */
  readonly size: number;
  /** Base64, as the peaks. */
  readonly root: string;
  /** Roots of the perfect subtrees, from which the tree goes on; absent in checkpoints of earlier versions. */
  readonly peaks?: readonly string[];
  /** Records of all streams up to this sequence of the store are counted by checkpoints; 0 where that is not known. */
  readonly seq?: number;
  readonly note: string;
  readonly timestamp: string;
}

/** What of a stream's tree is signed. */
export interface TreeState {
  readonly stream: string;
  readonly size: number;
  readonly root: Uint8Array;
  readonly peaks: readonly Uint8Array[];
  /** Records of all streams up to here are counted by checkpoints, this one among them. */
  readonly seq: number;
}

/** The newest checkpoint of a stream. */
export async function newestCheckpoint(store: DocumentStore, stream: string): Promise<CheckpointDoc | undefined> {
  const { items } = await store.list("audit_checkpoints", "by_size", [stream], { limit: 1, reverse: true });
  return items[0]?.doc as unknown as CheckpointDoc | undefined;
}

/** Every checkpoint of a stream, smallest first. */
export async function* checkpointsOf(store: DocumentStore, stream: string): AsyncGenerator<CheckpointDoc> {
  for await (const { doc } of everyDocument(store, "audit_checkpoints", "by_size", [stream]))
    yield doc as unknown as CheckpointDoc;
}

/** The checkpoint that says of the most records that they are all counted. */
export async function furthestCheckpoint(store: DocumentStore): Promise<CheckpointDoc | undefined> {
  const { items } = await store.list("audit_checkpoints", "by_seq", [], { limit: 1, reverse: true });
  return items[0]?.doc as unknown as CheckpointDoc | undefined;
}

/** The text that is signed. */
export function noteText(name: string, state: TreeState, previous: string | undefined, timestamp: string): string {
  return checkpointText({
    origin: governanceLog.checkpointOrigin(name, state.stream),
    size: state.size,
    root: state.root,
    extensions: [...(previous === undefined ? [] : [`previous ${previous}`]), `seq ${state.seq}`, `time ${timestamp}`],
  });
}

const expected = (key: NoteKey, stream: string) => ({ origin: governanceLog.checkpointOrigin(key.name, stream), keys: [key] });

/** True when the key has signed everything that the document says; checkpoints of earlier versions say less. */
export function isVouchedFor(key: NoteKey, checkpoint: CheckpointDoc): boolean {
  const { stream, size, root, seq, peaks, note, timestamp } = checkpoint;
  if (seq !== undefined || peaks !== undefined)
    return signedTree(key, checkpoint) !== undefined && note.split("\n").includes(`time ${timestamp}`);
  try {
    const signed = openCheckpoint(note, expected(key, stream));
    return signed.size === size && textOf(signed.root) === root;
  } catch {
    return false;
  }
}

/** The tree that a checkpoint counts, when the key has signed what the document says, its peaks included. */
export function signedTree(key: NoteKey, { stream, root, seq, peaks = [], ...kept }: CheckpointDoc): CompactRange | undefined {
  const tree = openTree({ ...kept, peaks }, expected(key, stream), sha256);
  const same = tree !== undefined && textOf(tree.range.root()) === root && tree.extensions.includes(`seq ${seq}`);
  return same ? tree.range : undefined;
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
