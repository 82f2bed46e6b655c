/** What a policy compiled ahead by `compileToJavaScript` runs on: no parser, checker or compiler of Rego. */
export { type Builtin, type CallContext, define } from "./builtins/builtin.ts";
export * from "./builtins/plain.ts";
export type { Host } from "./engine/host.ts";
export type { Result } from "./engine/result.ts";
export { BuiltinError, type EvaluationCode } from "./errors.ts";
export type { EvaluateOptions } from "./eval/evaluate.ts";
export { type LoadCode, LoadError } from "./load/load-error.ts";
export { LoadedPolicy, type LoadOptions, loadModule, type ModuleContent, type ModuleManifest } from "./plan/load-module.ts";
export { readJson } from "./value/json.ts";
export { type Budgets, DEFAULT_BUDGETS } from "./value/meter.ts";
export type { Value } from "./value/value.ts";
