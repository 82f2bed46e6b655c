import { CodedError } from "@seneschal/kernel";
import {
  compile,
  coverageReport,
  type FileCoverage,
  mergeCoverage,
  type Policy,
  type TestCase,
  type TestRule,
} from "@seneschal/rego/bundle";
import { type Command, Option } from "commander";
import type { CommandContext } from "../command-context.ts";
import { exitCode } from "../exit-code.ts";
import { goDuration } from "../go-duration.ts";
import { failureText, type InputOptions, inputOf, policyOf, settings, withInput } from "../policy/policy-set.ts";
import { countingNumber, wholeNumber } from "../whole-number.ts";

interface TestCommandOptions extends InputOptions {
  readonly run?: string;
  readonly verbose?: boolean;
  readonly coverage?: boolean;
  readonly threshold?: number;
  readonly format?: "pretty" | "json";
  readonly count: number;
  readonly timeout: number;
}

/** What one test may take, as of `opa test`: it shares the machine with whatever else runs. */
const TEST_TIME = "5s";

/** `policy test`: the rules that are tests, each clause for itself. */
export function addTest(policy: Command, { host, result, exit }: CommandContext): void {
  withInput(policy.command("test").description("run the rules whose name begins with test_"))
    .argument("[paths...]", ".rego files or directories")
    .option("-r, --run <regex>", "only the tests whose path has a match, such as data.authz_test.test_a")
    .option("-v, --verbose", "tell the tests that pass, too, and at which literal the others fail")
    .option("-c, --coverage", "write the coverage instead, as opa test --coverage does")
    .option("-t, --threshold <percent>", "tell the coverage, and fail below this one of all files", wholeNumber)
    .addOption(new Option("-f, --format <name>", "write the results as opa test does").choices(["pretty", "json"]))
    .option("--count <n>", "run the tests so many times, as long as none fails", countingNumber, 1)
    .addOption(
      new Option("--timeout <time>", "what one test may take, such as 500ms")
        .default(goDuration(TEST_TIME), TEST_TIME)
        .argParser(goDuration),
    )
    .action(async (paths: string[], options: TestCommandOptions, command: Command) => {
      const wrong = (message: string): CodedError => new CodedError("usage", message);
      if (options.format !== undefined && command.optsWithGlobals()["json"] === true)
        throw wrong("--json and --format exclude each other");
      if (options.format === "json" && options.coverage === true) throw wrong("--format json and --coverage exclude each other");
      const { sources, data, options: how } = await policyOf(host, paths, options);
      const policy = compile(sources, { ...how, tests: true });
      const input = await inputOf(host, options);
      const wanted = pattern(options.run);
      const chosen = policy.tests.filter(({ rule }) => wanted.test(rule));
      for (let left = options.count; left > 0; left--) if (!runAll(policy, chosen, input, data, options)) break;
    });

  /** Runs the tests once and tells it. False where the command fails. */
  function runAll(
    policy: Policy,
    chosen: readonly TestRule[],
    input: unknown,
    data: Readonly<Record<string, unknown>>,
    options: TestCommandOptions,
  ): boolean {
    const tests = chosen.filter(({ todo }) => !todo);
    const skipped = chosen.filter(({ todo }) => todo);
    const covers = options.coverage === true || options.threshold !== undefined;
    const asked = { covers, verbose: options.verbose === true, milliseconds: options.timeout };
    const told = tests.map((test) => runTest(policy, test, input, data, asked));
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
    } else if (options.format === "json") {
      const list = [...told.map((one, i) => opaResult(tests[i] as TestRule, one)), ...skipped.map((test) => opaResult(test))];
      result(list, JSON.stringify(list, null, 2));
    } else {
      const counts = { passed: tests.length - failed.length, failed: failed.length };
      result({ ...counts, tests: outcomes, ...(covers ? { coverage } : {}) }, lines.join("\n"));
    }
    const bad = failed.length > 0 || tests.length === 0 || thin;
    if (bad) exit(exitCode.no);
    return !bad;
  }
}

/** A test as `opa test --format json` tells it: times in nanoseconds, what it printed in base64. A test that did not run was skipped. */
function opaResult({ rule, package: home, file, row, col }: TestRule, told?: Told) {
  const { outcome, nanoseconds = 0, cases = [] } = told ?? {};
  return {
    location: { file, row, col },
    package: home,
    name: rule.slice(home.length + 1),
    ...(outcome === undefined ? { skip: true } : {}),
    ...(outcome?.error === undefined ? {} : { error: { message: outcome.error } }),
    ...(outcome?.passed === false && outcome.error === undefined ? { fail: true } : {}),
    duration: nanoseconds,
    ...(outcome?.output === undefined ? {} : { output: Buffer.from(`${outcome.output.join("\n")}\n`).toString("base64") }),
    ...(cases.length === 0 ? {} : { sub_results: opaCases(cases) }),
  };
}

interface OpaCase {
  readonly name: string;
  readonly fail?: true;
  readonly sub_results?: Readonly<Record<string, OpaCase>>;
}

/** Cases by their first key, each with those below it; one fails where any below it does. */
function opaCases(cases: readonly TestCase[]): Readonly<Record<string, OpaCase>> {
  const names = [...new Set(cases.map(({ path: [name = ""] }) => name))].sort();
  return Object.fromEntries(
    names.map((name) => {
      const own = cases.filter(({ path }) => path[0] === name);
      const below = own.filter(({ path }) => path.length > 1).map(({ path, passed }) => ({ path: path.slice(1), passed }));
      const told: OpaCase = {
        name,
        ...(own.every(({ passed }) => passed) ? {} : { fail: true }),
        ...(below.length === 0 ? {} : { sub_results: opaCases(below) }),
      };
      return [name, told];
    }),
  );
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

interface Told {
  readonly outcome: Outcome;
  readonly coverage: readonly FileCoverage[];
  readonly cases: readonly TestCase[];
  readonly nanoseconds: number;
}

function runTest(
  policy: Policy,
  test: TestRule,
  input: unknown,
  data: Readonly<Record<string, unknown>>,
  { covers, verbose, milliseconds }: { readonly covers: boolean; readonly verbose: boolean; readonly milliseconds: number },
): Told {
  const given = { ...settings(data), budgets: { milliseconds } };
  const began = performance.now();
  const output: string[] = [];
  const told = policy.runTest(test, input, { ...given, coverage: covers, print: (line) => void output.push(line) });
  const nanoseconds = Math.round((performance.now() - began) * 1e6);
  const { rule, file, row, passed, result: answer, failed, cases, coverage } = told;
  const trace = verbose && !passed ? policy.explain(test.path, input, given).rules.find((one) => one.rule === rule) : undefined;
  const outcome = {
    rule,
    file,
    row,
    passed,
    ...(failed.length > 0 ? { cases: failed } : {}),
    ...(answer.kind === "error" ? { error: failureText(answer) } : {}),
    ...(trace?.failedAt === undefined ? {} : { failedAt: { row: trace.failedAt, text: trace.text ?? "" } }),
    ...(output.length > 0 ? { output } : {}),
  };
  return { outcome, coverage, cases, nanoseconds };
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
