import { randomUUID } from "node:crypto";
import { CodedError } from "@seneschal/kernel";
import type { AuditDraft, Check, DocumentStore, Put } from "@seneschal/kernel/ports";
import type { Collection } from "../collection.ts";

/** Writes that are committed together, if what was read before them is still so. */
export interface GuardedWrites {
  get<T extends object>(from: Collection<T>, id: string): Promise<T | undefined>;
  put<T extends object>(into: Collection<T>, id: string, doc: T): void;
}

/** Others write too; each time one of them went on. */
const TRIES = 12;

/**
 * Runs work and commits what it wrote, with the audit events that its answer calls for; again, on what is there then, when somebody else changed what it
 * read. Throws `service_unavailable` for losing each time.
 */
export async function commitGuarded<R>(
  store: DocumentStore,
  work: (unit: GuardedWrites) => Promise<R>,
  audit: (answer: R) => readonly AuditDraft[] = () => [],
): Promise<R> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const checks = new Map<string, Check>();
    const puts = new Map<string, Put>();
    const answer = await work({
      async get<T extends object>({ name }: Collection<T>, id: string) {
        const found = await store.get(name, id);
        checks.set(`${name}/${id}`, { coll: name, id, version: found?.version ?? 0 });
        return found?.doc as T | undefined;
      },
      put({ name }, id, doc) {
        puts.set(`${name}/${id}`, { coll: name, id, doc: doc as Put["doc"] });
      },
    });
    if (puts.size === 0) return answer;
    const { ok } = await store.commit({
      commitId: randomUUID(),
      puts: [...puts.values()],
      checks: [...checks.values()],
      audit: audit(answer),
    });
    if (ok) return answer;
  }
  throw new CodedError("service_unavailable", "changed by others at the same time: try again", { retry_after: 1 });
}
