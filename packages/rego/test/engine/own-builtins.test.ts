import { BuiltinError, check, compile, compileCached, define, readJson, type Value } from "@seneschal/rego";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

/** What a JavaScript function may give, whatever it declares. */
const told = (signature: string, given: unknown) => {
  const builtin = define("acme.own", signature, () => given as Value);
  const source = "package p\n\nx := acme.own()\n\nno if not acme.own()\n\nlisted := [y | y := acme.own()]\n";
  return compile([{ name: "p.rego", source }], { builtins: [builtin] });
};
const MAP = new Map([["a", 1]]);
const NO_VALUES: readonly unknown[] = [
  Promise.resolve(false),
  Promise.resolve(true),
  () => true,
  Symbol("x"),
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  MAP,
  new Set([1]),
  new Date(0),
  /a/,
  Object(true),
  Object("a"),
  new Uint8Array(2),
  Object.create({ a: 1 }),
];

describe("what an own builtin gives", () => {
  it.each(NO_VALUES)("that is no value of Rego ends the evaluation, wherever it stands: %o", (given) => {
    for (const at of [given, [given], { a: given }, [[{ a: [given] }]]]) {
      for (const signature of ["-> any", "-> boolean", "-> number|string", "-> [any]", "-> {string: any}"]) {
        const policy = told(signature, at);
        for (const document of ["x", "no", "listed"]) {
          const result = policy.evaluate(`data.p.${document}`);
          expect(result).toMatchObject({
            kind: "error",
            code: "eval_builtin_error",
            message: expect.stringContaining("acme.own"),
          });
        }
      }
    }
  });

  const SAMPLES: readonly (readonly [string, unknown])[] = [
    ["null", null],
    ["boolean", false],
    ["number", 0],
    ["number", readJson("1.5e400")],
    ["string", ""],
    ["[string]", ["a"]],
    ["[string, number]", ["a", 1]],
    ["{string: number}", { a: 1 }],
  ];
  it("is of the type that it declares, or the evaluation ends", () => {
    for (const [declared] of SAMPLES) {
      for (const [type, given] of SAMPLES) {
        const result = told(`-> ${declared}`, given).evaluate("data.p.no");
        if (type === declared) expect(result.kind, `${declared} ${type}`).not.toBe("error");
        else expect(result, `${declared} ${type}`).toMatchObject({ kind: "error", code: "eval_builtin_error" });
      }
    }
    for (const [declared, given] of [
      ["[string]", ["a", 1]],
      ["[string, number]", ["a"]],
      ["{string: number}", { a: "b" }],
      ["<string>", ["a"]],
      ["number|string", true],
      ["[any]", [undefined]],
      // biome-ignore lint/suspicious/noSparseArray: a hole is no value
      ["[any]", [, 1]],
      ["{string: any}", { a: undefined }],
    ] as const) {
      expect(told(`-> ${declared}`, given).evaluate("data.p.x"), declared).toMatchObject({ code: "eval_builtin_error" });
    }
  });

  it("is what JSON says where it is JSON; without an answer the call is undefined", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(told("-> any", json).evaluate("data.p.x")).toEqual({ kind: "defined", value: JSON.parse(JSON.stringify(json)) });
      }),
    );
    expect(told("-> any", 5n).evaluate("data.p.listed")).toEqual({ kind: "defined", value: [5] });
    expect(told("-> boolean", undefined).evaluate("data.p.x")).toEqual({ kind: "undefined" });
  });

  it("that goes on for ever is a limit", () => {
    const round: unknown[] = [];
    round.push(round);
    expect(told("-> any", round).evaluate("data.p.x")).toMatchObject({ kind: "error", code: "eval_limit_error" });
  });

  it("may change neither what it was handed nor what it gave", () => {
    const kept: unknown[] = [];
    const spoil = define("acme.spoil", "any -> [any]", ([given]) => {
      const object = given as unknown as { role: string; roles?: unknown[]; set?: (key: Value, value: Value) => void };
      if (object.set === undefined) object.role = "admin";
      else object.set("role", "admin");
      object.roles?.push("admin");
      for (const list of kept) (list as unknown[]).push("late");
      kept.push(["now"]);
      return kept.at(-1) as Value;
    });
    const source =
      'package p\n\nx := [acme.spoil(input), acme.spoil(data.d), acme.spoil(own), input, data.d, own]\n\nown := {"roles": [y | y := 1]}\n';
    const [input, data] = [{ roles: ["guest"] }, { d: { roles: ["guest"] } }];
    const result = compile([{ name: "p.rego", source }], { builtins: [spoil] }).evaluate("data.p.x", input, { data });
    expect(result).toEqual({
      kind: "defined",
      value: [["now"], ["now"], ["now"], { roles: ["guest"] }, { roles: ["guest"] }, { roles: [1] }],
    });
    expect([input, data]).toEqual([{ roles: ["guest"] }, { d: { roles: ["guest"] } }]);
  });

  it("is undefined where it throws a BuiltinError, and ends the evaluation where it throws anything else", () => {
    const throws = (error: unknown) =>
      compile([{ name: "p.rego", source: "package p\n\nno if not acme.own()\n" }], {
        builtins: [
          define("acme.own", "-> boolean", () => {
            throw error;
          }),
        ],
      }).evaluate("data.p.no");
    expect(throws(new BuiltinError("odd"))).toEqual({ kind: "defined", value: true });
    for (const error of [new Error("x"), "x", null, undefined]) expect(throws(error).kind).toBe("error");
  });
});

it("a name is declared once", () => {
  const [a, b] = [define("acme.a", "-> boolean", () => true), define("acme.a", "-> boolean", () => false)];
  const sources = [{ name: "p.rego", source: "package p\n\nx := acme.a()\n" }];
  for (const compiling of [check, compile, compileCached])
    expect(() => compiling(sources, { builtins: [a, b] })).toThrow("acme.a");
});

it("`http.send` of an engine that offers it is an error, whatever stands around it, but where `with` replaces it", () => {
  const source = `package p

reply := http.send({"method": "get", "url": "http://localhost/"})

no if not http.send({"method": "get", "url": "http://localhost/", "raise_error": false})

mocked := code if code := reply.status_code with http.send as {"status_code": 200}
`;
  const policy = compile([{ name: "p.rego", source }], { allow: ["http.send"] });
  for (const name of ["reply", "no"])
    expect(policy.evaluate(`data.p.${name}`)).toMatchObject({ kind: "error", code: "eval_builtin_error" });
  expect(policy.evaluate("data.p.mocked")).toEqual({ kind: "defined", value: 200 });
});
