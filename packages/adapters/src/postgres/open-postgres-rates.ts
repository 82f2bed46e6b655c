import { CodedError, checkArgument, checkOptions, judgeTake, RATE_SLICES, sliceOf } from "@seneschal/kernel";
import type { Random, RateCounter } from "@seneschal/kernel/ports";
import { connectPostgres, type PostgresOptions } from "./connect.ts";

const WIDTH = RATE_SLICES + 1;
/** Milliseconds between removals of what is over. */
const PURGE_MS = 60_000;

/**
 * A {@link RateCounter} of all processes on one database: one row per key, one statement per take. The table is unlogged: it costs
 * no write-ahead log and is empty after a crash of the server. Processes should keep their clocks together; one that lags
 * counts into the newest slice.
 *
 * Throws what connecting throws, and `store_misconfigured` for a bad namespace.
 */
export async function openPostgresRates(options: PostgresOptions, random: Random): Promise<RateCounter> {
  checkOptions("options", options, { url: "string", namespace: "string?", poolSize: "number?", timeoutMs: "number?" });
  checkArgument("random", random, "function");
  const { pool, namespace, within } = connectPostgres({ poolSize: 4, ...options });
  const table = `${namespace}.rates`;
  const client = await pool.connect();
  let salt: Uint8Array;
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`seneschal rates ${namespace}`]);
    await client.query(`create schema if not exists ${namespace};
      create unlogged table if not exists ${table}
        (key text primary key, slice bigint not null, counts int[] not null, allowed boolean not null, until bigint not null)
        with (fillfactor = 50);
      create table if not exists ${namespace}.rate_salt (salt bytea not null)`);
    await client.query(
      `insert into ${namespace}.rate_salt select $1::bytea where not exists (select 1 from ${namespace}.rate_salt)`,
      [random(32)],
    );
    const { rows } = await client.query<{ salt: Buffer }>(`select salt from ${namespace}.rate_salt`);
    await client.query("commit");
    salt = new Uint8Array(rows[0]?.salt ?? []);
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  } finally {
    client.release();
  }

  // The row is locked before the expressions see it, so every take is judged on the last one. Empty slices are put in front for
  // the time that passed, then one is counted if there is room.
  const statement = `
    insert into ${table} as r (key, slice, counts, allowed, until)
    values ($1, $2, array_fill(1, array[1]) || array_fill(0, array[${RATE_SLICES}]), true, $4)
    on conflict (key) do update set
      slice = greatest(r.slice, $2),
      until = greatest(r.until, $4),
      (counts, allowed) = (
        select case when used < $3 then (slid[1] + 1) || slid[2:${WIDTH}] else slid end, used < $3
        from (select slid, (select sum(n) from unnest(slid) n) as used
          from (select array_fill(0, array[passed]) || r.counts[1:${WIDTH} - passed] as slid
            from (select least(greatest($2 - r.slice, 0), ${WIDTH})::int as passed) p) s) u)
    returning slice, counts, allowed`;

  let purged = 0;
  return {
    salt,
    async take(key, rate, now) {
      if (now - purged >= PURGE_MS) {
        purged = now;
        // Of no consequence when it fails: the next minute tries again.
        pool.query(`delete from ${table} where until < $1`, [now]).catch(() => {});
      }
      const until = Math.ceil(now + (rate.window * WIDTH) / RATE_SLICES);
      try {
        const query = { name: `take ${namespace}`, text: statement, values: [key, sliceOf(rate, now), rate.limit, until] };
        const { rows } = await within(pool.query<{ slice: string; counts: number[]; allowed: boolean }>(query));
        const [row] = rows;
        if (row === undefined) throw new Error("no row");
        return judgeTake({ slice: Number(row.slice), counts: row.counts }, row.allowed, rate, now);
      } catch (cause) {
        throw new CodedError("service_unavailable", "requests cannot be counted", {}, cause);
      }
    },
    close: () => pool.end(),
  };
}
