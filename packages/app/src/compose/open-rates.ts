import { openMemoryRates } from "@seneschal/adapters/memory";
import type { Random, RateCounter } from "@seneschal/kernel/ports";

/** Where a service keeps its records: PostgreSQL counts requests for every process on it, anything else in this process alone. */
export async function openRates(
  database: { readonly kind: string; readonly url?: string | undefined; readonly namespace?: string | undefined },
  random: Random,
): Promise<RateCounter> {
  const { kind, url, namespace } = database;
  if (kind !== "postgres" || url === undefined) return openMemoryRates(random);
  // Loaded when it is wanted: a client of several megabytes.
  const { openPostgresRates } = await import("@seneschal/adapters/postgres");
  return openPostgresRates({ url, ...(namespace === undefined ? {} : { namespace }) }, random);
}
