import { compile, format, parseModule } from "@seneschal/rego";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rounds } from "../rounds.ts";

/** One of each: gaps between its words are laid out anew. */
const SAMPLE = `# About the sample:
# one of each.
package authz["a-b"]

import data.roles as r
import data.users
import input.request.method

default allow := false

allow if input.user == "ada" # the one
allow if {
	some role in r[input.user]
	every k, v in role.grants { v != null; k in {"read", "write"} }
	not denied[input.user]
	count([x | some x in role.grants; x > 1]) + 2 * 3 > 4
	f({"a": 1, "b": [1, 2, -3.5e2]}, \`raw\`) with input.x as 1 with data.y as {"z": set()}
}

else := {"deny": true} if {
	input.admin
} else := "never"

denied contains user if { some user, _ in users; users[user].off }
f(x, null) := y if y := {k: v | some k, v in x}
f(_, "no") := false
p.q[name].r := name if { some name; users[name] }
limit := (1 + 2) * 3
`;

const GAP = /( |\n\t?)/;

/** The sample with some of its gaps wider, broken or with a comment. */
const layouts = fc
  .array(fc.tuple(fc.nat(200), fc.constantFrom("  ", "\n", "\n\n\t", " # gap\n", "\n# line\n")), { maxLength: 6 })
  .map((changes) => {
    const parts = SAMPLE.split(GAP);
    for (const [at, gap] of changes) {
      const i = 2 * (at % Math.floor(parts.length / 2)) + 1;
      // a line end stays one
      if (parts[i] === " " || gap.includes("\n")) parts[i] = gap;
    }
    return parts.join("");
  })
  .filter((source) => parseModule({ name: "p.rego", source }).module !== undefined);

/** What a policy says, whatever its layout: its documents for an input that reaches most rules. */
function documents(source: string): unknown {
  const policy = compile([{ name: "p.rego", source }]);
  const data = { roles: { ada: [{ grants: { read: "read", write: 2 } }] }, users: { eve: { off: true }, bob: {} } };
  return policy.evaluate(["authz", "a-b"], { user: "eve", admin: true }, { data });
}

const commentsOf = (source: string): readonly string[] =>
  (parseModule({ name: "p.rego", source }).module?.comments ?? []).map(({ text }) => text.trimEnd()).sort();

const formatted = (source: string, version: "v0" | "v1" = "v1"): string | undefined =>
  format({ name: "p.rego", source, version }).text;

describe("format", () => {
  test("any layout of a module becomes one that is stable, says the same and has the same comments", () => {
    const wanted = documents(SAMPLE);
    fc.assert(
      fc.property(layouts, (source) => {
        const text = formatted(source) as string;
        expect(formatted(text)).toBe(text);
        expect(documents(text)).toEqual(wanted);
        expect(commentsOf(text)).toEqual(commentsOf(source));
      }),
      { numRuns: rounds(300) },
    );
  });

  test.each([
    ["a body of one line has no braces", "allow if { input.a }", "allow if input.a"],
    ["a body that says nothing is left out", "allow if true", "allow := true"],
    ["elements keep the rows that they stand in", "x := [1, 2,\n3]", "x := [\n\t1, 2,\n\t3,\n]"],
    ["a sequence of one row is one line", "x := {\n  1, 2\n}", "x := {1, 2}"],
    ["operands that are operators have parentheses", "x := 1 + 2 + 3", "x := (1 + 2) + 3"],
    ["parentheses that mean something stay", "p if input.a == (input.b == input.c)", "p if input.a == (input.b == input.c)"],
    ["`in` within a comparison keeps its parentheses", "p if (1 in input.a) == true", "p if (1 in input.a) == true"],
    ["one-line rules of adjacent rows stay together", "a := 1\nb := 2\n\n\nc := 3", "a := 1\nb := 2\n\nc := 3"],
    ["a ref head of two parts is written in brackets", "a.b := 1", 'a["b"] := 1'],
    ["names that are no identifiers stay in brackets", 'a := input["b c"]["d"].e', 'a := input["b c"].d.e'],
    ["a key that stands twice has its last value", 'a := {"k": 1, "l": 2, "k": 3}', 'a := {"k": 3, "l": 2}'],
    ["the text of numbers and strings stays", 'a := [1.50, 1e3, `x\\y`, "\\u0041"]', 'a := [1.50, 1e3, `x\\y`, "\\u0041"]'],
    ["expressions of templates", 'a := $"x {  input.b+1 } y {(c)}{[d|d:=1]}"', 'a := $"x {input.b + 1} y {c}{[d | d := 1]}"'],
    ["of templates in them", 'a := $"{ $"in { x+1 }" } end"', 'a := $"{$"in {x + 1}"} end"'],
    ["of raw templates", "a := $`x\n{ f( y ) } \\{ z`", "a := $`x\n{f(y)} \\{ z`"],
    ["the text of templates", 'a := $" x  \\{ y {"b"}  "', 'a := $" x  \\{ y {"b"}  "'],
    ["several lines in a template", 'a := $"{\n  f(x,\n  y)\n}"', 'a := $"{\n  f(x,\n  y)\n}"'],
    ["chained bodies become rules", "p if { input.a; input.b } { input.c }", "p if {\n\tinput.a\n\tinput.b\n}\n\np if input.c"],
  ])("%s", (_, before, after) => {
    expect(formatted(`package p\n${before}\n`)).toBe(`package p\n\n${after}\n`);
  });

  test("imports of one block are sorted and keep the comments of their lines", () => {
    const source = "package p\nimport input.b # b\nimport data.a as z\n\nimport data.c\n";
    expect(formatted(source)).toBe("package p\n\nimport data.a as z\nimport input.b # b\n\nimport data.c\n");
  });

  test("a module in which two comments want one line end keeps both", () => {
    const source =
      "package p\n\np if input.x == [ # one\n\t1, # two\n\tinput.y, # three\n]\n\nq := f(1, # four\n  2) # five\n\nf(_, _) := 1\n";
    const text = formatted(source) as string;
    expect(commentsOf(text)).toEqual([" five", " four", " one", " three", " two"]);
    expect(formatted(text)).toBe(text);
  });

  test("what does not parse is told and not written", () => {
    const { text, problems } = format({ name: "p.rego", source: "package p\n\np {\n" });
    expect(text).toBeUndefined();
    expect(problems).toMatchObject([{ code: "rego_parse_error", file: "p.rego", row: 3 }]);
  });

  describe("v0", () => {
    const SOURCE =
      'package p\nimport future.keywords.in\n\ndefault allow = false\nallow { input.a = 1 }\ndeny[msg] { msg = "no"; 1 in input.b }\ng(x) = y { y = x } else = 2 { true }\n';

    test("stays v0, with the keywords that it imports", () => {
      expect(formatted(SOURCE, "v0")).toBe(
        'package p\n\nimport future.keywords.in\n\ndefault allow = false\n\nallow {\n\tinput.a = 1\n}\n\ndeny[msg] {\n\tmsg = "no"\n\t1 in input.b\n}\n\ng(x) = y {\n\ty = x\n}\n\nelse = 2\n',
      );
    });

    test("becomes v1 that v0 reads alike", () => {
      const { text } = format({ name: "p.rego", source: SOURCE, version: "v0" }, { to: "v1" });
      expect(text).toBe(
        'package p\n\nimport rego.v1\n\ndefault allow := false\n\nallow if input.a = 1\n\ndeny contains msg if {\n\tmsg = "no"\n\t1 in input.b\n}\n\ng(x) := y if y = x\n\nelse := 2\n',
      );
      expect(formatted(text as string, "v0")).toBe(text);
    });

    test("is refused where v1 has no text for it", () => {
      const { text, problems } = format({ name: "p.rego", source: "package p\n\nif { input.a }\n", version: "v0" }, { to: "v1" });
      expect(text).toBeUndefined();
      expect(problems).toHaveLength(1);
    });
  });

  test("imports that v1 does not need are dropped when asked for", () => {
    const source = "package p\n\nimport rego.v1\nimport future.keywords.if\nimport data.a\n\np if a\n";
    expect(format({ name: "p.rego", source }, { dropV0Imports: true }).text).toBe("package p\n\nimport data.a\n\np if a\n");
  });
});
