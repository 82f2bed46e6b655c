import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storageContract } from "@seneschal/contract/storage";
import { serve } from "@seneschal/server-fastify";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { holdRouteLaws, type Subject } from "../platform/route-laws.ts";
import { type Person, startStorage, tokenOf } from "./harness.ts";

async function open(): Promise<Subject> {
  const roots = mkdtempSync(join(tmpdir(), "route-laws-"));
  const h = await startStorage(serve, { test_knobs: true, device_roots: [roots] }, { devices: 9 });
  const ok = async (method: string, path: string, body?: unknown) => {
    const answer = await h.call("root", method, `/ui/api/${path}`, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  await ok("POST", "ops/tenants", { tenant_id: "alpha" });
  await createBucket(h.storage.node.objects, "alpha", "docs", "us-east-1");
  let made = 0;
  const name = (of: string): string => {
    made += 1;
    return `${of}-${made}`;
  };
  /** What a list has of the one that is called so. */
  const listed = (list: string, member: string, id: string) => async () =>
    (await ok("GET", list)).find((one: Record<string, unknown>) => one[member] === id);
  const finished = async (id: string) => {
    await h.storage.node.jobs.drain();
    return ok("GET", `jobs/${id}`);
  };
  const device = async (): Promise<string> => {
    const device_id = name("disk");
    await ok("POST", "ops/devices", { device_id, pool_id: "fast", directory: join(roots, device_id), capacity_bytes: 8 << 20 });
    return device_id;
  };
  const tenant = async (): Promise<string> => {
    const tenant_id = name("tenant");
    await ok("POST", "ops/tenants", { tenant_id });
    return tenant_id;
  };
  const pool = async (): Promise<string> => (await ok("POST", "ops/pools", { pool_id: name("pool"), class: "ssd" })).pool_id;
  return {
    call: (by, method, path, body) => h.call(by as Person, method, path, body),
    async audited() {
      // What was begun has its own events.
      await h.storage.node.jobs.drain();
      return (await h.store.auditRead(0, 10_000)).length;
    },
    async close() {
      await h.stop();
      rmSync(roots, { recursive: true });
    },
    situations: {
      setMaintenance: async () => ({ body: { enabled: false, shard_id: "shard-0" } }),
      startBackup: async () => ({
        body: { destination: "fs" },
        async read({ job_id }) {
          const { result } = await finished(job_id);
          return listed("ops/backups", "snapshot_id", result.snapshot_id)();
        },
      }),
      addDevice: async () => {
        const device_id = name("disk");
        const body = {
          device_id,
          node_id: "node-1",
          pool_id: "fast",
          directory: join(roots, device_id),
          capacity_bytes: 8 << 20,
        };
        return { body, read: listed("devices", "device_id", device_id) };
      },
      evacuateDevice: async () => ({ path: { device_id: await device() } }),
      removeDevice: async () => {
        const device_id = await device();
        await finished((await ok("POST", `ops/devices/${device_id}/evacuate`)).job_id);
        return { path: { device_id } };
      },
      simulateSmart: async () => ({ path: { device_id: "d0" }, read: async ({ simulated }) => simulated }),
      createPool: async () => {
        const pool_id = name("pool");
        return { body: { pool_id, class: "hdd", durability: { data: 3, parity: 1 } }, read: listed("pools", "pool_id", pool_id) };
      },
      removePool: async () => ({ path: { pool_id: await pool() } }),
      rebalancePool: async () => ({ path: { pool_id: "fast" } }),
      setThresholds: async () => ({
        path: { pool_id: "fast" },
        body: { warning: 71, critical: 81, read_only: 91, target_fill: 61 },
        read: async () => (await listed("pools", "pool_id", "fast")()).thresholds,
      }),
      setTuning: async () => ({ read: () => ok("GET", "tuning") }),
      createTenant: async () => {
        const tenant_id = name("tenant");
        return { body: { tenant_id }, read: listed("ops/tenants", "tenant_id", tenant_id) };
      },
      shredTenant: async () => {
        const tenant_id = await tenant();
        return { path: { tenant_id }, body: { confirm: tenant_id } };
      },
      setBucketQuota: async () => ({ path: { bucket: "docs" } }),
      removeBucketQuota: async () => ({ path: { bucket: "docs" } }),
      createCredential: async () => ({
        path: { tenant_id: "alpha" },
        body: { access: "read_only", resources: [{ bucket: "docs", prefix: "a/" }] },
        read: ({ access_key }) => listed("ops/tenants/alpha/credentials", "access_key", access_key as string)(),
      }),
      revokeCredential: async () => ({
        path: { access_key: (await ok("POST", "ops/tenants/alpha/credentials", {})).access_key },
      }),
      openSession: async () => ({ body: { token: tokenOf("root") } }),
    },
  };
}

const ofNodes = "of a cluster of several nodes: cluster.test.ts";
const ofJobs = "while a job runs: engine.test.ts";

holdRouteLaws({
  contract: storageContract,
  open,
  by: "root",
  otherwise: {
    startBackup: {
      destination: "where it is listed from: backup.test.ts",
      retention_days: "until when it is kept: backup.test.ts",
    },
    startScrub: { "*": "the scope is the job's: admin-http.test.ts" },
    addDevice: { directory: "a path of its node, which nobody is told but the audit log" },
    createPool: { durability: ({ read: { durability } }) => (durability === "ec-3-1" ? { data: 3, parity: 1 } : durability) },
    shredTenant: { confirm: "the tenant's id once more" },
    openSession: { token: "a secret" },
  },
  unsaid: {
    openSession: "of the memory of one process, nothing is kept",
    closeSession: "of the memory of one process, nothing is kept",
  },
  elsewhere: {
    restoreBackup: "into an empty cluster: backup.test.ts",
    cancelEvacuation: ofJobs,
    clearHold: ofJobs,
    cancelJob: ofJobs,
    drainNode: ofNodes,
    cancelDrain: ofNodes,
    evictNode: ofNodes,
  },
  aims: async () => ({ bucket: "docs", name: "dashboard.js" }),
});
