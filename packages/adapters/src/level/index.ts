export { openLevelLogMigratable, openLevelStoreMigratable } from "./level-migratable.ts";
export { openLevelLog } from "./open-level-log.ts";
export { type LevelStoreOptions, openLevelStore } from "./open-level-store.ts";
