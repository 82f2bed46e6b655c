import type { Argon2Params, WorkerPool } from "@seneschal/kernel/ports";
import { openWorkerPool } from "../worker-pool/index.ts";

/** One password to be hashed. */
export interface Argon2Task {
  readonly password: Uint8Array;
  readonly salt: Uint8Array;
  readonly params: Argon2Params;
  readonly length: number;
}

/** Two at a time (one owner leaves one of the three): each takes its whole memory cost, so that a flood of logins waits instead of filling the machine. What one took is given back when it has nothing to do. */
let pool: WorkerPool<Argon2Task, Uint8Array> | undefined;

/** argon2id by hash-wasm in a worker thread; the caller has checked the arguments. */
export function argon2InWorker(
  password: Uint8Array,
  salt: Uint8Array,
  params: Argon2Params,
  length: number,
): Promise<Uint8Array> {
  pool ??= openWorkerPool({
    name: "passwords",
    module: new URL("./worker", import.meta.url),
    workers: 3,
    deadline: 60_000,
    waitingPerOwner: 1000,
    idle: 1000,
  });
  return pool.run({ password, salt, params, length }, "");
}
