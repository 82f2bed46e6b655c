import { availableParallelism } from "node:os";
import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";
import { sourceOptions } from "./tools/source-options.ts";

// Without `module`: Node itself then resolves by it, and packages keep bundler-only files behind it.
const conditions = ["@seneschal/source", ...defaultServerConditions.filter((c) => c !== "module")];

/** Every package is a project: `npx vitest run --project core`. Tests run from source, no build needed. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // One less than there are cores by default. Many tests wait for a disk, a socket or a child: one more than two cores keeps both busy.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    // Files of a project share a worker's modules: loading them anew for each file took a third of all time. No file leaves anything behind.
    isolate: false,
    // Worker threads inherit it: they too run from source.
    execArgv: [...sourceOptions],
    include: ["packages/*/test/**/*.test.ts", "tools/test/**/*.test.ts"],
    exclude: ["**/test/integration/**", "**/node_modules/**"],
    setupFiles: ["./tools/fast-check-seed.ts"],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // The default, a second, is a pause of a busy machine.
    expect: { poll: { timeout: 30_000 } },
  },
});
