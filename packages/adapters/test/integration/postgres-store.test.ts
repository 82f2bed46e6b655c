import { openPostgresStore } from "@seneschal/adapters/postgres";
import { documentStoreSuite } from "@seneschal/kernel/testing";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type PostgresServer, postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { rounds, runner, seed } from "../suite-runner.ts";

if (postgresBinaries() === undefined) test.skip("PostgreSQL is not installed (apt-get install postgresql)", () => {});
else
  describe("PostgreSQL store", () => {
    let server: PostgresServer;
    let places = 0;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server.destroy());

    documentStoreSuite(runner, {
      capabilities: { durable: true, multiProcess: true, subscribe: "push" },
      place: async () => {
        places += 1;
        const namespace = `place_${places}`;
        return { open: (schema) => openPostgresStore({ url: server.url, namespace, ...schema }), destroy: async () => {} };
      },
      seed,
      rounds: rounds(20),
    });
  });
