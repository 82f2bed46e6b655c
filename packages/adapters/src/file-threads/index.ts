export { type FileThreads, type FileThreadsOptions, openFileThreads } from "./open-file-threads.ts";
export type { ClassifiedFile, FileTask, ServedFormat } from "./run-file-task.ts";
