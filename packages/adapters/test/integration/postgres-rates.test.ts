import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { openPostgresRates } from "@seneschal/adapters/postgres";
import { systemRandom } from "@seneschal/adapters/system";
import { rateCounterSuite } from "@seneschal/kernel/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { sourceOptions } from "../../../../tools/source-options.ts";
import { rounds, runner, seed } from "../suite-runner.ts";

if (postgresBinaries() === undefined) test.skip("PostgreSQL is not installed (apt-get install postgresql)", () => {});
else
  describe("the rate counter on PostgreSQL", () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server.destroy());

    rateCounterSuite(runner, {
      shared: true,
      open: () => openPostgresRates({ url: server.url }, systemRandom),
      seed,
      rounds: rounds(10),
    });

    test("processes that take together get as many as the limit says between them", async () => {
      const child = () => {
        const script = new URL("take-rates.ts", import.meta.url).pathname;
        const args = [...sourceOptions, script, server.url];
        return text(spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] }).stdout);
      };
      const admitted = (await Promise.all([child(), child()])).map(Number);
      expect(admitted.reduce((sum, n) => sum + n, 0)).toBe(50);
    });

    test("what is over is removed; a server that is gone lets nobody in", async () => {
      const counter = await openPostgresRates({ url: server.url, namespace: "gone", timeoutMs: 500 }, systemRandom);
      const rate = { limit: 1, window: 1000 };
      expect((await counter.take("a", rate, 0)).allowed).toBe(true);
      expect((await counter.take("a", rate, 100_000_000)).allowed).toBe(true);
      await server.kill();
      await expect(counter.take("a", rate, 100_000_001)).rejects.toMatchObject({ code: "service_unavailable" });
      await counter.close();
      await server.restart();
    });
  });
