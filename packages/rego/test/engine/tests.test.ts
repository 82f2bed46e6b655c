import { expect, test } from "vitest";
import { compile } from "../../src/index.ts";

function outcomes(rules: string, input?: unknown): Readonly<Record<string, string>> {
  const policy = compile([{ name: "t.rego", source: `package t\n\n${rules}\n` }], { tests: true });
  return Object.fromEntries(
    policy.tests.map((one) => {
      const { passed, failed } = policy.runTest(one, input);
      return [one.rule, one.todo ? "todo" : passed ? "pass" : `fail ${failed.join(", ")}`.trim()];
    }),
  );
}

test("a clause that fails does not hide behind another of its name", () => {
  expect(outcomes("test_a if 1 == 2\n\ntest_a if 1 == 1\n\ntest_b if true\n\ntest_a if 1 == 3")).toEqual({
    "data.t.test_a": "fail",
    "data.t.test_a#01": "pass",
    "data.t.test_b": "pass",
    "data.t.test_a#02": "fail",
  });
});

test("clauses of one name in several modules of a package are counted together", () => {
  const sources = ["a", "b"].map((name) => ({ name, source: `package t\n\ntest_x if "${name}" == "a"\n` }));
  const policy = compile(sources, { tests: true });
  expect(policy.tests.map((one) => [one.rule, one.file, policy.runTest(one).passed])).toEqual([
    ["data.t.test_x", "a", true],
    ["data.t.test_x#01", "b", false],
  ]);
});

test("only true passes", () => {
  expect(
    outcomes('test_a := 1\n\ntest_b := "x"\n\ntest_c := false\n\ntest_d := true\n\ntest_e contains 1\n\ntest_f := null'),
  ).toEqual({
    "data.t.test_a": "fail",
    "data.t.test_b": "fail",
    "data.t.test_c": "fail",
    "data.t.test_d": "pass",
    "data.t.test_e": "fail",
    "data.t.test_f": "fail",
  });
});

test("of a rule with one test a key, a key that was begun and did not hold fails", () => {
  const cases = '[{"n": "one", "x": 1}, {"n": "two", "x": 3}, {"n": "three", "x": 3}]';
  expect(
    outcomes(
      `test_add[c.n] if {\n\tsome c in ${cases}\n\ty := c.x + 1\n\ty == 4\n}\n\ntest_all[n] if {\n\tsome n in ["a"]\n\tn == "a"\n}\n\ntest_none[n] if some n in []`,
    ),
  ).toEqual({ "data.t.test_add": "fail one", "data.t.test_all": "pass", "data.t.test_none": "pass" });
});

test("a test sees the input that it is given", () => {
  expect(outcomes("test_a if input.x == 1", { x: 1 })).toEqual({ "data.t.test_a": "pass" });
  expect(outcomes("test_a if input.x == 1")).toEqual({ "data.t.test_a": "fail" });
});

test("what is still to be done is no test yet, and functions are none", () => {
  expect(outcomes("todo_test_a if false\n\ntest_f(x) := x\n\nnot_test_b if false")).toEqual({ "data.t.todo_test_a": "todo" });
});

test("an error fails a test", () => {
  expect(outcomes("test_a := true if input.x\ntest_b := f(1)\nf(1) := true\nf(1) := 2", { x: 1 })).toEqual({
    "data.t.test_a": "pass",
    "data.t.test_b": "fail",
  });
});

test("without the option a policy's rules are as they are written", () => {
  const policy = compile([{ name: "t.rego", source: "package t\n\ntest_a if 1 == 2\n\ntest_a if 1 == 1\n" }]);
  expect(policy.evaluate("data.t.test_a")).toEqual({ kind: "defined", value: true });
  expect(policy.rules).toEqual(["data.t.test_a"]);
});

test("rows are counted where coverage is asked for, and the outcome is the same", () => {
  const source = "package t\n\ntest_a if 1 == 1\n\ntest_b if {\n\t1 == 1\n\t1 == 2\n}\n";
  const policy = compile([{ name: "t.rego", source }], { tests: true });
  const told = (coverage: boolean) => policy.tests.map((one) => policy.runTest(one, undefined, { coverage }));
  expect(told(false).map(({ coverage }) => coverage)).toEqual([[], []]);
  expect(told(true).map(({ coverage: [file] }) => [file?.covered, file?.missed])).toEqual([
    [[3], [5, 6, 7]],
    [[6], [3, 5, 7]],
  ]);
  expect(told(true).map(({ coverage: _, ...outcome }) => outcome)).toEqual(
    told(false).map(({ coverage: _, ...outcome }) => outcome),
  );
  expect(() => policy.runTest(policy.tests[0] as (typeof policy.tests)[number], undefined, { coverage: 1 as never })).toThrow(
    "options.coverage",
  );
});
