import { openPostgresLog } from "@seneschal/adapters/postgres";
import { replicatedLogSuite } from "@seneschal/kernel/testing";
import { afterAll, beforeAll, describe, test } from "vitest";
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
  });
