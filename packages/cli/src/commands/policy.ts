import { check, compile, type Policy, writeJson } from "@seneschal/rego/bundle";
import type { Command } from "commander";
import type { CommandContext } from "../command-context.ts";
import { exitCode } from "../exit-code.ts";
import {
  type InputOptions,
  inputOf,
  type PolicyOptions,
  policyOf,
  settings,
  shownSettings,
  sourceSetOf,
  withInput,
  withPolicy,
} from "../policy/policy-set.ts";
import { countingNumber } from "../whole-number.ts";
import type { AddCommand } from "./add-command.ts";
import { addBuild } from "./policy-build.ts";
import { addCapabilities, addDependencies } from "./policy-deps.ts";
import { entrypointOf } from "./policy-entrypoint.ts";
import { addEval, documentText } from "./policy-eval.ts";
import { addFilter } from "./policy-filter.ts";
import { addFmt } from "./policy-fmt.ts";
import { addRepl } from "./policy-repl.ts";
import { addTest } from "./policy-test.ts";

/** `seneschal policy ...`: Rego on this machine, by the engine that the services run. */
export const addPolicy: AddCommand = (program, context) => {
  const policy = program
    .command("policy")
    .description("Rego policies: check, format, evaluate, test, explain, profile, measure, build");
  addCheck(policy, context);
  addFmt(policy, context);
  addEval(policy, context);
  addExplain(policy, context);
  addTest(policy, context);
  addBench(policy, context);
  addBuild(policy, context);
  addDependencies(policy, context);
  addFilter(policy, context);
  addCapabilities(policy, context);
  addRepl(policy, context);
};

function addCheck(policy: Command, { host, result, exit }: CommandContext): void {
  withPolicy(policy.command("check").description("report every problem of the sources, with its place"))
    .argument("[paths...]", ".rego files or directories")
    .option("-S, --strict", "refuse imports, variables and arguments that nothing uses, and deprecated builtins")
    .action(async (paths: string[], options: PolicyOptions & { readonly strict?: boolean }, command: Command) => {
      const { sources, options: how } = await sourceSetOf(host, paths, options);
      const problems = check(sources, { ...how, strict: options.strict === true });
      const lines = problems.map(({ file, row, col, code, message }) => `${file}:${row}:${col}: ${code}: ${message}`);
      const isJson = command.optsWithGlobals()["json"] === true;
      if (isJson || problems.length === 0) result({ valid: problems.length === 0, problems }, "no problems");
      else for (const line of lines) host.err(line);
      if (problems.length > 0) exit(exitCode.no);
    });
}

function addExplain(policy: Command, { host, result }: CommandContext): void {
  withInput(policy.command("explain").description("which rules held, which failed, and where"))
    .argument("<entrypoint>", "for example data.authz.allow", entrypointOf)
    .argument("[paths...]", ".rego files or directories")
    .action(async (entrypoint: string, paths: string[], options: InputOptions) => {
      const { sources, data, options: how } = await policyOf(host, paths, options);
      const compiled = compile(sources, how);
      const told = compiled.explain(entrypoint, await inputOf(host, options), shownSettings(host, data));
      const lines = told.rules.map(
        ({ rule, file, row, held, failedAt, text }) =>
          `${held ? "held  " : "failed"} ${rule} (${file}:${row})${failedAt === undefined ? "" : ` at row ${failedAt}: ${text?.trim()}`}`,
      );
      result(told, [documentText(told.result), ...lines].join("\n"), writeJson);
    });
}

const MEASURE_MS = 1000;

function addBench(policy: Command, { host, result }: CommandContext): void {
  withInput(policy.command("bench").description("evaluations a second on this machine"))
    .argument("<entrypoint>", "for example data.authz.allow", entrypointOf)
    .argument("[paths...]", ".rego files or directories")
    .option("--count <n>", "measure so many times", countingNumber, 1)
    .action(async (entrypoint: string, paths: string[], options: InputOptions & { readonly count: number }) => {
      const { sources, data, options: how } = await policyOf(host, paths, options);
      const compiled = compile(sources, how);
      const input = await inputOf(host, options);
      const given = settings(data);
      for (let left = options.count; left > 0; left--) {
        const rate = measure(compiled, entrypoint, input, given);
        const figures = { evaluations_per_second: Math.round(rate), microseconds: 1e6 / rate };
        result(
          figures,
          `${figures.evaluations_per_second.toLocaleString("en")} evaluations/s, ${figures.microseconds.toFixed(2)} us each`,
        );
      }
    });
}

function measure(policy: Policy, entrypoint: string, input: unknown, options: object): number {
  const spin = (duration: number): number => {
    const started = performance.now();
    let count = 0;
    while (performance.now() - started < duration) {
      for (let i = 0; i < 100; i++) policy.evaluate(entrypoint, input, options);
      count += 100;
    }
    return (count * 1000) / (performance.now() - started);
  };
  spin(MEASURE_MS / 5);
  return spin(MEASURE_MS);
}
