import { CodedError } from "@seneschal/kernel";
import { compile, coverageReport, type FileCoverage, mergeCoverage, type Policy, type TestRule } from "@seneschal/rego/bundle";
import type { Command } from "commander";
import type { CommandContext } from "../command-context.ts";
import { exitCode } from "../exit-code.ts";
import { failureText, type InputOptions, inputOf, policyOf, settings, withInput } from "../policy/policy-set.ts";
import { wholeNumber } from "../whole-number.ts";

interface TestCommandOptions extends InputOptions {
  readonly run?: string;
  readonly verbose?: boolean;
  readonly coverage?: boolean;
  readonly threshold?: number;
}

/** What one test may take, as of `opa test`: it shares the machine with whatever else runs. */
const TEST_MS = 5000;

/** `policy test`: the rules that are tests, each clause for itself. */
export function addTest(policy: Command, { host, result, exit }: CommandContext): void {
  withInput(policy.command("test").description("run the rules whose name begins with test_"))
    .argument("[paths...]", ".rego files or directories")
    .option("-r, --run <regex>", "only the tests whose path has a match, such as data.authz_test.test_a")
    .option("-v, --verbose", "tell the tests that pass, too, and at which literal the others fail")
    .option("-c, --coverage", "write the coverage instead, as opa test --coverage does")
    .option("-t, --threshold <percent>", "tell the coverage, and fail below this one of all files", wholeNumber)
    .action(async (paths: string[], options: TestCommandOptions) => {
      const { sources, data, options: how } = await policyOf(host, paths, options);
      const policy = compile(sources, { ...how, tests: true });
      const input = await inputOf(host, options);
      const wanted = pattern(options.run);
      const chosen = policy.tests.filter(({ rule }) => wanted.test(rule));
      const tests = chosen.filter(({ todo }) => !todo);
      const skipped = chosen.filter(({ todo }) => todo);
      const covers = options.coverage === true || options.threshold !== undefined;
      const told = tests.map((test) => runTest(policy, test, input, data, { covers, verbose: options.verbose === true }));
      const outcomes = told.map(({ outcome }) => outcome);
      const failed = outcomes.filter(({ passed }) => !passed);
      const coverage = mergeCoverage(told.map(({ coverage: rows }) => rows));
      const lines = [
        ...outcomes.filter(({ passed }) => !passed || options.verbose === true).flatMap(linesOf),
        ...skipped.map(({ rule }) => `SKIP ${rule}`),
        ...coverage.map(
          ({ file, share, missed }) =>
            `${file}: ${Math.round(share * 100)} % covered${missed.length > 0 ? `, missed rows ${missed.join(", ")}` : ""}`,
        ),
        `${tests.length - failed.length} passed, ${failed.length} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`,
      ];
      const share = shareOf(coverage);
      const thin = share < (options.threshold ?? 0);
      if (thin) lines.push(`${share.toFixed(1)} % covered, ${options.threshold} % wanted`);
      if (options.coverage === true) {
        const report = coverageReport(coverage);
        result(report, JSON.stringify(report, null, 2));
      } else {
        const counts = { passed: tests.length - failed.length, failed: failed.length };
        result({ ...counts, tests: outcomes, ...(covers ? { coverage } : {}) }, lines.join("\n"));
      }
      if (failed.length > 0 || tests.length === 0 || thin) exit(exitCode.no);
    });
}

/** One test as it is told. */
interface Outcome {
  readonly rule: string;
  readonly file: string;
  readonly row: number;
  readonly passed: boolean;
  /** The cases of a table that failed. */
  readonly cases?: readonly string[];
  readonly error?: string;
  /** The first literal that never held: its row and text. */
  readonly failedAt?: { readonly row: number; readonly text: string };
  /** What `print` wrote. */
  readonly output?: readonly string[];
}

function runTest(
  policy: Policy,
  test: TestRule,
  input: unknown,
  data: Readonly<Record<string, unknown>>,
  { covers, verbose }: { readonly covers: boolean; readonly verbose: boolean },
): { readonly outcome: Outcome; readonly coverage: readonly FileCoverage[] } {
  const given = { ...settings(data), budgets: { milliseconds: TEST_MS } };
  const output: string[] = [];
  const told = policy.runTest(test, input, { ...given, coverage: covers, print: (line) => void output.push(line) });
  const { rule, file, row, passed, result: answer, failed: cases, coverage } = told;
  const trace = verbose && !passed ? policy.explain(test.path, input, given).rules.find((one) => one.rule === rule) : undefined;
  const outcome = {
    rule,
    file,
    row,
    passed,
    ...(cases.length > 0 ? { cases } : {}),
    ...(answer.kind === "error" ? { error: failureText(answer) } : {}),
    ...(trace?.failedAt === undefined ? {} : { failedAt: { row: trace.failedAt, text: trace.text ?? "" } }),
    ...(output.length > 0 ? { output } : {}),
  };
  return { outcome, coverage };
}

function linesOf({ rule, file, row, passed, cases, error, failedAt, output = [] }: Outcome): readonly string[] {
  const which = cases === undefined ? "" : `: ${cases.join(", ")}`;
  const why = error === undefined ? "" : ` ${error}`;
  return [
    passed ? `PASS ${rule}` : `FAIL ${rule} (${file}:${row})${which}${why}`,
    ...(failedAt === undefined ? [] : [`  row ${failedAt.row}: ${failedAt.text}`]),
    ...output.map((line) => `  ${line}`),
  ];
}

function shareOf(coverage: readonly FileCoverage[]): number {
  const covered = coverage.reduce((n, file) => n + file.covered.length, 0);
  const rows = coverage.reduce((n, file) => n + file.missed.length, covered);
  return rows === 0 ? 100 : (100 * covered) / rows;
}

function pattern(text: string | undefined): RegExp {
  try {
    return new RegExp(text ?? "", "u");
  } catch (error) {
    throw new CodedError("usage", `--run ${text} is no regular expression`, {}, error);
  }
}
