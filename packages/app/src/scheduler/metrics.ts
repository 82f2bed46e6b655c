import type { GuardedLog } from "@seneschal/adapters/log";
import type { Metrics } from "@seneschal/adapters/metrics";
import type { QuotaState } from "@seneschal/quota";
import { Counter, Gauge, Histogram } from "prom-client";
import type { CycleReport } from "./cycle/cycle.ts";
import type { InstanceName } from "./storage/instance-name.ts";
import type { LogSpace } from "./storage/log-space.ts";

/** What the scheduler counts beside HTTP. Labels are bounded: no tenant, no user, no allocation. */
export interface SchedulerMetrics {
  cycle(report: CycleReport): void;
  accountingDropped(count: number): void;
  webhook(result: "delivered" | "failed"): void;
}

export interface SchedulerMetricsOptions {
  readonly metrics: Metrics;
  readonly state: () => QuotaState;
  readonly space: LogSpace;
  readonly log: Pick<GuardedLog, "available">;
  readonly name: Pick<InstanceName, "shared">;
}

export function schedulerMetrics({ metrics, state, space, log, name }: SchedulerMetricsOptions): SchedulerMetrics {
  const registers = [metrics.registry];
  const seconds = new Histogram({
    name: "scheduler_cycle_seconds",
    help: "Duration of a scheduling cycle",
    buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
    registers,
  });
  const proposals = new Counter({
    name: "scheduler_proposals_total",
    help: "Proposals of the cycle by what became of them",
    labelNames: ["result"],
    registers,
  });
  const dropped = new Counter({
    name: "scheduler_accounting_events_dropped_total",
    help: "Usage events that did not fit into the buffer",
    registers,
  });
  const webhooks = new Counter({
    name: "scheduler_webhook_deliveries_total",
    help: "Budget notifications by result",
    labelNames: ["result"],
    registers,
  });
  const waiting = new Gauge({ name: "scheduler_allocations_waiting", help: "Held or waiting for nodes", registers });
  new Gauge({
    name: "scheduler_allocations_live",
    help: "Allocations that have not ended",
    registers,
    collect() {
      this.set(state().live.size);
    },
  });
  new Gauge({
    name: "scheduler_nodes",
    help: "Registered nodes",
    registers,
    collect() {
      this.set(state().nodes.size);
    },
  });
  new Gauge({
    name: "scheduler_log_available",
    help: "Whether the log answers with a quorum: 1 or 0",
    registers,
    collect() {
      this.set(log.available() ? 1 : 0);
    },
  });
  new Gauge({
    name: "scheduler_instance_id_shared",
    help: "Whether another process on the log goes by the same instance_id: 1 or 0",
    registers,
    collect() {
      this.set(name.shared() ? 1 : 0);
    },
  });
  new Gauge({
    name: "scheduler_log_bytes",
    help: "Storage of the log's engine: bytes in use, taken from the disk, and its limit, where it says so",
    labelNames: ["kind"],
    registers,
    collect() {
      const { sizeBytes, allocatedBytes, quotaBytes } = space.status() ?? {};
      for (const [kind, bytes] of Object.entries({ in_use: sizeBytes, allocated: allocatedBytes, limit: quotaBytes }))
        if (bytes !== undefined) this.set({ kind }, bytes);
    },
  });
  new Gauge({
    name: "scheduler_log_entries",
    help: "Entries of the log that are not truncated, where its engine says so",
    registers,
    collect() {
      const entries = space.status()?.entries;
      if (entries !== undefined) this.set(entries);
    },
  });
  return {
    cycle(report) {
      seconds.observe(report.ms / 1000);
      proposals.inc({ result: "accepted" }, report.proposed - report.refused);
      proposals.inc({ result: "refused" }, report.refused);
      waiting.set(report.waiting.length);
    },
    accountingDropped: (count) => dropped.inc(count),
    webhook: (result) => webhooks.inc({ result }),
  };
}
