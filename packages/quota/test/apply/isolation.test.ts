import { expect, test } from "vitest";
import { plan } from "../../src/plan/plan.ts";
import { Scenario } from "../scenario.ts";

const strict = (nodes: number) => {
  const s = new Scenario().tenant("physics", { isolationLevel: "strict" }).tenant("biology").nodes(nodes);
  s.submit("a").ok({ kind: "allocation.assign", allocation: "a", nodes: ["n0000"], to: "running", expected: {}, wipe: true });
  return s;
};
const operate = (s: Scenario, verb: "drain" | "undrain" | "disable" | "enable" | "wiped") =>
  s.ok({ kind: "node.operate", node: "n0000", verb });

test("work of a strict tenant leaves nodes that must be wiped before their next use", () => {
  const s = strict(1).move("a", "completed");
  expect(s.nodeState("n0000")).toBe("booting");
  s.submit("b", { tenant: "biology" });
  const assign = { kind: "allocation.assign" as const, allocation: "b", nodes: ["n0000"], to: "running" as const, expected: {} };
  expect(s.refused(assign)).toMatchObject({ code: "invalid_transition" });
  operate(s, "wiped");
  s.ok(assign);
  s.move("b", "completed");
  expect(s.nodeState("n0000")).toBe("ready");
});

test("neither undraining nor enabling nor the agent's return leads past the wiping", () => {
  const s = strict(1);
  operate(s, "drain");
  s.move("a", "completed");
  expect(s.nodeState("n0000")).toBe("drained");
  operate(s, "undrain");
  expect(s.nodeState("n0000")).toBe("booting");
  operate(s, "disable");
  operate(s, "enable");
  expect(s.nodeState("n0000")).toBe("booting");
  s.ok({ kind: "node.operate", node: "n0000", verb: "fail", why: "no heartbeat" });
  s.ok({ kind: "node.heartbeats", beats: [["n0000", s.at]] });
  expect(s.nodeState("n0000")).toBe("booting");
  operate(s, "wiped");
  expect(s.nodeState("n0000")).toBe("ready");
});

test("a plan says of strict tenants' work, and of no other, that its nodes are wiped", () => {
  const s = new Scenario().tenant("physics", { isolationLevel: "strict" }).tenant("biology").nodes(2);
  s.submit("a").submit("b", { tenant: "biology" });
  const wipes = plan(s.state, s.at).proposals.map((p) => [p.kind === "allocation.assign" && p.allocation, "wipe" in p]);
  expect(Object.fromEntries(wipes)).toEqual({ a: true, b: false });
});

test("an assignment of release 0.1, which knew no isolation, is carried out as it was", () => {
  const s = new Scenario().tenant("physics", { isolationLevel: "strict" }).nodes(1);
  s.submit("a").assign("a", "n0000").move("a", "completed");
  expect(s.nodeState("n0000")).toBe("ready");
});
