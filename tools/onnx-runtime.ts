/** ONNX Runtime for tests of models in this process, put there by tools/install-peers.sh. */
import { existsSync } from "node:fs";
import { createRequire, Module } from "node:module";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where a process finds the package: its NODE_PATH. */
export const onnxPackages = fileURLToPath(new URL("../.peers/onnx/node_modules", import.meta.url));

/** What is not installed, for a suite's name; empty when it is there. */
export const missingForModels = existsSync(join(onnxPackages, "onnxruntime-web")) ? "" : "onnxruntime-web";

if (missingForModels === "") {
  process.env["NODE_PATH"] = [onnxPackages, process.env["NODE_PATH"] ?? []].flat().join(delimiter);
  (Module as unknown as { _initPaths(): void })._initPaths();
  createRequire(import.meta.url).resolve("onnxruntime-web");
}
