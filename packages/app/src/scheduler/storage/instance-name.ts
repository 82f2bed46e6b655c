import type { SequencerLease } from "@seneschal/adapters/log";
import type { Logger } from "@seneschal/adapters/logging";

/** Whether this process has its `instance_id` for itself. */
export interface InstanceName {
  /** Another living process goes by the same name on this log. */
  shared(): boolean;
  /** Looks once, and keeps the name. */
  keep(): Promise<void>;
  close(): Promise<void>;
}

export interface InstanceNameOptions {
  /** Of the name, held under an id that no other process has. Absent where only one process can open the log. */
  readonly lease: (SequencerLease & { close?(): unknown }) | undefined;
  /** This process's own id. */
  readonly process: string;
  readonly instance: string;
  readonly now: () => number;
  readonly log: Pick<Logger, "warn" | "info">;
}

/**
 * Finds out that two processes of one log have the same `server.instance_id`: the election and `/raft/status` tell processes apart by it, and
 * both would say that they lead. Nothing of the quotas depends on it. The name of a process that died is its own for as long as a lease
 * runs: what is seen no longer than twice that is no sharing.
 */
export function instanceName({ lease, process, instance, now, log }: InstanceNameOptions): InstanceName {
  let since: number | undefined;
  let shared = false;
  return {
    shared: () => shared,
    async keep() {
      if (lease === undefined) return;
      const { id } = await lease.renew();
      if (id === process) {
        if (shared) log.info({ instance_id: instance }, "this process has its instance_id for itself again");
        since = undefined;
        shared = false;
        return;
      }
      since ??= now();
      if (shared || now() - since <= 2 * lease.ttlMs) return;
      shared = true;
      log.warn(
        { instance_id: instance },
        "another process on this log has the same server.instance_id: who leads cannot be told; give each its own",
      );
    },
    async close() {
      await lease?.release().catch(() => undefined);
      await lease?.close?.();
    },
  };
}
