import { isOver, type Job } from "@seneschal/core/jobs";
import { CodedError } from "@seneschal/kernel";
import type { Check, Commit, CommitResult, DocumentStore } from "@seneschal/kernel/ports";
import { commit } from "../context.ts";

const coll = "storage_counters";
const id = "backup";

/**
 * Notes, for every node, that this backup reads from now on: a collection that began earlier, wherever it runs, can delete no
 * more, and none begins until the job's record says that it is over. Throws `backup_running` while another one reads.
 */
export async function holdGarbage(store: DocumentStore, job: Job): Promise<void> {
  for (;;) {
    const { by, version } = await holder(store);
    if (by !== undefined && by.id !== job.id) throw backupRunning();
    const result = await commit(store, { puts: [{ coll, id, doc: { job: job.id }, ifVersion: version }] });
    if (result.ok) return;
  }
}

/** Commits what a collection does. Throws `backup_running` once a backup has begun to read. */
export type FencedCommit = (draft: Omit<Commit, "commitId" | "checks">) => Promise<CommitResult>;

/** The right to delete until the next backup begins. Throws `backup_running` while one reads. */
export async function fenceGarbage(store: DocumentStore): Promise<FencedCommit> {
  const { by, version } = await holder(store);
  if (by !== undefined) throw backupRunning();
  const check: Check = { coll, id, version };
  return async (draft) => {
    const result = await commit(store, { ...draft, checks: [check] });
    if (!result.ok && result.failed.some((f) => f.coll === coll && f.id === id)) throw backupRunning();
    return result;
  };
}

/** The backup that reads, by its job's record, and the version of the note. */
async function holder(store: DocumentStore): Promise<{ readonly by: Job | undefined; readonly version: number }> {
  const note = await store.get(coll, id);
  const job = note && ((await store.get("jobs", note.doc["job"] as string))?.doc as unknown as Job | undefined);
  return { by: job === undefined || isOver(job) ? undefined : job, version: note?.version ?? 0 };
}

function backupRunning(): CodedError {
  return new CodedError("backup_running", "a backup reads: nothing is deleted until it is over");
}
