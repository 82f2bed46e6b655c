export { createMemoryLease, type MemoryLease } from "./create-memory-lease.ts";
export { createMemoryLog, type MemoryLog } from "./create-memory-log.ts";
export { openMemoryRates } from "./open-memory-rates.ts";
export { openMemoryStore } from "./open-memory-store.ts";
export { seededRandom } from "./seeded-random.ts";
export { type SettableClock, settableClock } from "./settable-clock.ts";
