import { openLogger } from "@seneschal/adapters/logging";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLocalDevices } from "../../src/storage/data/devices.ts";
import { openMaintenance } from "../../src/storage/jobs/open-maintenance.ts";
import { openRounds } from "../../src/storage/jobs/open-rounds.ts";
import { openRig, operator, type Rig } from "./rig.ts";

let rig: Rig;
beforeEach(async () => {
  rig = await openRig();
});
afterEach(() => rig.dispose());

const hourMs = 3_600_000;

test("rounds opened alone do what is due once in its time; what failed is due with the next round", async () => {
  const { parts, background, tenants, jobs } = rig.node;
  const { context, cluster, objects } = parts;
  let [samples, expiries, fails] = [0, 0, false];
  const rounds = openRounds({
    parts,
    maintenance: {
      jobs,
      scrubUnlessRunning: async () => undefined,
      async expireBackups() {
        expiries += 1;
        if (fails) throw new Error("the target does not answer");
      },
    },
    lead: { context, cluster, shards: objects.shards, up: () => true, logSeq: () => 0 },
    monitor: {
      async sample() {
        samples += 1;
      },
    },
    tenants,
    notifications: { watch: async () => undefined, forget: async () => undefined },
    replication: { watch: async () => undefined, awaitExisting: async () => undefined },
    background,
    takeBadReads: () => 0,
    sampleMs: hourMs,
    expectedNodes: 1,
    backupCleanupMs: hourMs,
    jobRetentionMs: hourMs,
  });
  await rounds.tick();
  expect([samples, expiries]).toEqual([1, 0]);
  fails = true;
  rig.clock.advance(hourMs);
  await rounds.tick();
  await expect.poll(() => background.failing()).toContain("expired backups");
  fails = false;
  await rounds.tick();
  await expect.poll(() => background.failing()).not.toContain("expired backups");
  expect(expiries).toBe(2);
  await rounds.tick();
  expect([samples, expiries]).toEqual([4, 2]);
  await rounds.stop();
});

test("maintenance opened alone begins the same work once, runs it, and lets go of what was cancelled", async () => {
  const { parts, background } = rig.node;
  const { context, cluster, devices } = parts;
  const maintenance = openMaintenance({
    parts,
    local: createLocalDevices(context, cluster, devices, undefined, () => []),
    peers: { addDevice: async () => undefined },
    background,
    log: openLogger({ level: "silent" }),
    pools: Object.keys(cluster.state.pools),
    backupDefaults: { retention_days: 1, include_data: false },
    reading: () => ({}),
  });
  const scrub = await maintenance.scrub({ kind: "cluster" }, operator);
  await expect(maintenance.scrub({ kind: "cluster" }, operator)).rejects.toMatchObject({
    code: "AlreadyExists",
    details: { job_id: scrub.id },
  });
  await maintenance.scrubUnlessRunning({ kind: "cluster" }, {});
  expect(await maintenance.jobs.list({ limit: 10 })).toHaveLength(1);
  await maintenance.jobs.drain();
  expect(await maintenance.jobs.get(scrub.id)).toMatchObject({ state: "succeeded" });
  await expect(maintenance.evictNode(context.nodeId, operator)).rejects.toMatchObject({ code: "EvacuationRefused" });
  await expect(
    maintenance.addDevice("nowhere", { id: "d", pool: "p", directory: "/d", capacityBytes: 1 }, operator),
  ).rejects.toMatchObject({ code: "NotFound" });
  await maintenance.jobs.stop();
});
