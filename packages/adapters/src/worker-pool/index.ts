export { openWorkerPool, type WorkerPoolOptions } from "./open-worker-pool.ts";
export { serveTasks, workerSettings } from "./serve-tasks.ts";
