import { defineConfig } from "tsup";

/** One file for browsers and edge runtimes; everything else takes the modules as `tsc` writes them. */
export default defineConfig({
  entry: { bundle: "packages/rego/src/bundle.ts" },
  outDir: "packages/rego/dist",
  format: ["esm"],
  platform: "browser",
  target: "es2022",
  dts: false,
  minify: true,
  sourcemap: true,
  // tsc's declarations lie in the same folder.
  clean: false,
  noExternal: [/.*/],
});
