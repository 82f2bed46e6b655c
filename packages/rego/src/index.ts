export { type Builtin, type CallContext, define } from "./builtins/builtin.ts";
export { builtinNames, OFF_BY_DEFAULT } from "./builtins/table.ts";
export type { Dependencies } from "./compile/dependencies.ts";
export { type CompileResult, compileCached } from "./engine/cache.ts";
export { type Capabilities, type CapabilitiesDocument, currentCapabilities, readCapabilities } from "./engine/capabilities.ts";
export { check, compile } from "./engine/compile.ts";
export type { CompileOptions } from "./engine/compile-modules.ts";
export { compileToJavaScript, type JavaScriptOptions } from "./engine/compile-to-javascript.ts";
export { type DataPath, withoutValue, withValue } from "./engine/data.ts";
export type { Host } from "./engine/host.ts";
export {
  type Explanation,
  type PartialResult,
  Policy,
  type QueryOptions,
  type Solutions,
  type TestOptions,
} from "./engine/policy.ts";
export { type ProfiledRow, type ProfileOrder, sortProfile } from "./engine/profiler.ts";
export { coverageReport, type FileCoverage, mergeCoverage, type RuleTrace } from "./engine/recorder.ts";
export type { Result } from "./engine/result.ts";
export type { TestCase, TestOutcome, TestRule } from "./engine/tests.ts";
export { BuiltinError, type EvaluationCode, type Problem, type ProblemCode, RegoCompileError } from "./errors.ts";
export type { EvaluateOptions } from "./eval/evaluate.ts";
export { type FormatOptions, format } from "./format/format.ts";
export { type BundleLimits, bundleIntake, DEFAULT_BUNDLE_LIMITS } from "./load/bundle-limits.ts";
export type { BundleFile, BundleKey } from "./load/bundle-signature.ts";
export { type LoadCode, LoadError } from "./load/load-error.ts";
export { type DocumentFile, mergeDocuments, mergeValues, readDocument } from "./load/merge-documents.ts";
export { type Bundle, type BundleOptions, joinBundles, readBundle } from "./load/read-bundle.ts";
export type {
  Comparison,
  Condition,
  ConditionCall,
  ConditionField,
  ConditionFunction,
  ConditionValue,
} from "./partial/condition.ts";
export type { PartialCode } from "./partial/partial-evaluator.ts";
export type { Body, Expr, Head, Literal, Location, Module, RegoVersion, Rule, Source, Term } from "./syntax/ast.ts";
export { mountModule } from "./syntax/mount.ts";
export { parseModule, parseQuery } from "./syntax/parse-module.ts";
export { type Visitor, visit } from "./syntax/visit.ts";
export { readJson, toJson, writeJson } from "./value/json.ts";
export { type Budgets, DEFAULT_BUDGETS } from "./value/meter.ts";
export { compare, equal, type Value } from "./value/value.ts";
