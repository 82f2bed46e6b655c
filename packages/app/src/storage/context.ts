import { randomUUID } from "node:crypto";
import type { EventCategory, Severity } from "@seneschal/core/storage";
import type { Clock, Commit, CommitResult, CryptoProvider, DocumentStore, Random } from "@seneschal/kernel/ports";
import type { StorageMetrics } from "./metrics.ts";

/** Who asks for something, for the audit log. */
export interface Actor {
  readonly id: string;
  readonly source: string;
}

/** The node acting on its own. */
export const nodeActor: Actor = { id: "node", source: "internal" };

/** What every part of the storage engine is given. */
export interface StorageContext {
  readonly nodeId: string;
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly crypto: CryptoProvider;
  readonly metrics: StorageMetrics;
  emit(
    severity: Severity,
    category: EventCategory,
    message: string,
    details?: Readonly<Record<string, string | number | boolean>>,
  ): void;
}

/**
 * Commits under an id of its own. A conflict is the caller's business, and the only answer after which something may be undone:
 * what throws may have been committed.
 */
export function commit(store: DocumentStore, draft: Omit<Commit, "commitId">): Promise<CommitResult> {
  return store.commit({ ...draft, commitId: randomUUID() });
}
