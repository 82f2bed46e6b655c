import { openEtcdLog } from "@seneschal/adapters/etcd";
import { replicatedLogSuite } from "@seneschal/kernel/testing";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type EtcdCluster, etcdInstalled, startEtcdCluster } from "../../../../tools/etcd-cluster.ts";
import { rounds, runner, seed } from "../suite-runner.ts";

if (!etcdInstalled()) test.skip("etcd is not installed (apt-get install etcd-server)", () => {});
else
  describe("etcd log", () => {
    let cluster: EtcdCluster;
    let places = 0;
    beforeAll(async () => {
      cluster = await startEtcdCluster();
    });
    afterAll(() => cluster.destroy());

    replicatedLogSuite(runner, {
      capabilities: { durable: true, shared: true },
      place: async () => {
        places += 1;
        const prefix = `/place/${places}`;
        return { open: () => openEtcdLog({ endpoints: cluster.endpoints, prefix }), destroy: async () => {} };
      },
      seed,
      rounds: rounds(60),
    });
  });
