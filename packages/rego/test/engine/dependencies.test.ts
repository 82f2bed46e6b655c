import { compile, RegoCompileError } from "@seneschal/rego";
import { describe, expect, it } from "vitest";

const source = `package p

import data.other as o

default allow := false

allow if {
	u := input.user
	u.roles[_] == "admin"
	not denied
}

allow if f(input.x, data.base.k)

denied if o.names[input.name]

denied if some r in data.roles[input.name]

f(a, b) if {
	a.q == b.z
	g(a)
}

g(a) := data.g.h[a]

s contains x if some x in data.list

obj[k] := v if some k, v in data.map

all := [x.id | x := s[_]]

w if allow with input.user as data.someone with count as size

size(_) := data.size

t := $"{input.title}"

e if every x in input.xs { x in data.known[1].ids }
`;
const other = "package other\n\nnames := {x: true | some x in data.raw.names}\n";
const policy = compile([
  { name: "p.rego", source },
  { name: "o.rego", source: other },
]);

describe("the dependencies of a query", () => {
  it("are the base documents that its rules read, up to the first part that is not constant, and those rules", () => {
    expect(policy.dependencies("data.p.allow")).toEqual({
      base: ["data.base.k", "data.g.h", "data.raw.names", "data.roles", "input.name", "input.user.roles", "input.x"],
      virtual: ["data.other.names", "data.p.allow", "data.p.denied", "data.p.f", "data.p.g"],
    });
    expect(policy.dependencies("data.p.obj.foo")).toEqual({ base: ["data.map"], virtual: ["data.p.obj"] });
    expect(policy.dependencies("data.p.t")).toEqual({ base: ["input.title"], virtual: ["data.p.t"] });
    expect(policy.dependencies("data.p.e")).toEqual({ base: ["data.known[1].ids", "input.xs"], virtual: ["data.p.e"] });
  });

  it("of a package or of a part that is not constant are those of every rule below it", () => {
    const all = policy.dependencies("data.p");
    expect(all.virtual).toContain("data.p.w");
    expect(policy.dependencies("data.p[x]")).toEqual(all);
    expect(policy.dependencies("data[x]")).toEqual(all);
  });

  it("follow variables that stand for refs, into comprehensions too, and what `with` puts in", () => {
    expect(policy.dependencies("x := data.p.all")).toEqual({ base: ["data.list"], virtual: ["data.p.all", "data.p.s"] });
    expect(policy.dependencies("y := input.a; [z | z := y.b.c[_]]").base).toEqual(["input.a.b.c"]);
    const { base, virtual } = policy.dependencies("data.p.w");
    expect([base.includes("data.someone"), base.includes("data.size"), virtual.includes("data.p.size")]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("of what is read for being there alone count", () => {
    expect(policy.dependencies("x := input.a").base).toEqual(["input.a"]);
    expect(policy.dependencies("input.a.b; input.a").base).toEqual(["input.a"]);
  });

  it("of a query that does not compile are an error", () => {
    expect(() => policy.dependencies("data.p.allow(")).toThrow(RegoCompileError);
    expect(() => policy.dependencies("x > 1")).toThrow(RegoCompileError);
  });
});
