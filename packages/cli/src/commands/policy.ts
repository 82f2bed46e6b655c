import { CodedError } from "@seneschal/kernel";
import {
  type Bundle,
  check,
  compile,
  coverageReport,
  joinBundles,
  mergeCoverage,
  mergeValues,
  type Policy,
  type Result,
  readJson as readRegoJson,
} from "@seneschal/rego";
import type { Command } from "commander";
import type { CommandContext } from "../command-context.ts";
import { exitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { bundleOf, documentsOf, loaded, sourcesOf } from "../policy-files.ts";
import { readJson, readText } from "../read-file.ts";
import { wholeNumber } from "../whole-number.ts";
import type { AddCommand } from "./add-command.ts";
import { addFmt } from "./policy-fmt.ts";

/** `seneschal policy ...`: Rego on this machine, by the engine that the services run. */
export const addPolicy: AddCommand = (program, context) => {
  const policy = program.command("policy").description("Rego policies: check, format, evaluate, test, explain, measure");
  addCheck(policy, context);
  addFmt(policy, context);
  addEvaluation(policy, context);
  addTest(policy, context);
  addBench(policy, context);
};

interface PolicyOptions {
  readonly v0Compatible?: boolean;
  readonly bundle?: readonly string[];
  readonly verificationKey?: string;
  readonly signingAlg: string;
  readonly scope?: string;
  readonly skipVerify?: boolean;
}

interface InputOptions extends PolicyOptions {
  readonly input?: string;
  readonly data?: readonly string[];
}

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

const withPolicy = (command: Command): Command =>
  command
    .option("-b, --bundle <path>", "a bundle, a directory or a .tar.gz; may be repeated", collect)
    .option("--verification-key <file>", "what the bundles are signed with: a public key, a certificate or a secret")
    .option("--signing-alg <name>", "the algorithm of the signature", "RS256")
    .option("--scope <name>", "the scope of the signature")
    .option("--skip-verify", "read signed bundles without verifying them")
    .option("--v0-compatible", "the files are Rego v0; a bundle's manifest says it for its own");

const withInput = (command: Command): Command =>
  withPolicy(command)
    .option("-i, --input <file>", "input as JSON")
    .option("-d, --data <path>", "base documents, a JSON or YAML file or a directory of them; may be repeated", collect);

function addCheck(policy: Command, { host, result, exit }: CommandContext): void {
  withPolicy(policy.command("check").description("report every problem of the sources, with its place"))
    .argument("[paths...]", ".rego files or directories")
    .action(async (paths: string[], options: PolicyOptions) => {
      const { sources } = await policyOf(host, paths, options);
      const problems = check(sources);
      const lines = problems.map(({ file, row, col, code, message }) => `${file}:${row}:${col}: ${code}: ${message}`);
      result({ valid: problems.length === 0, problems }, problems.length === 0 ? "no problems" : lines.join("\n"));
      if (problems.length > 0) exit(exitCode.no);
    });
}

function addEvaluation(policy: Command, { host, result, exit }: CommandContext): void {
  withInput(policy.command("eval").description("the document at an entrypoint"))
    .argument("<entrypoint>", "for example data.authz.allow")
    .argument("[paths...]", ".rego files or directories")
    .action(async (entrypoint: string, paths: string[], options: InputOptions) => {
      const { sources, data } = await policyOf(host, paths, options);
      const compiled = compile(sources);
      const answer = compiled.evaluate(entrypoint, await jsonFile(host, options.input), settings(data));
      result(answer, textOf(answer));
      if (answer.kind !== "defined") exit(exitCode.no);
    });
  withInput(policy.command("explain").description("which rules held, which failed, and where"))
    .argument("<entrypoint>", "for example data.authz.allow")
    .argument("[paths...]", ".rego files or directories")
    .action(async (entrypoint: string, paths: string[], options: InputOptions) => {
      const { sources, data } = await policyOf(host, paths, options);
      const compiled = compile(sources);
      const told = compiled.explain(entrypoint, await jsonFile(host, options.input), settings(data));
      const lines = told.rules.map(
        ({ rule, file, row, held, failedAt, text }) =>
          `${held ? "held  " : "failed"} ${rule} (${file}:${row})${failedAt === undefined ? "" : ` at row ${failedAt}: ${text?.trim()}`}`,
      );
      result(told, [textOf(told.result), ...lines].join("\n"));
    });
}

function addTest(policy: Command, { host, result, exit }: CommandContext): void {
  withInput(policy.command("test").description("run the rules whose name begins with test_, with coverage"))
    .argument("[paths...]", ".rego files or directories")
    .option("-r, --run <regex>", "only the tests whose path has a match, such as data.authz_test.test_a")
    .option("--coverage", "write the coverage instead, as opa test --coverage does")
    .option("-t, --threshold <percent>", "fail below this coverage of all files", wholeNumber)
    .action(
      async (
        paths: string[],
        options: InputOptions & { readonly threshold?: number; readonly run?: string; readonly coverage?: boolean },
      ) => {
        const { sources, data } = await policyOf(host, paths, options);
        const policy = compile(sources, { tests: true });
        const given = settings(data);
        const input = await jsonFile(host, options.input);
        const wanted = pattern(options.run);
        const chosen = policy.tests.filter(({ rule }) => wanted.test(rule));
        const tests = chosen.filter(({ todo }) => !todo);
        const skipped = chosen.filter(({ todo }) => todo);
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
        if (options.coverage === true) {
          const report = coverageReport(coverage);
          result(report, JSON.stringify(report, null, 2));
        } else {
          result({ passed: tests.length - failed.length, failed: failed.length, tests: outcomes, coverage }, lines.join("\n"));
        }
        if (failed.length > 0 || tests.length === 0 || thin) exit(exitCode.no);
      },
    );
}

function pattern(text: string | undefined): RegExp {
  try {
    return new RegExp(text ?? "", "u");
  } catch (error) {
    throw new CodedError("usage", `--run ${text} is no regular expression`, {}, error);
  }
}

const MEASURE_MS = 1000;

function addBench(policy: Command, { host, result }: CommandContext): void {
  withInput(policy.command("bench").description("evaluations a second on this machine"))
    .argument("<entrypoint>", "for example data.authz.allow")
    .argument("[paths...]", ".rego files or directories")
    .action(async (entrypoint: string, paths: string[], options: InputOptions) => {
      const { sources, data } = await policyOf(host, paths, options);
      const compiled = compile(sources);
      const input = await jsonFile(host, options.input);
      const given = settings(data);
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

function settings(data: Readonly<Record<string, unknown>>) {
  return { data, now: Date.now(), clock: () => Date.now() };
}

/** The sources and documents that a command line names. Throws `usage` when it names no source. */
async function policyOf(host: Host, paths: readonly string[], options: PolicyOptions & { readonly data?: readonly string[] }) {
  const { verificationKey, signingAlg: algorithm, scope } = options;
  const key =
    verificationKey === undefined
      ? {}
      : {
          key: {
            // the line end of a file belongs to no secret, and to a key in PEM it means nothing
            key: (await readText(host, verificationKey)).trimEnd(),
            algorithm,
            ...(scope === undefined ? {} : { scope }),
          },
        };
  const bundles: Bundle[] = [];
  for (const path of options.bundle ?? []) {
    bundles.push(await bundleOf(host, path, { ...key, skipVerify: options.skipVerify === true }));
  }
  const bundled = loaded(() => joinBundles(bundles));
  const plain =
    paths.length === 0 && bundles.length > 0 ? [] : await sourcesOf(host, paths, options.v0Compatible === true ? "v0" : "v1");
  const documents = await documentsOf(host, options.data ?? []);
  const data = loaded(() =>
    mergeValues([
      { name: "the bundles", path: [], value: bundled.data },
      { name: "--data", path: [], value: documents },
    ]),
  );
  return { sources: [...bundled.sources, ...plain], data };
}

async function jsonFile(host: Host, path: string | undefined): Promise<unknown> {
  return path === undefined ? undefined : readJson(host, path, readRegoJson);
}
