import type { Logger } from "@seneschal/adapters/logging";
import type { CryptoProvider, DocumentStore, Random, Vault } from "@seneschal/core/ports";
import type { NoteKey, Sha256 } from "@seneschal/crypto/merkle";
import type { Background } from "../../platform/background.ts";
import { base64 } from "../bytes.ts";
import { reader } from "../store/reader.ts";
import { transact } from "../store/unit-of-work.ts";
import { openLogKey } from "./log-key.ts";
import { AuditTampered, checkpoints, SEAL_BATCH, type StoredCheckpoint, sealBatch, wholeLog } from "./sealer.ts";
import { type AuditFlaw, recordsInOrder, verifyRecords } from "./verify.ts";

/** The tamper evidence over the store's audit log. */
export interface AuditLog {
  /** Signs everything that is committed by now. */
  seal(): Promise<void>;
  /** What is wrong with an organisation's log; `undefined` when nothing is. */
  verify(stream: string): Promise<AuditFlaw | undefined>;
  /** The same over the log of the whole instance: shows the removal of an organisation. */
  verifyAll(): Promise<AuditFlaw | undefined>;
  checkpoint(stream: string): Promise<(StoredCheckpoint & { readonly root: string; readonly public_key: string }) | undefined>;
  /** Seals after commits, at most every `intervalMs`, until stopped. */
  start(background: Background, intervalMs?: number): void;
  stop(): Promise<void>;
}

interface Needs {
  readonly store: DocumentStore;
  readonly vault: Vault;
  readonly crypto: CryptoProvider;
  readonly random: Random;
  readonly instance: string;
  readonly log: Logger;
  readonly commitId: () => string;
}

/** After a seal that failed. */
const RETRY_MS = 10_000;

/** The audit log of one instance. */
export function auditLog({ store, vault, crypto, random, instance, log, commitId }: Needs): AuditLog {
  const sha256: Sha256 = (data) => crypto.hash("sha256", data);
  const read = reader(store);
  let publicKey: NoteKey | undefined;
  let sealing: Promise<void> = Promise.resolve();
  let unsubscribe = (): void => undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const sealAll = async (): Promise<void> => {
    for (;;) {
      const taken = await transact(store, commitId, async (unit) => {
        const logIsEmpty = (await store.auditRead(0, 1)).length === 0;
        const key = await openLogKey(unit, { vault, crypto, random, instance, logIsEmpty });
        if (key === undefined) throw new AuditTampered("the audit log's key record is gone");
        if (publicKey !== undefined && base64(publicKey.publicKey) !== base64(key.note.publicKey)) {
          throw new AuditTampered("the audit log's key was replaced");
        }
        const count = await sealBatch(store, unit, key, { instance, sha256 });
        publicKey = key.note;
        return count;
      });
      // A batch that is not full reached the end: what came meanwhile waits, or a busy log would be signed without a pause.
      if (taken < SEAL_BATCH) return;
    }
  };

  const seal = (): Promise<void> => {
    const next = sealing.then(sealAll, sealAll);
    // The chain goes on after a failure; whoever asked hears of it.
    sealing = next.catch(() => undefined);
    return next;
  };

  const verify = async (stream: string): Promise<AuditFlaw | undefined> => {
    try {
      await seal();
    } catch (error) {
      if (!(error instanceof AuditTampered)) throw error;
      log.error({ error }, "audit log is not whole");
      return "event_missing";
    }
    const checkpoint = await read.get(checkpoints, stream);
    if (checkpoint === undefined) {
      const events = stream === wholeLog ? (await store.auditRead(0, 1)).length : await store.count("audit", "stream", [stream]);
      return events === 0 ? undefined : "checkpoint_invalid";
    }
    if (publicKey === undefined) return "checkpoint_invalid";
    return verifyRecords(recordsInOrder(store, stream), checkpoint, { instance, key: publicKey, sha256 });
  };

  return {
    seal,
    verify,
    verifyAll: () => verify(wholeLog),
    async checkpoint(stream) {
      await seal();
      const stored = await read.get(checkpoints, stream);
      if (stored === undefined || publicKey === undefined) return undefined;
      const [, , root = ""] = stored.note.split("\n");
      return { ...stored, root, public_key: base64(publicKey.publicKey) };
    },
    start(background, intervalMs = 250) {
      const due = (ms: number): void => {
        timer ??= setTimeout(async () => {
          timer = undefined;
          const sealed = await background.step("audit seal", () => seal().then(() => true));
          // Nothing may come that asks again.
          if (sealed === undefined && !stopped) due(RETRY_MS);
        }, ms).unref();
      };
      unsubscribe = store.subscribe(() => due(intervalMs));
      due(intervalMs);
    },
    async stop() {
      stopped = true;
      unsubscribe();
      clearTimeout(timer);
      await seal().catch((error: unknown) => log.error({ error }, "the audit log could not be sealed"));
    },
  };
}
