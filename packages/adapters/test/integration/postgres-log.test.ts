import { openPostgresLog, openPostgresLogMigratable } from "@seneschal/adapters/postgres";
import { replicatedLogSuite } from "@seneschal/kernel/testing";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { rounds, runner, seed } from "../suite-runner.ts";

if (postgresBinaries() === undefined) test.skip("PostgreSQL is not installed (apt-get install postgresql)", () => {});
else
  describe("PostgreSQL log", () => {
    let server: PostgresServer;
    let places = 0;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server.destroy());

    replicatedLogSuite(runner, {
      capabilities: { durable: true, shared: true },
      place: async () => {
        places += 1;
        const name = `place_${places}`;
        // a busy machine may stop the server for longer than the default allows
        return { open: () => openPostgresLog({ url: server.url, name, timeoutMs: 50_000 }), destroy: async () => {} };
      },
      seed,
      rounds: rounds(60),
    });

    test("what a migration has fenced takes no entry, whatever head a process of another release believes in", async () => {
      const options = { url: server.url, name: "fenced" };
      const log = await openPostgresLog(options);
      await log.append({ seq: 0, batchId: "" }, { v: 1, seq: 1, batchId: "b1", prevHash: "", at: 1, commands: [] });
      await log.close();
      const end = await openPostgresLogMigratable(options);
      await end.fence({ id: "m", from: "here", to: "there", at: "2026-01-01T00:00:00.000Z" });
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      const append = "update seneschal.log_fenced_head set seq = 2, batch_id = 'b2'";
      await expect(client.query(append)).rejects.toMatchObject({ code: "23514" });
      await end.unfence();
      expect((await client.query(append)).rowCount).toBe(1);
      await client.end();
      await end.close();
    });
  });
