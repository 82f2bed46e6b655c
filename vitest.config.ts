import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { sourceOptions } from "./tools/source-options.ts";

/** Tests run from source, no build needed. Those of one package: `npx vitest run packages/core`. */
export default defineConfig({
  test: {
    // One less than there are cores by default. Many tests wait for a disk, a socket or a child: one more than two cores keeps both busy.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    // Files of a project share a worker's modules: loading them anew for each file took a third of all time. No file leaves anything behind.
    isolate: false,
    // Node loads the sources itself, as it does in the worker threads and processes of the tests: no second way, and a sixth of the time less.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: [...sourceOptions],
    // What the tools test is the repository itself: `npx vitest run --project tools`, as among the suites against real peers.
    projects: [
      { extends: true, test: { name: "packages", include: ["packages/*/test/**/*.test.ts"] } },
      { extends: true, test: { name: "tools", include: ["tools/test/**/*.test.ts"] } },
    ],
    exclude: ["**/test/integration/**", "**/node_modules/**"],
    setupFiles: ["./tools/fast-check-seed.ts"],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // The default, a second, is a pause of a busy machine.
    expect: { poll: { timeout: 30_000 } },
  },
});
