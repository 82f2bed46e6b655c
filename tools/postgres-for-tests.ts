import { startPostgres } from "./postgres-cluster.ts";

/** Vitest's global set-up: a PostgreSQL whose URL the suites find in `TEST_DATABASE`. */
export default async function postgresForTests(): Promise<() => Promise<void>> {
  const server = await startPostgres({ max_connections: "300" });
  process.env["TEST_DATABASE"] = server.url;
  return () => server.destroy();
}
