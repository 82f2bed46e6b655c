import type { DocumentStore } from "@seneschal/core/ports";
import { CompactRange, checkpointText, type Sha256, signNote } from "@seneschal/crypto/merkle";
import { base64, bytes } from "../bytes.ts";
import { vaultName } from "../organizations/kek-name.ts";
import { collection } from "../store/collection.ts";
import type { Unit } from "../store/unit-of-work.ts";
import type { AuditRecord } from "./indexes.ts";
import { auditLeaf } from "./leaf.ts";
import type { LogKey } from "./log-key.ts";

/** The newest signed state of one stream, and of the whole log under {@link wholeLog}. */
export interface StoredCheckpoint {
  readonly stream: string;
  readonly size: number;
  /** Roots of the perfect subtrees, base64: what appending needs. */
  readonly peaks: readonly string[];
  /** C2SP signed note. */
  readonly note: string;
}

export const checkpoints = collection<StoredCheckpoint>("audit_checkpoints");

/** The checkpoint over every stream, by store sequence: the removal of a whole stream shows here. No stream has this name. */
export const wholeLog = "/all";

/** The log does not continue where its checkpoint ended. */
export class AuditTampered extends Error {
  override readonly name = "AuditTampered";
}

export function checkpointOrigin(instance: string, stream: string): string {
  return `seneschal.audit/${vaultName(instance)}/${vaultName(stream)}`;
}

/** The most events that {@link sealBatch} takes under one signature. */
export const SEAL_BATCH = 1024;

/** So many are read and hashed at once: requests wait for no more than that. */
const SLICE = 64;

/**
 * Brings the checkpoints up to the newest audit event, one batch: reads what came since the last, appends it to the tree of
 * its stream and of the whole log, signs. Answers how many events it took. Throws {@link AuditTampered} for a gap.
 */
export async function sealBatch(
  store: DocumentStore,
  unit: Unit,
  key: LogKey,
  { instance, sha256 }: { readonly instance: string; readonly sha256: Sha256 },
): Promise<number> {
  const whole = await open(unit, wholeLog, sha256);
  if (key.begun && whole.range.size === 0) throw new AuditTampered("the audit log's checkpoints are gone");
  const trees = new Map<string, Tree>([[wholeLog, whole]]);
  let taken = 0;
  for (let more = true; more && taken < SEAL_BATCH; ) {
    const entries = await store.auditRead(whole.range.size, SLICE);
    for (const { seq, stream, streamSeq, event } of entries) {
      const tree = trees.get(stream) ?? (await open(unit, stream, sha256));
      trees.set(stream, tree);
      if (seq !== whole.range.size + 1 || streamSeq !== tree.range.size + 1) {
        throw new AuditTampered(`the audit log has a gap before event ${streamSeq} of its stream`);
      }
      const record = { stream, stream_seq: streamSeq, event } as unknown as AuditRecord;
      const leaf = auditLeaf(record, sha256);
      tree.range.appendHash(leaf);
      whole.range.appendHash(leaf);
    }
    taken += entries.length;
    more = entries.length === SLICE;
  }
  if (taken === 0) return 0;
  for (const [stream, { range }] of trees) {
    const origin = checkpointOrigin(instance, stream);
    const text = checkpointText({ origin, size: range.size, root: range.root() });
    const note = await signNote(text, key.note, key.sign);
    unit.put(checkpoints, stream, { stream, size: range.size, peaks: range.hashes.map(base64), note });
  }
  if (!key.begun) await key.begin(unit);
  return taken;
}

interface Tree {
  readonly range: CompactRange;
}

async function open(unit: Unit, stream: string, sha256: Sha256): Promise<Tree> {
  const stored = await unit.get(checkpoints, stream);
  return { range: new CompactRange(stored?.size ?? 0, stored?.peaks.map(bytes) ?? [], sha256) };
}
