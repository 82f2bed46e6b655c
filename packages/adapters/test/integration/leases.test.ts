import { setTimeout as wait } from "node:timers/promises";
import { openEtcdLease } from "@seneschal/adapters/etcd";
import { openPostgresLease } from "@seneschal/adapters/postgres";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type EtcdCluster, etcdInstalled, startEtcdCluster } from "../../../../tools/etcd-cluster.ts";
import { type PostgresServer, postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { leaseLaws } from "../log/lease-laws.ts";

// A lease runs by the server's clock: waiting it out is the only way to see it end.
if (!etcdInstalled()) test.skip("etcd is not installed (apt-get install etcd-server)", () => {});
else
  describe("etcd lease", () => {
    let cluster: EtcdCluster;
    const open: { close(): void }[] = [];
    beforeAll(async () => {
      cluster = await startEtcdCluster({ members: 1 });
    });
    afterAll(async () => {
      for (const lease of open) lease.close();
      await cluster.destroy();
    });
    leaseLaws(
      async (self) => {
        const lease = openEtcdLease({ endpoints: cluster.endpoints, prefix: "/lease", self, ttlMs: 1000 });
        open.push(lease);
        return lease;
      },
      async (ttlMs) => wait(ttlMs + 1500),
    );
  });

if (postgresBinaries() === undefined) test.skip("PostgreSQL is not installed (apt-get install postgresql)", () => {});
else
  describe("PostgreSQL lease", () => {
    let server: PostgresServer;
    const open: { close(): Promise<void> }[] = [];
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(async () => {
      for (const lease of open) await lease.close();
      await server.destroy();
    });
    leaseLaws(
      async (self) => {
        const lease = await openPostgresLease({ url: server.url, name: "sequencer", self, ttlMs: 300 });
        open.push(lease);
        return lease;
      },
      async (ttlMs) => wait(ttlMs + 50),
    );
  });
