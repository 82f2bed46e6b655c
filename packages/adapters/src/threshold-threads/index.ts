export { openThresholdThreads, type ThresholdThreads, type ThresholdThreadsOptions } from "./open-threshold-threads.ts";
