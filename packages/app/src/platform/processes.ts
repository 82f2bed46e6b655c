import type { Metrics } from "@seneschal/adapters/metrics";
import type { ServerProcesses } from "@seneschal/contract";
import { checkArgument } from "@seneschal/kernel";
import { Counter, Gauge } from "prom-client";
import type { HealthCheck } from "./health.ts";

/** The processes in front of a service, once it listens. */
type Processes = () => ServerProcesses | undefined;

/** Unhealthy while fewer processes serve than there are to be. The others go on. */
export function processesCheck(processes: Processes): HealthCheck {
  return {
    name: "processes",
    required: false,
    async check() {
      const { wanted, running } = processes() ?? { wanted: 0, running: 0 };
      if (running < wanted) throw new Error(`${running} of ${wanted} serve`);
    },
  };
}

/** Registers how many processes serve and how many were replaced, read when somebody looks. */
export function measureProcesses(metrics: Metrics, processes: Processes): void {
  checkArgument("metrics", metrics, "object");
  checkArgument("processes", processes, "function");
  const { registry, prefix } = metrics;
  const registers = [registry];
  new Gauge({
    name: `${prefix}_server_processes`,
    help: "Processes in front of the service that serve",
    registers,
    collect() {
      this.set(processes()?.running ?? 0);
    },
  });
  new Counter({
    name: `${prefix}_server_processes_replaced_total`,
    help: "Processes in front of the service that ended and were replaced",
    registers,
    collect() {
      this.reset();
      this.inc(processes()?.replaced ?? 0);
    },
  });
}
