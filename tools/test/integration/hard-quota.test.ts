/** The program that the page of hard quotas shows, on a cluster of etcd. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { etcdInstalled, startEtcdCluster } from "../../etcd-cluster.ts";
import { sourceOptions } from "../../source-options.ts";
import { ROOT } from "../fixture-tree.ts";

if (!etcdInstalled())
  console.warn("etcd is not installed (tools/install-peers.sh): hard quotas are shown on the embedded log alone");

test.skipIf(!etcdInstalled())("hard quotas hold on a log in etcd as on the embedded one", async () => {
  const cluster = await startEtcdCluster();
  try {
    const env = { ...process.env, ETCD: cluster.endpoints.join() };
    const program = join(ROOT, "examples/hard-quota.ts");
    const { stdout } = await promisify(execFile)(process.execPath, [...sourceOptions, program], { env });
    expect(stdout).toContain("two nodes: true  three: allocation rejected");
    expect(stdout).toContain("asked again: true  allocations: 1");
  } finally {
    await cluster.destroy();
  }
});
