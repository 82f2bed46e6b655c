import { type Budgets, compile, type Policy } from "@seneschal/rego";
import { describe, expect, test } from "vitest";
import { documentOf } from "../document-of.ts";

const LIMIT = "eval_limit_error";
const MOST = 2 ** 40;
const AMPLE: Partial<Budgets> = {
  ticks: MOST,
  elements: MOST,
  characters: MOST,
  integerBits: MOST,
  outputNodes: MOST,
  outputCharacters: MOST,
};

function outcome(policy: Policy, input: unknown, budgets: Partial<Budgets>): string {
  const result = policy.evaluate("data.t.p", input, { budgets: { ...AMPLE, ...budgets } });
  return result.kind === "error" ? result.code : result.kind;
}

/** The least of one budget with which an evaluation is none over its limit. */
function need(policy: Policy, input: unknown, budget: keyof Budgets): number {
  let [low, high] = [-1, 1];
  while (outcome(policy, input, { [budget]: high }) === LIMIT) [low, high] = [high, high * 2];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (outcome(policy, input, { [budget]: middle }) === LIMIT) low = middle;
    else high = middle;
  }
  return high;
}

const policyOf = (module: string): Policy => compile([{ name: "t.rego", source: `package t\n\n${module}\n` }]);

describe("at its boundary", () => {
  test.each([
    ["ticks", "p := count([x | some x in input])", Array.from({ length: 300 }, (_, i) => i)],
    ["elements", "p := count([x | some x in input])", Array.from({ length: 300 }, (_, i) => i)],
    ["characters", 'p := count(concat("-", input))', Array.from({ length: 300 }, () => "abc")],
    ["integerBits", "p := bits.lsh(1, input)", 500],
    ["outputNodes", "p := [input, input]", [1, [2, 3]]],
    ["outputCharacters", "p := [input, input]", "abcdefgh"],
    ["depth", "r0 := 1\nr1 := r0 + 1\nr2 := r1 + 1\nr3 := r2 + 1\np := r3", undefined],
  ] as const)("one of %s less than enough is a limit, enough is an answer, more changes nothing", (budget, module, input) => {
    const policy = policyOf(module);
    const enough = need(policy, input, budget);
    expect(enough).toBeGreaterThan(1);
    const at = (value: number) => outcome(policy, input, { [budget]: value });
    expect([at(enough - 1), at(enough), at(enough * 10)]).toEqual([LIMIT, "defined", "defined"]);
  });

  test("integers have 65,536 bits and no more, however they are made", () => {
    expect(documentOf("p := count(json.marshal(bits.lsh(1, 65530))) > 19000")).toBe(true);
    for (const made of ["bits.lsh(1, 65536)", "bits.lsh(1, 65535) * 2", "product([bits.lsh(1, 40000), bits.lsh(1, 40000)])"]) {
      expect(documentOf(`p := ${made}`), made).toBe(LIMIT);
    }
  });

  test("the deadline itself is in time, a millisecond later is not", () => {
    const policy = policyOf("p if {\n\tsome a in numbers.range(1, 3000)\n\ta < 0\n}\n\nelse := 1");
    const run = (late: number) => {
      let asked = 0;
      return policy.evaluate("data.t.p", undefined, { clock: () => (asked++ === 0 ? 0 : late), budgets: { milliseconds: 250 } });
    };
    expect(run(250)).toEqual({ kind: "defined", value: 1 });
    expect(run(251)).toMatchObject({ kind: "error", code: LIMIT });
  });

  test("a number's text is refused by its length, before it takes the time to read", () => {
    for (const call of [
      "to_number(input)",
      "units.parse(input)",
      "json.unmarshal(input)",
      'json.unmarshal(sprintf("[%s]", [input]))',
    ]) {
      expect(documentOf(`p := ${call}`, "7".repeat(1_000_000)), call).toBe(LIMIT);
      expect(documentOf(`p := ${call} > 1`, "7".repeat(19_000)), call).toBe(true);
    }
    expect(documentOf("p := to_number(input)", `1.5${"0".repeat(21_000)}`)).toBe(1.5);
  });

  test("a width of a million is written, one more is refused", () => {
    expect(documentOf('p := count(sprintf("%1000000d", [1]))')).toBe(1_000_000);
    for (const format of ["%1000001d", "%.1000001f", "%1000001s"])
      expect(documentOf(`p := sprintf("${format}", [1])`)).toBe(LIMIT);
  });
});

const text = (n: number): string => "ab".repeat(n / 2);
const digits = (n: number): string => "7".repeat(n);
const list = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i);
const wide = (n: number): object => Object.fromEntries(list(n).map((i) => [`k${i}`, i]));
const chain = (n: number): object => Object.fromEntries(list(n).map((i) => [`k${i}`, [`k${i + 1}`]]));

describe("work is charged by its size", () => {
  test.each<readonly [string, (n: number) => unknown]>([
    ['regex.match("^(a|a|b)*c$", input)', text],
    ['regex.replace(input, "a", "aaaa")', text],
    ['regex.find_n("a", input, -1)', text],
    ['regex.split("a", input)', text],
    ['regex.find_all_string_submatch_n("(a)(b)", input, -1)', text],
    ['glob.match("*a*b*c", [], input)', text],
    ["regex.is_valid(input)", text],
    ['replace(input, "a", "aaaa")', text],
    ['strings.replace_n({"a": "bbbb"}, input)', text],
    ['split(input, "a")', text],
    ['concat(input, ["x", "y", "z"])', text],
    ["upper(input)", text],
    ["strings.reverse(input)", text],
    ['strings.count(input, "a")', text],
    ['indexof_n(input, "b")', text],
    ['sprintf("%s%s", [input, input])', text],
    ["base64.encode(input)", text],
    ["hex.encode(input)", text],
    ["urlquery.encode(input)", text],
    ["crypto.sha256(input)", text],
    ['crypto.hmac.sha512(input, "k")', text],
    ["json.marshal(input)", list],
    ["json.unmarshal(input)", (n) => JSON.stringify(list(n))],
    ["yaml.unmarshal(input)", (n) => JSON.stringify(list(n))],
    ["yaml.marshal(input)", list],
    ["to_number(input)", digits],
    ["units.parse(input)", digits],
    ["units.parse_bytes(input)", digits],
    ["format_int(to_number(input), 2)", digits],
    ["numbers.range(1, input)", (n) => n],
    ["array.concat(input, input)", list],
    ["array.reverse(input)", list],
    ["sort(input)", list],
    ["sum(input)", list],
    ["product(input)", (n) => list(n).map(() => 1)],
    ["max(input)", list],
    ["object.union(input, input)", wide],
    ["object.keys(input)", wide],
    ['object.remove(input, ["k1"])', wide],
    ['json.remove(input, ["/k1"])', wide],
    ['json.patch(input, [{"op": "add", "path": "/x", "value": 1}])', wide],
    ['json.patch([], [{"op": "add", "path": "/-", "value": x} | some x in input])', list],
    ["[x | walk(input, [_, x])]", list],
    ['graph.reachable(input, ["k0"])', chain],
    ["input == [x | some x in input]", list],
    ["{x | some x in input}", list],
    ["{[x] | some x in input}", list],
    ["union({{x} | some x in input})", list],
    ['strings.render_template("{{range .l}}{{.}}{{end}}", {"l": input})', list],
    ["time.parse_ns(input, input)", text],
    ['net.cidr_merge([sprintf("10.%d.%d.0/24", [floor(x / 250), x % 250]) | some x in input])', list],
  ])("%s", (expression, make) => {
    const policy = policyOf(`p := count([1 | _ := ${expression}])`);
    // regular expressions are compiled once
    outcome(policy, make(2), {});
    const bare = policyOf("p := count([1 | _ := input])");
    const cost = (n: number): number => {
      const input = make(n);
      const of = (budget: keyof Budgets): number => need(policy, input, budget) - need(bare, input, budget);
      return of("ticks") + of("elements") + of("characters") + of("integerBits");
    };
    const [small, large] = [cost(512), cost(2_048)];
    expect(large).toBeGreaterThan(Math.max(2 * small, 64));
  });
});
