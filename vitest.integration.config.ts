import { readdirSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { gatewaySuites } from "./tools/gateway-suites.ts";
// What is set up for all suites is TypeScript too, and this process loads it.
import "./tools/run-source.mjs";
import { postgresBinaries } from "./tools/postgres-cluster.ts";
import { sourceOptions } from "./tools/source-options.ts";

const setupFiles = [new URL("tools/fast-check-seed.ts", import.meta.url).pathname];
const installed = postgresBinaries() !== undefined;
if (!installed)
  process.stderr.write("PostgreSQL is not installed (apt-get install postgresql): the gateway is tested on memory\n");

const probes = "test/integration/*schemathesis.test.ts";
const limits = { testTimeout: 300_000, hookTimeout: 120_000, setupFiles };
/** Two files at a time, apart from those that go alone. */
const beside = { fileParallelism: true, maxWorkers: 2, sequence: { groupOrder: 1 } };

/**
 * The suites against real peers: what is installed is used, what is missing is named. Those of `app` start clusters and break them, one at
 * a time. The others share the machine.
 */
export default defineConfig({
  test: {
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: [...sourceOptions],
    expect: { poll: { timeout: 60_000 } },
    projects: [
      ...readdirSync(new URL("packages", import.meta.url)).map((name) => ({
        extends: true as const,
        test: {
          name,
          root: `packages/${name}`,
          include: ["test/integration/**/*.test.ts"],
          ...limits,
          ...(name === "app" ? { fileParallelism: false, exclude: [probes] } : beside),
        },
      })),
      { extends: true as const, test: { name: "app-probed", root: "packages/app", include: [probes], ...limits, ...beside } },
      {
        extends: true as const,
        test: { name: "tools", root: "tools", include: ["test/integration/**/*.test.ts"], ...limits, ...beside },
      },
      {
        // The gateway's suites over HTTP once more, on the other server and on PostgreSQL.
        extends: true as const,
        test: {
          name: installed ? "app-postgres" : "app-fastify",
          root: "packages/app",
          include: gatewaySuites(),
          env: { TEST_SERVER: "fastify" },
          // As in `npm test`: each harness has a namespace of its own, and no file leaves anything behind.
          isolate: false,
          globalSetup: installed ? [new URL("tools/postgres-for-tests.ts", import.meta.url).pathname] : [],
          ...limits,
          testTimeout: 120_000,
          ...beside,
        },
      },
    ],
  },
});
