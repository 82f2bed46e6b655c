/** Runs one hostile policy in its own heap; see conformance/suites/rego.ts. */
import { register } from "node:module";
import { parentPort, workerData } from "node:worker_threads";

register("../../tools/source-hooks.mjs", import.meta.url);
const { compile, RegoCompileError } = await import("@seneschal/rego");

parentPort.on("message", () => {
  const { source, query, inputJson } = workerData;
  let outcome;
  try {
    const policy = compile([{ name: "hostile.rego", source }]);
    const input = inputJson === undefined ? undefined : JSON.parse(inputJson);
    const result = policy.evaluate(query, input, { clock: () => performance.now() });
    if (result.kind === "defined") outcome = `result:${JSON.stringify(result.value)}`;
    else if (result.kind === "undefined") outcome = "undefined";
    else outcome = result.code === "eval_limit_error" ? "limit" : `${result.code}: ${result.message}`;
  } catch (error) {
    outcome = error instanceof RegoCompileError ? "compile-error" : `threw ${error}`;
  }
  parentPort.postMessage(outcome);
});
parentPort.postMessage("ready");
