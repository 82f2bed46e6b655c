import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { CodedError } from "@seneschal/core";
import { check, compile, mergeCoverage, type Policy, type Result, readJson, type Source } from "@seneschal/rego";
import type { Command } from "commander";
import type { CommandContext } from "../command-context.ts";
import { exitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { readText } from "../read-config.ts";
import { wholeNumber } from "../whole-number.ts";
import type { AddCommand } from "./add-command.ts";

/** `seneschal policy ...`: Rego on this machine, by the engine that the services run. */
export const addPolicy: AddCommand = (program, context) => {
  const policy = program.command("policy").description("Rego policies: check, evaluate, test, explain, measure");
  addCheck(policy, context);
  addEvaluation(policy, context);
  addTest(policy, context);
  addBench(policy, context);
};

interface InputOptions {
  readonly input?: string;
  readonly data?: string;
}

const withInput = (command: Command): Command =>
  command.option("-i, --input <file>", "input as JSON").option("-d, --data <file>", "base documents as JSON");

function addCheck(policy: Command, { host, result, exit }: CommandContext): void {
  policy
    .command("check")
    .description("report every problem of the sources, with its place")
    .argument("<paths...>", ".rego files or directories")
    .action(async (paths: string[]) => {
      const problems = check(await sourcesOf(host, paths));
      const lines = problems.map(({ file, row, col, code, message }) => `${file}:${row}:${col}: ${code}: ${message}`);
      result({ valid: problems.length === 0, problems }, problems.length === 0 ? "no problems" : lines.join("\n"));
      if (problems.length > 0) exit(exitCode.no);
    });
}

function addEvaluation(policy: Command, { host, result, exit }: CommandContext): void {
  withInput(policy.command("eval").description("the document at an entrypoint"))
    .argument("<entrypoint>", "for example data.authz.allow")
    .argument("<paths...>", ".rego files or directories")
    .action(async (entrypoint: string, paths: string[], options: InputOptions) => {
      const compiled = compile(await sourcesOf(host, paths));
      const answer = compiled.evaluate(entrypoint, await jsonFile(host, options.input), await settings(host, options));
      result(answer, textOf(answer));
      if (answer.kind !== "defined") exit(exitCode.no);
    });
  withInput(policy.command("explain").description("which rules held, which failed, and where"))
    .argument("<entrypoint>", "for example data.authz.allow")
    .argument("<paths...>", ".rego files or directories")
    .action(async (entrypoint: string, paths: string[], options: InputOptions) => {
      const compiled = compile(await sourcesOf(host, paths));
      const told = compiled.explain(entrypoint, await jsonFile(host, options.input), await settings(host, options));
      const lines = told.rules.map(
        ({ rule, file, row, held, failedAt, text }) =>
          `${held ? "held  " : "failed"} ${rule} (${file}:${row})${failedAt === undefined ? "" : ` at row ${failedAt}: ${text?.trim()}`}`,
      );
      result(told, [textOf(told.result), ...lines].join("\n"));
    });
}

function addTest(policy: Command, { host, result, exit }: CommandContext): void {
  withInput(policy.command("test").description("run the rules whose name begins with test_, with coverage"))
    .argument("<paths...>", ".rego files or directories")
    .option("-t, --threshold <percent>", "fail below this coverage of all files", wholeNumber)
    .action(async (paths: string[], options: InputOptions & { readonly threshold?: number }) => {
      const policy = compile(await sourcesOf(host, paths), { tests: true });
      const given = await settings(host, options);
      const input = await jsonFile(host, options.input);
      const tests = policy.tests.filter(({ todo }) => !todo);
      const skipped = policy.tests.filter(({ todo }) => todo);
      const told = tests.map((test) => policy.runTest(test, input, given));
      const outcomes = told.map(({ rule, file, row, passed, result: answer, failed: cases }) => {
        const error = answer.kind === "error" ? { error: `${answer.code}: ${answer.message}` } : {};
        return { rule, file, row, passed, ...(cases.length > 0 ? { cases } : {}), ...error };
      });
      const failed = outcomes.filter(({ passed }) => !passed);
      const coverage = mergeCoverage(told.map(({ coverage: rows }) => rows));
      const lines = [
        ...outcomes.map(
          ({ rule, file, row, passed, cases, error }) =>
            `${passed ? "PASS" : "FAIL"} ${rule}${passed ? "" : ` (${file}:${row})`}${cases === undefined ? "" : `: ${cases.join(", ")}`}${error === undefined ? "" : ` ${error}`}`,
        ),
        ...skipped.map(({ rule }) => `SKIP ${rule}`),
        ...coverage.map(
          ({ file, share, missed }) =>
            `${file}: ${Math.round(share * 100)} % covered${missed.length > 0 ? `, missed rows ${missed.join(", ")}` : ""}`,
        ),
        `${tests.length - failed.length} passed, ${failed.length} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`,
      ];
      const rows = coverage.flatMap(({ covered, missed }) => [...covered.map(() => 1), ...missed.map(() => 0)]);
      const share = rows.length === 0 ? 100 : (100 * rows.filter((row) => row === 1).length) / rows.length;
      const thin = share < (options.threshold ?? 0);
      if (thin) lines.push(`${share.toFixed(1)} % covered, ${options.threshold} % wanted`);
      result({ passed: tests.length - failed.length, failed: failed.length, tests: outcomes, coverage }, lines.join("\n"));
      if (failed.length > 0 || tests.length === 0 || thin) exit(exitCode.no);
    });
}

const MEASURE_MS = 1000;

function addBench(policy: Command, { host, result }: CommandContext): void {
  withInput(policy.command("bench").description("evaluations a second on this machine"))
    .argument("<entrypoint>", "for example data.authz.allow")
    .argument("<paths...>", ".rego files or directories")
    .action(async (entrypoint: string, paths: string[], options: InputOptions) => {
      const compiled = compile(await sourcesOf(host, paths));
      const input = await jsonFile(host, options.input);
      const given = await settings(host, options);
      const rate = measure(compiled, entrypoint, input, given);
      const figures = { evaluations_per_second: Math.round(rate), microseconds: 1e6 / rate };
      result(
        figures,
        `${figures.evaluations_per_second.toLocaleString("en")} evaluations/s, ${figures.microseconds.toFixed(2)} us each`,
      );
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

function textOf(answer: Result): string {
  if (answer.kind === "defined") return JSON.stringify(answer.value, null, 2);
  return answer.kind === "undefined" ? "undefined" : `${answer.code}: ${answer.message}`;
}

async function settings(host: Host, { data }: InputOptions) {
  const documents = await jsonFile(host, data);
  return { ...(documents === undefined ? {} : { data: documents }), now: Date.now(), clock: () => Date.now() };
}

async function jsonFile(host: Host, path: string | undefined): Promise<unknown> {
  if (path === undefined) return undefined;
  const text = await readText(resolve(host.cwd, path), path);
  try {
    return readJson(text);
  } catch (error) {
    throw new CodedError("file_invalid", `${path} is not JSON`, {}, error);
  }
}

/** Every `.rego` file below the paths, in order of name. Throws `usage` when there is none. */
async function sourcesOf(host: Host, paths: readonly string[]): Promise<readonly Source[]> {
  const sources: Source[] = [];
  for (const path of paths) {
    const full = resolve(host.cwd, path);
    const directory = await stat(full).then(
      (facts) => facts.isDirectory(),
      () => false,
    );
    const names = directory ? (await readdir(full, { recursive: true })).filter((name) => name.endsWith(".rego")).sort() : [""];
    for (const name of names) {
      const shown = name === "" ? path : join(path, name);
      sources.push({ name: shown, source: await readText(resolve(host.cwd, shown), shown) });
    }
  }
  if (sources.length === 0) throw new CodedError("usage", "there is no .rego file");
  return sources;
}
