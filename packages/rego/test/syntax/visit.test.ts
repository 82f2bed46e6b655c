import { parseModule, type Term, visit } from "@seneschal/rego";
import { describe, expect, test } from "vitest";

const SOURCE =
  'package p\n\nq[a].b contains c if {\n\tsome d in e\n\tevery f in g { h(i) }\n\tj with input.x as k\n\t[l | m]\n\t{n: o | p}\n\t$"{r}"\n\tnot s[t].u = v\n}\n\nw(x) := y if z\n\nelse := aa if bb\n';

function namesBelow(passOver: (term: Term) => boolean): string[] {
  const { module } = parseModule({ name: "p.rego", source: SOURCE });
  const names: string[] = [];
  if (module === undefined) throw new Error("the sample does not parse");
  visit(module, {
    term: (term) => {
      if (term.kind === "var") names.push(term.name);
      return !passOver(term);
    },
  });
  return names;
}

describe("visit", () => {
  test("reaches every name in the order of the source; declared names and operators are no terms", () => {
    expect(namesBelow(() => false).join(" ")).toBe("a c d e g i k j l m n o p r s t v x y z aa bb");
  });

  test("passes over what the visitor refuses", () => {
    expect(namesBelow(({ kind }) => kind.endsWith("comprehension") || kind === "template").join(" ")).toBe(
      "a c d e g i k j s t v x y z aa bb",
    );
  });

  test("reaches every rule and literal", () => {
    const { module } = parseModule({ name: "p.rego", source: SOURCE });
    const found = { rules: 0, literals: 0 };
    if (module !== undefined) {
      visit(module, {
        rule: () => void found.rules++,
        literal: () => void found.literals++,
      });
    }
    expect(found).toEqual({ rules: 2, literals: 13 });
  });
});
