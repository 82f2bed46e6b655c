import {
  BuiltinError,
  compile,
  compileCached,
  define,
  mergeCoverage,
  mountModule,
  RegoCompileError,
  readJson,
} from "@seneschal/rego";
import { describe, expect, test } from "vitest";
import { documentOf } from "../document-of.ts";

const SOURCE = [
  {
    name: "t.rego",
    source:
      'package t\n\nallow if {\n\tinput.role == "admin"\n\tinput.hour < 20\n}\n\ndeny contains "late" if input.hour >= 20\n',
  },
];

describe("a policy", () => {
  test("tells at which literal a rule failed", () => {
    const { result, rules } = compile(SOURCE).explain("data.t.allow", { role: "admin", hour: 22 });
    expect(result.kind).toBe("undefined");
    expect(rules).toEqual([{ rule: "data.t.allow", file: "t.rego", row: 3, held: false, failedAt: 5, text: "input.hour < 20" }]);
  });

  test("adds up the rows that evaluations reached", () => {
    const policy = compile(SOURCE);
    const late = policy.explain("data.t.allow", { role: "admin", hour: 22 }).coverage;
    expect(late[0]).toMatchObject({ covered: [4], missed: [3, 5, 8] });
    const early = policy.explain("data.t", { role: "admin", hour: 1 }).coverage;
    expect(mergeCoverage([late, early])[0]).toMatchObject({ covered: [3, 4, 5], missed: [8], share: 0.75 });
  });

  test("explains with the answer that it evaluates to", () => {
    const policy = compile(SOURCE);
    for (const input of [{ role: "admin", hour: 1 }, { role: "guest", hour: 23 }, {}]) {
      expect(policy.explain("data.t", input).result).toEqual(policy.evaluate("data.t", input));
    }
    const tight = policy.explain("data.t", {}, { budgets: { ticks: 0 } });
    expect(tight.result).toMatchObject({ kind: "error", code: "eval_limit_error" });
  });

  test("is shared by its content", () => {
    const one = compileCached(SOURCE);
    const two = compileCached(SOURCE.map((source) => ({ ...source })));
    expect(one.ok && two.ok && one.policy === two.policy).toBe(true);
    const denied = compileCached(SOURCE, { deny: ["count"] });
    expect(one.ok && denied.ok && one.policy !== denied.policy).toBe(true);
  });

  test("answers queries with one object of bindings per solution", () => {
    const policy = compile([{ name: "t.rego", source: "package t\n\nxs := [1, 2, 3]\n" }]);
    expect(policy.query("x := data.t.xs[i]; x > 1")).toEqual({
      kind: "solutions",
      bindings: [
        { x: 2, i: 1 },
        { x: 3, i: 2 },
      ],
    });
  });

  test("reads a query as a module of the package that is named would, with its imports", () => {
    const policy = compile([...SOURCE, { name: "lib.rego", source: "package lib\n\nn := 1\n" }]);
    const input = { role: "admin", hour: 1 };
    expect(policy.query("x := [allow, l.n]", input, { package: "t", imports: ["data.lib as l"] })).toEqual({
      kind: "solutions",
      bindings: [{ x: [true, 1] }],
    });
    expect(policy.query("x := n", input, { package: "lib" })).toMatchObject({ bindings: [{ x: 1 }] });
    expect(() => policy.query("x := n", input, { package: "t" })).toThrow("var n is unsafe");
    expect(() => policy.query("x := n", input)).toThrow("var n is unsafe");
    expect(() => policy.query("x := 1", input, { package: "t x" })).toThrow(RegoCompileError);
    expect(() => policy.query("x := 1", input, { package: "t", imports: ["nowhere.a"] })).toThrow(RegoCompileError);
  });

  test("calls own builtins, whose errors are undefined unless strict", () => {
    const half = define("test.half", "number -> number", ([n]) => {
      if ((n as number) % 2 !== 0) throw new BuiltinError("odd");
      return (n as number) / 2;
    });
    const policy = compile([{ name: "t.rego", source: "package t\n\np := [test.half(4)]\n\nq := test.half(3)\n" }], {
      builtins: [half],
    });
    expect(policy.evaluate("data.t.p")).toEqual({ kind: "defined", value: [2] });
    expect(policy.evaluate("data.t.q")).toEqual({ kind: "undefined" });
    expect(policy.evaluate("data.t.q", undefined, { strict: true })).toMatchObject({ kind: "error", code: "eval_builtin_error" });
  });

  test("takes time and randomness from outside only", () => {
    const module =
      'p := [time.now_ns(), rand.intn("a", 1000000), rand.intn("a", 1000000) == rand.intn("a", 1000000), uuid.rfc4122("k")]';
    const once = documentOf(module, undefined, { now: 1_700_000_000_000, seed: "s" });
    expect(documentOf(module, undefined, { now: 1_700_000_000_000, seed: "s" })).toEqual(once);
    expect(documentOf(module, undefined, { now: 1_700_000_000_000, seed: "t" })).not.toEqual(once);
    expect((once as unknown[])[0]).toBe(1_700_000_000_000_000_000);
    expect((once as unknown[])[2]).toBe(true);
  });

  test("prints to the sink it is given, undefined arguments too", () => {
    const lines: string[] = [];
    documentOf('p if print("x", input.a, input.b)', { a: [1] }, { print: (line) => lines.push(line) });
    expect(lines).toEqual(["x [1] <undefined>"]);
  });

  test("keeps the digits of large integers", () => {
    const policy = compile([{ name: "t.rego", source: "package t\n\np := input.id\n\nq := input.id + 1\n" }]);
    const input = readJson('{"id": 9007199254740993}');
    expect(policy.evaluate("data.t.p", input, { exact: true })).toEqual({ kind: "defined", value: 9007199254740993n });
    expect(policy.evaluate("data.t.q", input, { exact: true })).toEqual({ kind: "defined", value: 9007199254740994n });
  });

  test("keys such as __proto__ are keys", () => {
    const input = JSON.parse('{"__proto__": {"admin": true}, "o": {}}');
    expect(documentOf("p if input.admin", input)).toBeUndefined();
    expect(documentOf('p := count({k: 1 | some k in ["__proto__", "constructor"]})')).toBe(2);
    expect(Object.hasOwn(documentOf('p := {"__proto__": 1}') as object, "__proto__")).toBe(true);
  });

  test("mounts below a name without changing what it answers", () => {
    const source = {
      name: "t.rego",
      source: 'package t\n\nimport data.lib\n\np := [data.x, lib.y, $"{data.x}", {"data": 1}.data]\n',
    };
    const data = { x: 1, lib: { y: 2 } };
    const policy = compile([mountModule(source, "tenant")]);
    expect(policy.evaluate("data.tenant.t.p", undefined, { data: { tenant: data } })).toEqual(
      compile([source]).evaluate("data.t.p", undefined, { data }),
    );
  });
});
