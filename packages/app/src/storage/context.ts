import { randomUUID } from "node:crypto";
import { isCoded } from "@seneschal/core";
import type { Clock, Commit, CommitResult, CryptoProvider, DocumentStore, Random } from "@seneschal/core/ports";
import { type EventCategory, type Severity, storageError } from "@seneschal/core/storage";
import type { StorageMetrics } from "./watch/metrics.ts";

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
 * Commits, and settles an unknown outcome by sending the same commit again: a commit id is applied once. A conflict is
 * the caller's business.
 */
export async function commit(store: DocumentStore, draft: Omit<Commit, "commitId">): Promise<CommitResult> {
  const commitId = randomUUID();
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.commit({ ...draft, commitId });
    } catch (error) {
      if (!isCoded(error, "outcome_unknown")) throw error;
      if (attempt >= 3) throw storageError("ShardUnavailable", "it is not known whether the change is committed", {}, error);
    }
  }
}
