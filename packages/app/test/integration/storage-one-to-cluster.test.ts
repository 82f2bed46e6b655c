import { join } from "node:path";
import { expect, test } from "vitest";
import { migrate } from "../../src/compose/migration/migrate.ts";
import { processSettings } from "../../src/compose/process-settings.ts";
import { type FleetConfig, fleetInstalled, startFleet, until } from "./storage-fleet.ts";

const names = ["n1", "n2", "n3"] as const;

const alone = (config: FleetConfig) => ({
  ...config,
  cluster: { ...config.cluster, kind: "level", nodes: 1 },
  database: { kind: "level" },
});
const together = (config: FleetConfig) => ({ ...config, cluster: { ...config.cluster, nodes: 1 } });

test.skipIf(!fleetInstalled())(
  "a node that ran alone becomes the first of a cluster by seneschal migrate: nothing is lost, others join, and when its data is spread it may die",
  { timeout: 600_000 },
  async () => {
    const fleet = await startFleet(names, { running: 1, change: alone });
    try {
      for (let i = 0; i < 8; i++) await until("the object is written", () => fleet.write(0));
      await fleet.kill(0);
      const config = (change: (given: FleetConfig) => object) =>
        processSettings.parse({
          services: ["storage"],
          data_dir: join(fleet.directory, names[0]),
          storage: change(fleet.configOf(0)),
        });
      const parts = await migrate(config(alone), config(together));
      expect(parts.map(({ what, state }) => [what, state])).toEqual([
        ["database", "moved"],
        ["log", "moved"],
      ]);
      for (const at of [0, 1, 2]) await fleet.start(at, together);
      await fleet.healthy([0, 1, 2]);
      for (const at of [0, 1, 2]) {
        await fleet.checkAll(at);
        await until("the object is written", () => fleet.write(at));
      }
      const votersOf = async () =>
        ((await fleet.http(0, "GET", "/ui/api/shards")).body as { voters: string[] }[]).map(({ voters }) => voters.length);
      await until("every shard has a second voter", async () => (await votersOf()).every((count) => count >= 2));
      // A third one comes two hours after that.
      for (const at of [0, 1, 2]) fleet.skew(at, 3 * 3_600_000);
      await until("every shard has three voters", async () => (await votersOf()).every((count) => count === 3));
      await fleet.healthy([0, 1, 2]);
      const pools = (await fleet.http(0, "GET", "/ui/api/pools")).body as { pool_id: string }[];
      const { body } = await fleet.http(0, "POST", `/ui/api/ops/pools/${pools[0]?.pool_id}/rebalance`);
      expect(await fleet.finished(0, body.job_id)).toMatchObject({ state: "succeeded" });
      await fleet.kill(0);
      await until("the others lead every shard", async () =>
        ((await fleet.http(1, "GET", "/ui/api/shards")).body as { leader: string }[]).every(({ leader }) => leader !== names[0]),
      );
      await until("writes go on", () => fleet.write(1));
      for (const at of [1, 2]) await fleet.checkAll(at);
    } finally {
      await fleet.destroy();
    }
  },
);
