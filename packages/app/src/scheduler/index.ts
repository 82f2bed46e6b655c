export { type SchedulerParts, schedulerService } from "./build.ts";
export type { Repeat } from "./repeat.ts";
export { type SchedulerConfig, schedulerSettings } from "./settings.ts";
