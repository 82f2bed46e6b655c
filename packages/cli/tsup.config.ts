import { defineConfig } from "tsup";

/** One file with everything of ours in it; native modules and packages with data files stay outside. */
export default defineConfig({
  entry: { seneschal: "packages/cli/src/main.ts" },
  outDir: "packages/cli/dist",
  format: ["esm"],
  platform: "node",
  target: "node20",
  dts: false,
  sourcemap: true,
  clean: false,
  splitting: false,
  noExternal: [/^@seneschal\//],
  esbuildOptions(options) {
    options.conditions = ["@seneschal/source"];
  },
});
