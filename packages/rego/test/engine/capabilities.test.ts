import { builtinNames, check, compile, compileCached, currentCapabilities, define, readCapabilities } from "@seneschal/rego";
import { describe, expect, it } from "vitest";

const FEATURES = ["keywords_in_refs", "rego_v1", "template_strings"];
const given = (builtins: readonly string[], features: readonly string[] = FEATURES, more: object = {}) =>
  readCapabilities({ builtins: builtins.map((name) => ({ name })), features, ...more });
const messages = (source: string, capabilities: ReturnType<typeof given>, version: "v0" | "v1" = "v1") =>
  check([{ name: "p.rego", source, version }], { capabilities }).map(({ message }) => message);

describe("capabilities", () => {
  it("of this engine name everything it has and nothing that is off", () => {
    const { builtins, features } = currentCapabilities();
    const names = new Set(builtins.map(({ name }) => name));
    expect(names.has("http.send")).toBe(false);
    expect(["count", "plus", "eq", "re_match", "walk"].every((name) => names.has(name))).toBe(true);
    expect(features).toEqual(FEATURES);
    expect(currentCapabilities({ allow: ["http.send"] }).builtins.some(({ name }) => name === "http.send")).toBe(true);
  });

  it("read back allow what they were written from", () => {
    const capabilities = readCapabilities(JSON.parse(JSON.stringify(currentCapabilities())));
    expect(currentCapabilities({ capabilities })).toEqual(currentCapabilities());
    const source = 'package p\n\nx := count([$"{input.if}"]) + 1\n\ny if "a" in input.xs\n';
    expect(messages(source, capabilities)).toEqual([]);
  });

  it("refuse every builtin that they do not name, whatever it is", () => {
    const none = given([]);
    for (const name of [...builtinNames, "rego.metadata.rule", "rego.metadata.chain"]) {
      if (!/^[a-z][a-z_0-9]*(\.[a-z_0-9]+)*$/.test(name) || name.startsWith("internal.")) continue;
      expect(messages(`package p\n\nx := ${name}(1)\n`, none), name).toEqual([`undefined function ${name}`]);
    }
    expect(messages("package p\n\nx := 1 + 2\n", none)).toEqual(["undefined function plus"]);
    expect(messages("package p\n\nx if 1 in input\n", none)).toEqual(["undefined function internal.member_2"]);
    expect(messages("package p\n\nx = y { re_match(`a`, `a`); y = 1 }\n", given([], []), "v0")).toEqual([
      "undefined function re_match",
    ]);
  });

  it("turn on what they name and this engine has, also where it is off by default, and nothing that it has not", () => {
    expect(messages("package p\n\nx := opa.runtime()\n", given(["opa.runtime"]))).toEqual([]);
    expect(messages("package p\n\nx := acme.lookup(1)\n", given(["acme.lookup"]))).toEqual(["undefined function acme.lookup"]);
  });

  it("hold beside own builtins, `allow` and `deny`", () => {
    const double = define("acme.double", "number -> number", ([x]) => Number(x) * 2);
    const sources = [{ name: "p.rego", source: "package p\n\nx := acme.double(21)\n" }];
    const policy = compile(sources, { capabilities: given([]), builtins: [double] });
    expect(policy.evaluate("data.p.x")).toEqual({ kind: "defined", value: 42 });
    const denied = check([{ name: "p.rego", source: "package p\n\nx := count([])\n" }], {
      capabilities: given(["count"]),
      deny: ["count"],
    });
    expect(denied.map(({ message }) => message)).toEqual(["undefined function count"]);
  });

  it("refuse the features that they do not name", () => {
    const bare = given(["eq"], ["rego_v1"]);
    expect(messages('package p\n\nx := $"{input.a}"\n', bare)).toEqual([
      "template strings are not supported by current capabilities",
    ]);
    for (const source of [
      "package p.if\n",
      "package p\n\nx := input.if\n",
      "package p\n\nimport data.if.b\n",
      "package p\n\nif.a := 1\n",
    ]) {
      expect(messages(source, bare).length, source).toBeGreaterThan(0);
      expect(messages(source, given(["eq"])), source).toEqual([]);
    }
    expect(messages("package p\n\nx := input.a\n", given(["eq"], []))).toEqual([
      "illegal capabilities: rego_v1 feature required for parsing v1 Rego",
    ]);
  });

  it("of old engines say what v0 may import", () => {
    const old = given(["eq"], [], { future_keywords: ["in"] });
    const source = (path: string): string => `package p\n\nimport ${path}\n\nx = 1\n`;
    expect(messages(source("future.keywords.in"), old, "v0")).toEqual([]);
    for (const path of ["future.keywords.if", "future.keywords", "rego.v1"]) {
      expect(messages(source(path), old, "v0"), path).toEqual([
        `invalid import, \`${path}\` is not supported by current capabilities`,
      ]);
    }
    expect(messages(source("rego.v1").replace("x =", "x :="), given(["eq"], ["rego_v1_import"]), "v0")).toEqual([]);
  });

  it("are part of what a cached policy is known by", () => {
    const sources = [{ name: "p.rego", source: "package p\n\nx := count([])\n" }];
    expect(compileCached(sources).ok).toBe(true);
    expect(compileCached(sources, { capabilities: given([]) }).ok).toBe(false);
    expect(compileCached(sources, { capabilities: given(["count"]) }).ok).toBe(true);
  });

  it("that are none are refused with the member that is wrong", () => {
    for (const [document, what] of [
      [null, "document: expected an object, not null"],
      [[], "document: expected an object, not array"],
      [{}, "builtins: no list"],
      [{ builtins: [{}] }, "builtins[0]: has no name"],
      [{ builtins: [null] }, "builtins[0]: has no name"],
      [{ builtins: [], features: "rego_v1" }, "features: no list of texts"],
      [{ builtins: [], future_keywords: [1] }, "future_keywords: no list of texts"],
      [{ builtins: [], feature: [] }, "feature: unknown member"],
    ] as const) {
      expect(() => readCapabilities(document), JSON.stringify(document)).toThrow(what);
    }
    expect(readCapabilities({ builtins: [], future_keywords: null, features: null }).features.size).toBe(0);
  });
});
