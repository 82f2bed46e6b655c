export { type ClassifierSettings, openClassifierThreads } from "./open-classifier-threads.ts";
