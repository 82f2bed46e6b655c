import { availableParallelism } from "node:os";
import { openWorkerPool } from "@seneschal/adapters/worker-pool";
import { storageError } from "@seneschal/core/storage";
import { CodedError } from "@seneschal/kernel";
import type { WorkerPool } from "@seneschal/kernel/ports";
import { largeBytes } from "./buffers.ts";
import { type ChunkOutcome, type ChunkTask, doChunkTask } from "./chunk-work.ts";

/** One for the process. A tenant leaves one of the threads to the others, and has a core's worth each of what there is. */
let pool: WorkerPool<ChunkTask, ChunkOutcome> | undefined;

/**
 * Does a task with the bytes of a chunk: in a thread when they are many, at once when they are few. A task is begun once, as it writes
 * into memory that is used again. Throws `ShardUnavailable` when the threads do not get to it.
 */
export async function onChunkThread(task: ChunkTask, tenant: string): Promise<ChunkOutcome> {
  const bytes = task.kind === "open" ? task.sealed : task.plaintext;
  if (bytes.length < largeBytes) return doChunkTask(task);
  pool ??= openWorkerPool({
    name: "chunks",
    module: new URL("./worker", import.meta.url),
    workers: availableParallelism() + 1,
    deadline: 60_000,
    // The memory budget bounds how many there are.
    waitingPerOwner: 10_000,
    idle: 60_000,
  });
  try {
    return await pool.run(inSharedMemory(task), tenant);
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    throw storageError("ShardUnavailable", "a chunk was not worked on in time, try again", {}, error);
  }
}

/** With plaintext in memory that threads see: a message would copy it, and all that lies around it. */
function inSharedMemory(task: ChunkTask): ChunkTask {
  if (task.kind === "open" || task.plaintext.buffer instanceof SharedArrayBuffer) return task;
  const plaintext = new Uint8Array(new SharedArrayBuffer(task.plaintext.length));
  plaintext.set(task.plaintext);
  return { ...task, plaintext };
}
