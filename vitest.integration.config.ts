import { readdirSync } from "node:fs";
import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";

// Without `module`: Node itself then resolves by it, and packages keep bundler-only files behind it.
const conditions = ["@seneschal/source", ...defaultServerConditions.filter((c) => c !== "module")];

/** The suites against real peers: what is installed is used, what is missing is named. One file at a time: they start servers. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    fileParallelism: false,
    projects: readdirSync(new URL("packages", import.meta.url)).map((name) => ({
      extends: true as const,
      test: {
        name,
        root: `packages/${name}`,
        include: ["test/integration/**/*.test.ts"],
        setupFiles: [new URL("tools/fast-check-seed.ts", import.meta.url).pathname],
        testTimeout: 300_000,
        hookTimeout: 120_000,
      },
    })),
  },
});
