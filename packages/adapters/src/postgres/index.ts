export type { PostgresOptions } from "./connect.ts";
export { openPostgresStore, type PostgresStoreOptions } from "./open-postgres-store.ts";
