import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import type { Argon2Params } from "@seneschal/core/ports";

/** Two at a time: each takes its whole memory cost, so that a flood of logins waits instead of filling the machine. */
const LANES = 2;

const SOURCE = `
const { parentPort, workerData } = require("node:worker_threads");
const { module, password, salt, time, memoryKiB, parallelism, length } = workerData;
require(module)
  .argon2id({ password, salt, iterations: time, memorySize: memoryKiB, parallelism, hashLength: length, outputType: "binary" })
  .then((hash) => parentPort.postMessage(hash));
`;

const { resolve: locate } = createRequire(import.meta.url);
const lanes: Promise<unknown>[] = Array.from({ length: LANES }, () => Promise.resolve());
let turn = 0;

/** argon2id by hash-wasm in a worker thread; the caller has checked the arguments. */
export function argon2InWorker(
  password: Uint8Array,
  salt: Uint8Array,
  params: Argon2Params,
  length: number,
): Promise<Uint8Array> {
  const lane = turn++ % LANES;
  const result = (lanes[lane] ?? Promise.resolve()).then(() => compute(password, salt, params, length));
  lanes[lane] = result.catch(() => undefined);
  return result;
}

function compute(password: Uint8Array, salt: Uint8Array, params: Argon2Params, length: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(SOURCE, {
      eval: true,
      workerData: { module: locate("hash-wasm"), password, salt, ...params, length },
    });
    worker.once("message", (hash: Uint8Array) => {
      resolve(hash);
      worker.terminate().catch(reject);
    });
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("argon2id worker ended without a result")));
  });
}
