import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";
import { sourceOptions } from "./tools/source-options.ts";

const packages = readdirSync(new URL("packages", import.meta.url));
// Without `module`: Node itself then resolves by it, and packages keep bundler-only files behind it.
const conditions = ["@seneschal/source", ...defaultServerConditions.filter((c) => c !== "module")];

/** Every package is a project: `npx vitest run --project core`. Tests run from source, no build needed. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // One less than there are cores by default, which leaves half of two cores idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Files of a project share a worker's modules: loading them anew for each file took a third of all time. No file leaves anything behind.
    isolate: false,
    // Worker threads inherit it: they too run from source.
    execArgv: [...sourceOptions],
    projects: [
      ...packages.map((name) => ({
        extends: true as const,
        test: {
          name,
          root: `packages/${name}`,
          include: ["test/**/*.test.ts"],
          exclude: ["test/integration/**", "**/node_modules/**"],
          setupFiles: [new URL("tools/fast-check-seed.ts", import.meta.url).pathname],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      })),
      {
        extends: true as const,
        test: { name: "tools", root: "tools", include: ["test/**/*.test.ts"], testTimeout: 120_000 },
      },
    ],
  },
});
