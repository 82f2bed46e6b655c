import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { startService } from "@seneschal/app/platform";
import { schedulerService, schedulerSettings } from "@seneschal/app/scheduler";
import { serve } from "@seneschal/server-fastify";
import type { Bench, BenchResult } from "../bench.ts";
import type { Load, LoadReport } from "../load-client.ts";
import { runClient } from "../run-client.ts";

const TOKEN = "token-of-the-bench";
const NODES = 1000;

/** The scheduler on the embedded log with a cluster of its own; cycles only when asked for. */
async function startScheduler(path: string) {
  const service = schedulerService({ repeat: () => ({ stop: async () => undefined }) });
  const config = schedulerSettings.parse({
    tokens: [{ id: "root", role: "system-admin", sha256: createHash("sha256").update(TOKEN).digest("hex") }],
    rate_limit: { authenticated: { limit: 1_000_000_000 } },
    storage: { kind: "level", path },
  });
  const log = openLogger({ level: "silent" });
  const started = await startService(service, config, {
    serve,
    listen: { port: 0 },
    clock: systemClock,
    random: systemRandom,
    log,
    version: "bench",
  });
  const call = async (method: string, route: string, body?: object): Promise<{ readonly id: string }> => {
    const response = await fetch(`${started.url}${route}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${route}: ${response.status}`);
    return response.json() as Promise<{ id: string }>;
  };
  return { ...started, port: Number(new URL(started.url).port), call };
}

function load(port: number, call: Pick<Load, "method" | "path" | "body">): Promise<LoadReport> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const orders: Load = { ...call, port, headers, connections: 64, milliseconds: 4000 };
  return runClient<LoadReport>("load-client.ts", orders);
}

/** The scheduler as its users meet it: over HTTP, 64 connections, every call authenticated, authorised and checked. */
export const benches: readonly Bench[] = [
  {
    name: "quota-http",
    async run(): Promise<readonly BenchResult[]> {
      const path = await mkdtemp(join(tmpdir(), "quota-http-"));
      const scheduler = await startScheduler(path);
      try {
        const { call, port } = scheduler;
        await call("POST", "/api/v1/tenants", { name: "t0", max_nodes: 1_000_000 });
        for (let i = 0; i < NODES; i++) await call("POST", "/api/v1/nodes", { id: `n${i}`, group: `g${i >> 5}` });
        const { id } = await call("POST", "/api/v1/allocations", { tenant: "t0" });
        const calls: readonly (readonly [string, Pick<Load, "method" | "path" | "body">])[] = [
          ["submit, dry run", { method: "POST", path: "/api/v1/allocations?dry_run=true", body: '{"tenant":"t0"}' }],
          ["read an allocation", { method: "GET", path: `/api/v1/allocations/${id}` }],
          ["read a tenant's usage", { method: "GET", path: "/api/v1/tenants/t0/usage?days=90" }],
          ["change a quota", { method: "PUT", path: "/api/v1/tenants/t0", body: '{"max_nodes":1000000}' }],
          ["submit", { method: "POST", path: "/api/v1/allocations", body: '{"tenant":"t0","nodes":4,"labels":{"n":"{n}"}}' }],
        ];
        const results: BenchResult[] = [];
        for (const [name, what] of calls) {
          const { perSecond, p50, p99 } = await load(port, what);
          const bar = name === "submit" ? { bar: ">= 1,000" } : {};
          results.push({ name: `quota over HTTP, ${name}`, value: perSecond, unit: "1/s", ...bar });
          results.push({ name: `quota over HTTP, ${name}, p50`, value: p50, unit: "ms" });
          results.push({ name: `quota over HTTP, ${name}, p99`, value: p99, unit: "ms" });
        }
        return results;
      } finally {
        await scheduler.stop();
        await rm(path, { recursive: true });
      }
    },
  },
];
