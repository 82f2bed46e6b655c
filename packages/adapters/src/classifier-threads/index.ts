export {
  type ClassifierSettings,
  type ClassifierThreads,
  type ClassifierThreadsOptions,
  openClassifierThreads,
} from "./open-classifier-threads.ts";
