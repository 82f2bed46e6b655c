import { smartReadingOf } from "@seneschal/adapters/smart";
import type { Handlers } from "@seneschal/contract";
import type { StorageContract } from "@seneschal/contract/storage";
import { type ScrubScope, storageError } from "@seneschal/core/storage";
import { CodedError } from "@seneschal/kernel";
import { poolCommand } from "../cluster/pool-command.ts";
import { listBackups, targetOf } from "../jobs/backup.ts";
import type { StorageNode } from "../node.ts";
import { readBucketQuota, setBucketQuota } from "../objects/bucket-usage.ts";
import { type AdminServices, audited } from "./services.ts";
import { deviceViews, jobView, poolViews } from "./views.ts";

type OperationRoute =
  | "setMaintenance"
  | "startBackup"
  | "listBackups"
  | "restoreBackup"
  | "startScrub"
  | "collectGarbage"
  | "addDevice"
  | "evacuateDevice"
  | "cancelEvacuation"
  | "clearHold"
  | "removeDevice"
  | "simulateSmart"
  | "createPool"
  | "removePool"
  | "drainNode"
  | "cancelDrain"
  | "evictNode"
  | "rebalancePool"
  | "setThresholds"
  | "setTuning"
  | "cancelJob"
  | "rotateKeys"
  | "listTenants"
  | "createTenant"
  | "shredTenant"
  | "getBucketQuota"
  | "setBucketQuota"
  | "removeBucketQuota"
  | "listCredentials"
  | "createCredential"
  | "revokeCredential";

const begun = (message: string, job_id: string) => ({ status: "ok" as const, message, job_id });
const done = (message: string) => ({ status: "ok" as const, message });

async function deviceOf(node: StorageNode, id: string) {
  const view = (await deviceViews(node)).find((d) => d.device_id === id);
  if (view === undefined) throw storageError("NotFound", `no such device: ${id}`, { field: "device_id" });
  return view;
}

function poolOf(node: StorageNode, id: string) {
  const view = poolViews(node).find((p) => p.pool_id === id);
  if (view === undefined) throw storageError("NotFound", `no such pool: ${id}`, { field: "pool_id" });
  return view;
}

export const operationHandlers: Pick<Handlers<StorageContract, AdminServices>, OperationRoute> = {
  setMaintenance: (services, input) =>
    audited(services, "maintenance", input, async (actor) => {
      const { enabled } = input.body;
      const shard = input.body.shard_id ?? null;
      await services.node.cluster.propose({ kind: "maintenance.set", enabled, ...(shard === null ? {} : { shard }) }, actor);
      return { ...done(`maintenance is ${enabled ? "on" : "off"} for ${shard ?? "the cluster"}`), enabled, shard_id: shard };
    }),
  startBackup: (services, input) =>
    audited(services, "backup", input, async (actor) => {
      const { destination, include_data, retention_days } = input.body;
      const params = {
        ...(destination && { destination }),
        ...(include_data !== undefined && { include_data }),
        ...(retention_days !== undefined && { retention_days }),
      };
      targetOf(services.node.parts, params);
      return begun("the backup has begun", (await services.node.backup(params, actor)).id);
    }),
  async listBackups({ node }, { query }) {
    const found = await listBackups(targetOf(node.parts, { ...(query.destination && { destination: query.destination }) }));
    return found.map(({ format: _format, files: _files, key: _key, vault: _vault, ...facts }) => facts);
  },
  restoreBackup: (services, input) =>
    audited(services, "restore", input, async (actor) => {
      const { snapshot_id, destination, pool_id } = input.body;
      const params = { snapshot_id, ...(destination && { destination }), ...(pool_id && { pool_id }) };
      return begun("the restore has begun", (await services.node.restore(params, actor)).id);
    }),
  startScrub: (services, input) =>
    audited(services, "scrub", input, async (actor) =>
      begun("the scrub has begun", (await services.node.scrub(input.body as ScrubScope, actor)).id),
    ),
  collectGarbage: (services, input) =>
    audited(services, "gc", input, async (actor) =>
      begun("the collection has begun", (await services.node.collectGarbage(actor)).id),
    ),
  addDevice: (services, input) =>
    audited(services, "add_device", input, async (actor) => {
      const { device_id: id, node_id, pool_id: pool, directory, capacity_bytes: capacityBytes } = input.body;
      const { node } = services;
      await node.addDevice(node_id ?? node.context.nodeId, { id, pool, directory, capacityBytes }, actor);
      return deviceOf(node, id);
    }),
  evacuateDevice: (services, input) =>
    audited(services, "evacuate", input, async (actor) =>
      begun(
        `device ${input.params.device_id} is being evacuated`,
        (await services.node.evacuate(input.params.device_id, actor)).id,
      ),
    ),
  cancelEvacuation: (services, input) =>
    audited(services, "cancel_evacuation", input, async (actor) => {
      await services.node.cancelEvacuation(input.params.device_id, actor);
      return deviceOf(services.node, input.params.device_id);
    }),
  clearHold: (services, input) =>
    audited(services, "clear_hold", input, async (actor) => {
      await services.node.cluster.propose(
        { kind: "device.event", id: input.params.device_id, event: { kind: "clear_hold" } },
        actor,
      );
      return deviceOf(services.node, input.params.device_id);
    }),
  removeDevice: (services, input) =>
    audited(services, "remove_device", input, async (actor) => {
      await services.node.removeDevice(input.params.device_id, actor);
      await services.simulation?.set(input.params.device_id, undefined, actor);
      return done(`device ${input.params.device_id} is forgotten`);
    }),
  simulateSmart: (services, input) =>
    audited(services, "simulate_smart", input, async (actor) => {
      const { simulation, node } = services;
      if (simulation === undefined)
        throw new CodedError("forbidden", "SMART readings are not simulated here: storage.test_knobs is off");
      const { device_id } = await deviceOf(node, input.params.device_id);
      const simulated = Object.values(input.body).some((value) => value !== undefined) ? input.body : null;
      await simulation.set(device_id, simulated === null ? undefined : smartReadingOf(simulated), actor);
      const message = simulated === null ? "SMART reading no longer simulated" : "SMART reading simulated";
      node.context.emit("warning", "device", message, { device: device_id });
      return { ...done(`device ${device_id}: ${message}, from its next round on`), device_id, simulated };
    }),
  createPool: (services, input) =>
    audited(services, "create_pool", input, async (actor) => {
      await services.node.cluster.propose(poolCommand(input.body), actor);
      return poolOf(services.node, input.body.pool_id);
    }),
  removePool: (services, input) =>
    audited(services, "remove_pool", input, async (actor) => {
      await services.node.removePool(input.params.pool_id, actor);
      return done(`pool ${input.params.pool_id} is gone`);
    }),
  drainNode: (services, input) =>
    audited(services, "drain_node", input, async (actor) =>
      begun(`node ${input.params.node_id} drains`, (await services.node.drainNode(input.params.node_id, actor)).id),
    ),
  cancelDrain: (services, input) =>
    audited(services, "cancel_drain", input, async (actor) => {
      await services.node.cancelDrain(input.params.node_id, actor);
      return done(`node ${input.params.node_id} stays`);
    }),
  evictNode: (services, input) =>
    audited(services, "evict_node", input, async (actor) => {
      await services.node.evictNode(input.params.node_id, actor);
      return done(`node ${input.params.node_id} is evicted`);
    }),
  rebalancePool: (services, input) =>
    audited(services, "rebalance", input, async (actor) =>
      begun(`pool ${input.params.pool_id} is being rebalanced`, (await services.node.rebalance(input.params.pool_id, actor)).id),
    ),
  setThresholds: (services, input) =>
    audited(services, "thresholds", input, async (actor) => {
      const { warning, critical, read_only, target_fill } = input.body;
      const thresholds = {
        ...(warning !== undefined && { warning }),
        ...(critical !== undefined && { critical }),
        ...(read_only !== undefined && { readOnly: read_only }),
        ...(target_fill !== undefined && { targetFill: target_fill }),
      };
      await services.node.cluster.propose({ kind: "pool.thresholds", id: input.params.pool_id, thresholds }, actor);
      return poolOf(services.node, input.params.pool_id);
    }),
  setTuning: (services, input) =>
    audited(services, "tuning", input, async (actor) => {
      const values = Object.fromEntries(Object.entries(input.body).filter(([, value]) => value !== undefined)) as Record<
        string,
        number
      >;
      await services.node.cluster.propose({ kind: "tuning.set", values }, actor);
      return { ...services.node.cluster.state.tuning };
    }),
  cancelJob: (services, input) =>
    audited(services, "cancel_job", input, async (actor) => {
      const { job_id } = input.params;
      const job = await services.node.jobs.get(job_id);
      if (job === undefined) throw storageError("NotFound", `no such job: ${job_id}`, { field: "job_id" });
      // An evacuation that ends must leave its device Degraded, not Evacuating for ever.
      if (job.kind === "evacuation" && (job.state === "running" || job.state === "queued"))
        await services.node.cancelEvacuation(job.params["device"] as string, actor);
      else if (job.kind === "drain" && (job.state === "running" || job.state === "queued"))
        await services.node.cancelDrain(job.params["node"] as string, actor);
      else await services.node.jobs.cancel(job_id);
      return jobView((await services.node.jobs.get(job_id)) ?? job);
    }),
  rotateKeys: (services, input) =>
    audited(services, "rotate_keys", input, async (actor) => {
      const epoch = await services.node.rotateKeys(actor);
      return { ...done(`new chunks use master key epoch ${epoch}`), epoch };
    }),
  async listTenants({ node }) {
    const tenants = await node.tenants.list();
    return tenants.map((t) => ({
      tenant_id: t.id,
      state: t.state,
      dedup: t.dedup,
      created_at: new Date(t.created_at).toISOString(),
    }));
  },
  createTenant: (services, input) =>
    audited(services, "create_tenant", input, async (actor) => {
      const { tenant_id, dedup } = input.body;
      await services.node.tenants.create(tenant_id, { dedup }, actor);
      return { ...done(`tenant ${tenant_id} is created`), tenant_id };
    }),
  shredTenant: (services, input) =>
    audited(services, "crypto_shred", input, async (actor) => {
      const { tenant_id } = input.params;
      if (input.body.confirm !== tenant_id)
        throw new CodedError("validation_failed", "confirm must be the tenant id", { field: "confirm" });
      await services.node.tenants.shred(tenant_id, actor);
      return done(`the key of tenant ${tenant_id} is destroyed`);
    }),
  getBucketQuota: ({ node }, { params }) => readBucketQuota(node.objects, params.bucket),
  setBucketQuota: (services, input) =>
    audited(services, "set_bucket_quota", input, (actor) => {
      const { max_bytes, max_objects } = input.body;
      const quota = { ...(max_bytes !== undefined && { max_bytes }), ...(max_objects !== undefined && { max_objects }) };
      return setBucketQuota(services.node.objects, input.params.bucket, quota, actor);
    }),
  removeBucketQuota: (services, input) =>
    audited(services, "remove_bucket_quota", input, (actor) =>
      setBucketQuota(services.node.objects, input.params.bucket, undefined, actor),
    ),
  async listCredentials({ credentials }, { params, query }) {
    const keys = await credentials.list(params.tenant_id, query);
    return keys.map(({ access_key, created_at, access }) => ({
      access_key,
      created_at: new Date(created_at).toISOString(),
      access: access?.mode ?? ("read_write" as const),
      resources: access?.resources?.map((resource) => ({ ...resource })) ?? null,
    }));
  },
  createCredential: (services, input) =>
    audited(services, "create_credential", input, async (actor) => {
      const { access, resources } = input.body;
      const limited = access === "read_only" || resources !== undefined;
      const limits = limited ? { mode: access, ...(resources && { resources }) } : undefined;
      const made = await services.credentials.create(input.params.tenant_id, actor, limits);
      return { ...made, access, resources: resources ?? null };
    }),
  revokeCredential: (services, input) =>
    audited(services, "revoke_credential", input, async (actor) => {
      await services.credentials.revoke(input.params.access_key, actor);
      return done(`access key ${input.params.access_key} is revoked`);
    }),
};
