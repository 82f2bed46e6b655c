export type { PostgresOptions } from "./connect.ts";
export { openPostgresLogMigratable } from "./migration/open-log-migratable.ts";
export { openPostgresStoreMigratable } from "./migration/open-store-migratable.ts";
export { openPostgresLease, type PostgresLeaseOptions } from "./open-postgres-lease.ts";
export { openPostgresLog, type PostgresLogOptions } from "./open-postgres-log.ts";
export { openPostgresRates } from "./open-postgres-rates.ts";
export { openPostgresStore, type PostgresStoreOptions } from "./open-postgres-store.ts";
