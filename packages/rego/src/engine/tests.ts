import { pathText } from "../compile/tree.ts";
import type { Head, Literal, Module, Rule, Term } from "../syntax/ast.ts";
import { visit } from "../syntax/visit.ts";
import type { Result } from "./result.ts";

/** One clause of a test, as `opa test` counts them. */
export interface TestRule {
  /** `data.authz_test.test_admin`; a further clause of that name is `data.authz_test.test_admin#01`. */
  readonly rule: string;
  /** The package in it, `data.authz_test`. */
  readonly package: string;
  /** Its path without `data`: an entrypoint. */
  readonly path: readonly string[];
  readonly file: string;
  readonly row: number;
  readonly col: number;
  /** Named `todo_test_`: not to be run. */
  readonly todo: boolean;
}

/**
 * Modules in which each clause of a test is a rule of its own, so that none hides behind another that holds, and in which a rule with
 * one test a key (`test_add[name] if ...`) notes each key before it judges it.
 */
export function separateTests(modules: readonly Module[]): readonly Module[] {
  const clauses = new Map<string, number>();
  return modules.map((module) => ({
    ...module,
    rules: module.rules.map((rule) => {
      const name = testName(rule.head);
      if (name === undefined) return rule;
      const noted = withCases(rule, name.length);
      const key = [...module.packagePath, ...name].join("\0");
      const before = clauses.get(key) ?? 0;
      clauses.set(key, before + 1);
      return before === 0 ? noted : renamed(noted, name.length - 1, `${name.at(-1)}#${String(before).padStart(2, "0")}`);
    }),
  }));
}

/** The tests of modules that {@link separateTests} made. */
export function testsOf(modules: readonly Module[]): readonly TestRule[] {
  return modules.flatMap(({ name: file, packagePath, rules }) =>
    rules.flatMap(({ head, loc }): TestRule[] => {
      const name = testName(head);
      if (name === undefined || head.args !== undefined) return [];
      const path = [...packagePath, ...name];
      const home = pathText(packagePath);
      const rule = `${home}.${name.join(".")}`;
      return [{ rule, package: home, path, file, row: loc.row, col: loc.col, todo: name.at(-1)?.startsWith("todo_") === true }];
    }),
  );
}

/** What became of one test. */
export interface TestOutcome extends TestRule {
  readonly passed: boolean;
  readonly result: Result;
  /** Of a rule with one test a key, those that did not hold. */
  readonly failed: readonly string[];
  /** All of its keys, each from the first one on. */
  readonly cases: readonly TestCase[];
}

/** One key of a rule with one test a key, or several keys within one another. */
export interface TestCase {
  readonly path: readonly string[];
  readonly passed: boolean;
}

/** Judges a test by its document and the keys it noted: `true`, or true at every key. */
export function judgeTest(test: TestRule, result: Result, noted: readonly unknown[]): TestOutcome {
  const value = result.kind === "defined" && isMembers(result.value) ? result.value : undefined;
  const cases = new Map<string, TestCase>();
  if (value !== undefined)
    for (const each of [...casesOf(value, []), ...noted.map((keys) => ({ path: textsOf(keys), passed: holds(value, keys) }))]) {
      const key = JSON.stringify(each.path);
      if (cases.get(key)?.passed !== false) cases.set(key, each);
    }
  const failed = [...cases.values()].filter((each) => !each.passed).map(({ path }) => path.join("/"));
  const passed = value === undefined ? result.kind === "defined" && result.value === true : failed.length === 0;
  return { ...test, passed, result, failed: [...new Set(failed)], cases: [...cases.values()] };
}

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members => typeof value === "object" && value !== null && !Array.isArray(value);

function casesOf(value: Members, path: readonly string[]): TestCase[] {
  return Object.entries(value).flatMap(([key, item]) =>
    isMembers(item) ? casesOf(item, [...path, key]) : [{ path: [...path, key], passed: item === true }],
  );
}

function holds(value: unknown, keys: unknown): boolean {
  let at: unknown = value;
  for (const key of keys as readonly unknown[]) {
    const name = textOf(key);
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return false;
    at = (at as Members)[name];
  }
  return true;
}

function textsOf(keys: unknown): readonly string[] {
  return (keys as readonly unknown[]).map(textOf);
}

function textOf(key: unknown): string {
  return typeof key === "string" ? key : JSON.stringify(key);
}

/** The constant parts of a head up to the one that makes it a test. */
function testName(head: Head): readonly string[] | undefined {
  const names: string[] = [head.ref[0].name];
  for (let i = 0; ; i++) {
    if (/^(todo_)?test_/.test(names.at(-1) as string)) return names;
    const part = head.ref[i + 1];
    if (part?.kind !== "scalar" || typeof part.value !== "string") return undefined;
    names.push(part.value);
  }
}

function renamed(rule: Rule, at: number, name: string): Rule {
  const [first, ...parts] = rule.head.ref;
  const ref: Head["ref"] =
    at === 0
      ? [{ ...first, name }, ...parts]
      : [first, ...parts.map((part, i) => (i + 1 === at ? { kind: "scalar" as const, value: name, loc: part.loc } : part))];
  return { ...rule, head: { ...rule.head, ref } };
}

/** The rule with a call of `internal.test_case` behind the literals that give its keys their values. */
function withCases(rule: Rule, names: number): Rule {
  const keys = rule.head.ref.slice(names) as readonly Term[];
  if (keys.length === 0 || rule.isDefault) return rule;
  const { loc } = rule.head;
  const internal = { kind: "var", name: "internal", loc } as const;
  const operator = { kind: "ref", head: internal, path: [{ kind: "scalar", value: "test_case", loc }], loc } as const;
  const call: Term = { kind: "call", operator, args: [{ kind: "array", items: keys, loc }], infix: false, loc };
  const note: Literal = { expr: { kind: "term", term: call }, negated: false, with: [], loc };
  let place = 0;
  for (const key of keys) {
    for (const name of namesIn(key)) {
      const first = rule.body.findIndex((literal) => namesIn(literal).has(name));
      place = Math.max(place, first + 1);
    }
  }
  return { ...rule, body: rule.body.toSpliced(place, 0, note) };
}

function namesIn(node: Literal | Term): ReadonlySet<string> {
  const names = new Set<string>();
  visit(node, { term: (term) => (term.kind === "var" ? void names.add(term.name) : undefined) });
  return names;
}
