import { isOver, type Job } from "@seneschal/core/jobs";
import { type ChunkRef, mentionsOf, type Trash } from "@seneschal/core/storage";
import { CodedError } from "@seneschal/kernel";
import type { Check, Commit, CommitResult, DocumentStore } from "@seneschal/kernel/ports";
import { fragmentLength } from "../bytes/stripes.ts";
import { commit } from "../context.ts";
import { dropParts } from "../objects/multipart.ts";
import { referencePuts } from "../objects/references.ts";
import { unstage } from "../objects/store-body.ts";
import type { ChunkDoc, PartDoc } from "../schema.ts";
import type { MaintenanceParts } from "./parts.ts";

const stagedMs = 24 * 3_600_000;

/** What one collection did. */
export interface GarbageReport {
  readonly trash: number;
  readonly chunks: number;
  readonly bytes: number;
}

/**
 * One garbage collection: gives back the references of deleted objects, then deletes chunks that nothing refers to.
 * A chunk's record goes first, conditionally, so that a writer who takes a reference meanwhile keeps the chunk; extents
 * go after it and are never named again. Nothing that a backup may yet read is deleted, on whichever node it runs.
 *
 * @throws CodedError `backup_running` when one reads or begins; what was collected until then stays collected.
 */
export async function collectGarbage(parts: MaintenanceParts, signal?: AbortSignal): Promise<GarbageReport> {
  const { context, io } = parts;
  const { store, clock, metrics } = context;
  const commit = await fenceGarbage(store);
  for (;;) {
    const page = await store.list("storage_staged", "by_time", [], { to: [clock.now() - stagedMs], limit: 100 });
    for (const { id } of page.items) await unstage(context, id);
    if (page.items.length < 100) break;
  }
  let trash = 0;
  for (;;) {
    const page = await store.list("storage_trash", "by_due", [], { to: [clock.now()], limit: 100 });
    for (const { id, doc } of page.items) {
      signal?.throwIfAborted();
      await emptyTrash(parts, commit, id, doc["body"] as unknown as Trash);
      trash += 1;
    }
    if (page.items.length === 0) break;
  }
  let chunks = 0;
  let bytes = 0;
  for (;;) {
    const page = await store.list("storage_chunks", "unreferenced", [], { limit: 100 });
    for (const { id, doc, version } of page.items) {
      signal?.throwIfAborted();
      const result = await commit({ dels: [{ coll: "storage_chunks", id, ifVersion: version }] });
      if (!result.ok) continue;
      const chunk = doc as ChunkDoc;
      await Promise.all(chunk.fragments.map(io.drop));
      chunks += 1;
      bytes += fragmentLength(chunk.sealed, chunk.data) * chunk.fragments.length;
    }
    if (page.items.length < 100) break;
  }
  for (const id of parts.devices.ids()) await parts.devices.measure(id).catch(() => undefined);
  metrics.gcRuns.inc();
  metrics.gcReclaimed.inc(bytes);
  return { trash, chunks, bytes };
}

async function emptyTrash(parts: MaintenanceParts, commit: FencedCommit, id: string, body: Trash): Promise<void> {
  if (body.kind === "upload") await dropParts(parts.objects, body.upload);
  if (body.kind === "parts") {
    for (const part of body.parts) {
      const found = await parts.context.store.get("storage_parts", part.id);
      if (found !== undefined) await release(parts, commit, (found.doc as PartDoc).chunks, "storage_parts", part.id);
    }
  }
  await release(parts, commit, body.kind === "chunks" ? body.chunks : [], "storage_trash", id);
}

/** Drops one reference per mention and the record that held them, in one commit: never twice, never half. */
async function release(
  { context }: MaintenanceParts,
  commit: FencedCommit,
  refs: readonly ChunkRef[],
  coll: string,
  id: string,
): Promise<void> {
  const mentions = mentionsOf(refs);
  for (;;) {
    const record = await context.store.get(coll, id);
    if (record === undefined) return;
    const puts = await referencePuts(context, mentions, -1);
    const result = await commit({ puts, dels: [{ coll, id, ifVersion: record.version }] });
    if (result.ok) return;
  }
}

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
type FencedCommit = (draft: Omit<Commit, "commitId" | "checks">) => Promise<CommitResult>;

/** The right to delete until the next backup begins. Throws `backup_running` while one reads. */
async function fenceGarbage(store: DocumentStore): Promise<FencedCommit> {
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
