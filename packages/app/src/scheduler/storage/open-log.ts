import { join } from "node:path";
import { openLevelLog } from "@seneschal/adapters/level";
import { type Candidate, type SequencerLease, sha256 } from "@seneschal/adapters/log";
import { createMemoryLog } from "@seneschal/adapters/memory";
import { CodedError } from "@seneschal/kernel";
import type { ReplicatedLog } from "@seneschal/kernel/ports";
import { makePrivateDirectory } from "../../compose/private-files.ts";
import { etcdOptions } from "../../platform/index.ts";
import type { SchedulerConfig } from "../settings.ts";

type Storage = SchedulerConfig["storage"];

/** The clients of databases are loaded when they are wanted: each takes several megabytes. */
const etcd = () => import("@seneschal/adapters/etcd");
const postgres = () => import("@seneschal/adapters/postgres");

async function openPrivateLevel(path: string): Promise<ReplicatedLog> {
  await makePrivateDirectory(path);
  return openLevelLog({ path });
}

/** The configured log. Throws `config_invalid` when what it needs is missing, and what the adapters throw. */
export async function openLog(storage: Storage): Promise<ReplicatedLog> {
  switch (storage.kind) {
    case "memory":
      return createMemoryLog().open();
    case "level":
      return openPrivateLevel(join(needed(storage.path, "path"), "log"));
    case "etcd":
      return (await etcd()).openEtcdLog({
        ...etcdOptions(storage),
        prefix: storage.prefix,
        ...(storage.etcd_quota_bytes === undefined ? {} : { quotaBytes: storage.etcd_quota_bytes }),
      });
    case "postgres":
      return (await postgres()).openPostgresLog({ url: needed(storage.url, "url"), name: "scheduler" });
  }
}

/** A lease that can be closed. */
export type Lease = SequencerLease & { close?(): unknown };

/** The lease that elects whom the others forward to; only a log of several processes has one. */
export function openLease(storage: Storage, self: Candidate): Promise<Lease | undefined> {
  return leaseOf(storage, self, storage.prefix, "scheduler");
}

/** The lease of a process's name: one for each name, whoever goes by it. */
export function openNameLease(storage: Storage, self: Candidate, instance: string): Promise<Lease | undefined> {
  const name = sha256(instance).slice(0, 16);
  return leaseOf(storage, self, `${storage.prefix}/instances/${name}`, `scheduler instance ${name}`);
}

async function leaseOf(storage: Storage, self: Candidate, prefix: string, name: string): Promise<Lease | undefined> {
  switch (storage.kind) {
    case "etcd":
      return (await etcd()).openEtcdLease({ ...etcdOptions(storage), prefix, self });
    case "postgres":
      return (await postgres()).openPostgresLease({ url: needed(storage.url, "url"), name, self });
    default:
      return undefined;
  }
}

function needed(value: string | undefined, field: string): string {
  if (value === undefined) throw new CodedError("config_invalid", `storage.${field}: this kind of log needs it`);
  return value;
}
