import type { Metrics } from "@seneschal/adapters/metrics";
import { checkArgument } from "@seneschal/kernel";
import type { WorkerPoolState } from "@seneschal/kernel/ports";
import { Counter, Gauge } from "prom-client";
import type { HealthCheck } from "./health.ts";

/** The states of a service's pools of workers, at the moment. */
type Pools = () => readonly WorkerPoolState[];

/**
 * Unhealthy while a pool is stuck (work waits, and for longer than its deadline none was done) or its workers cannot be started. The rest of the
 * service goes on.
 */
export function workersCheck(pools: Pools): HealthCheck {
  return {
    name: "workers",
    required: false,
    async check() {
      const all = pools();
      const told = (what: string, of: readonly WorkerPoolState[]) =>
        of.length === 0 ? [] : [`${what}: ${of.map(({ name }) => name).join(", ")}`];
      const wrong = [
        ...told(
          "stuck",
          all.filter(({ stuck }) => stuck),
        ),
        ...told(
          "cannot be started",
          all.filter(({ failing }) => failing),
        ),
      ];
      if (wrong.length > 0) throw new Error(wrong.join("; "));
    },
  };
}

/** Registers what the pools do, read when somebody looks. */
export function measureWorkers(metrics: Metrics, pools: Pools): void {
  checkArgument("metrics", metrics, "object");
  checkArgument("pools", pools, "function");
  const { registry, prefix } = metrics;
  const registers = [registry];
  const labelNames = ["pool"];
  const gauge = (name: string, help: string, of: (state: WorkerPoolState) => number): void => {
    new Gauge({
      name: `${prefix}_workers_${name}`,
      help,
      labelNames,
      registers,
      collect() {
        for (const state of pools()) this.set({ pool: state.name }, of(state));
      },
    });
  };
  const counter = (name: string, help: string, of: (state: WorkerPoolState) => number): void => {
    new Counter({
      name: `${prefix}_workers_${name}_total`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const state of pools()) this.inc({ pool: state.name }, of(state));
      },
    });
  };
  gauge("running", "Worker threads that run", ({ workers }) => workers);
  gauge("busy", "Worker threads that have work", ({ busy }) => busy);
  gauge("waiting", "Tasks that no worker has yet", ({ waiting }) => waiting);
  gauge("stuck", "1 while tasks wait and none was done for longer than a deadline", ({ stuck }) => (stuck ? 1 : 0));
  counter("tasks", "Tasks done", ({ done }) => done);
  counter("deadlines", "Tasks given up at their deadline", ({ deadlines }) => deadlines);
  counter("replaced", "Workers that ended with work in hand", ({ replaced }) => replaced);
  gauge("failing", "1 while the last worker that was to be started could not be", ({ failing }) => (failing ? 1 : 0));
  counter("unstarted", "Workers that could not be started", ({ unstarted }) => unstarted);
  counter("refused", "Tasks refused because their owner had too much waiting", ({ refused }) => refused);
}
