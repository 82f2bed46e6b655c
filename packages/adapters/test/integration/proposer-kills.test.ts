import { openEtcdLog } from "@seneschal/adapters/etcd";
import { openPostgresLog } from "@seneschal/adapters/postgres";
import { test } from "vitest";
import { etcdInstalled, startEtcdCluster } from "../../../../tools/etcd-cluster.ts";
import { postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { proposerKills } from "../store-faults/proposer-kills.ts";
import { rounds } from "../suite-runner.ts";

test.skipIf(!etcdInstalled())("etcd log: kill -9 of the proposer loses and doubles nothing that was answered", async () => {
  const cluster = await startEtcdCluster();
  await proposerKills(`etcd:${cluster.endpoints.join(",")}`, rounds(4), () =>
    openEtcdLog({ endpoints: cluster.endpoints, prefix: "/propose-loop" }),
  );
  await cluster.destroy();
});

test.skipIf(postgresBinaries() === undefined)(
  "PostgreSQL log: kill -9 of the proposer loses and doubles nothing that was answered",
  async () => {
    const server = await startPostgres();
    await proposerKills(server.url, rounds(4), () => openPostgresLog({ url: server.url, name: "propose_loop" }));
    await server.destroy();
  },
);
