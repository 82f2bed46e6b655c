export type { Repeat } from "../platform/index.ts";
export { type SchedulerParts, schedulerService } from "./build.ts";
export { type SchedulerConfig, schedulerSettings } from "./settings.ts";
