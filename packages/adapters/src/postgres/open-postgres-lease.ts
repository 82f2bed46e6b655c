import { checkOptions } from "@seneschal/kernel";
import type { Candidate, Holder, SequencerLease } from "../log/open-sequencer.ts";
import { connectPostgres, type PostgresOptions } from "./connect.ts";

/** Options of {@link openPostgresLease}. */
export interface PostgresLeaseOptions extends PostgresOptions {
  /** One lease, one name. */
  readonly name: string;
  readonly self: Candidate;
  /** Default 5,000. */
  readonly ttlMs?: number;
}

/** A {@link SequencerLease} in PostgreSQL: one row that expires by the database's clock. */
export async function openPostgresLease(options: PostgresLeaseOptions): Promise<SequencerLease & { close(): Promise<void> }> {
  checkOptions("options", options, {
    name: "string",
    self: "object",
    ttlMs: "number?",
    url: "string",
    namespace: "string?",
    poolSize: "number?",
    timeoutMs: "number?",
  });
  const { pool, namespace } = connectPostgres(options);
  const { self, name, ttlMs = 5000 } = options;
  const table = `${namespace}.leases`;
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`seneschal leases ${namespace}`]);
    await client.query(`create schema if not exists ${namespace}; create table if not exists ${table}
      (name text primary key, id text not null, address text not null, term bigint not null, until timestamptz not null)`);
    await client.query("commit");
  } finally {
    client.release();
  }
  return {
    ttlMs,
    renew: async (): Promise<Holder> => {
      await pool.query(
        `insert into ${table} as held values ($1, $2, $3, 1, clock_timestamp() + $4 * interval '1 ms')
         on conflict (name) do update set id = $2, address = $3, until = excluded.until,
           term = held.term + case when held.id = $2 then 0 else 1 end
         where held.id = $2 or held.until < clock_timestamp()`,
        [name, self.id, self.address, ttlMs],
      );
      const { rows } = await pool.query<{ id: string; address: string; term: string }>(
        `select id, address, term from ${table} where name = $1`,
        [name],
      );
      return { id: rows[0]?.id ?? "", address: rows[0]?.address ?? "", term: Number(rows[0]?.term) };
    },
    release: async () => {
      await pool.query(`update ${table} set until = clock_timestamp() where name = $1 and id = $2`, [name, self.id]);
    },
    close: () => pool.end(),
  };
}
