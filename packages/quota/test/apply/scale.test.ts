import { describe, expect, test } from "vitest";
import { plan } from "../../src/plan/plan.ts";
import { tenantUsage } from "../../src/soft/ledger.ts";
import { Scenario } from "../scenario.ts";

/** Carries out what a cycle proposes. */
const cycle = (s: Scenario): void => {
  for (const proposal of plan(s.state, s.at).proposals) s.ok(proposal);
};
const scale = (nodes: number) => ({ kind: "allocation.scale" as const, allocation: "a", nodes });
const reactive = { lifecycle: "reactive" as const, nodes: 4, minNodes: 1 };

describe("reactive work", () => {
  test("begins with its least size, grows by the cycle to what it asks for, and shrinks at once, what came last first", () => {
    const s = new Scenario().tenant("physics").nodes(5).submit("a", reactive);
    cycle(s);
    expect(s.allocation("a")).toMatchObject({ state: "running", desiredNodes: 1, assigned: { length: 1 } });
    s.ok(scale(3));
    expect(s.allocation("a").assigned).toHaveLength(1);
    cycle(s);
    const held = s.allocation("a").assigned;
    expect(held).toHaveLength(3);
    s.ok(scale(2));
    expect(s.allocation("a").assigned).toEqual(held.slice(0, 2));
    expect(s.owner(held[2] as string)).toBe(null);
    cycle(s);
    expect(s.allocation("a").assigned).toEqual(held.slice(0, 2));
  });

  test("has every size in the ledger for as long as it had it", () => {
    const s = new Scenario().tenant("physics").nodes(4, { gpuCount: 2 }).submit("a", reactive);
    cycle(s);
    s.wait(1).ok(scale(4));
    cycle(s);
    s.wait(1).ok(scale(2));
    s.wait(1).move("a", "completed");
    expect(tenantUsage(s.state, "physics", 90, s.at)).toMatchObject({ nodeHours: 1 + 4 + 2, gpuHours: 2 + 8 + 4 });
    expect(s.allocation("a").attempts.map(({ nodes }) => nodes)).toEqual([1, 4, 2]);
  });

  test("grows as far as quota and free nodes go, and goes on when there are more", () => {
    const s = new Scenario().tenant("physics").tenant("biology").nodes(3).submit("a", reactive);
    s.ok({ kind: "tenant.update", tenant: "physics", settings: { maxNodes: 2 } });
    cycle(s);
    s.ok(scale(4));
    cycle(s);
    expect(s.allocation("a").assigned).toHaveLength(2);
    s.submit("b", { tenant: "biology" }).ok({ kind: "tenant.update", tenant: "physics", settings: { maxNodes: 9 } });
    cycle(s); // who waits comes before who grows
    expect([s.allocation("b").state, s.allocation("a").assigned.length]).toEqual(["running", 2]);
    s.move("b", "completed");
    cycle(s);
    expect(s.allocation("a").assigned).toHaveLength(3);
  });

  test("takes none of the nodes that are kept for who waits", () => {
    const s = new Scenario().tenant("physics").tenant("biology").nodes(4).submit("a", reactive);
    cycle(s);
    s.submit("long", { tenant: "biology", walltimeHours: 1 });
    cycle(s);
    s.submit("wide", { tenant: "biology", nodes: 3, minNodes: 3 }).ok(scale(3));
    cycle(s);
    expect(s.allocation("a").assigned).toHaveLength(1);
  });

  test("is refused a size that it did not ask for at first, and work that is not reactive any", () => {
    const s = new Scenario()
      .tenant("physics")
      .nodes(2)
      .submit("a", { ...reactive, nodes: 3, minNodes: 2 });
    for (const nodes of [1, 4, 2.5]) expect(s.refused(scale(nodes))).toMatchObject({ code: "invalid_argument" });
    s.submit("b");
    expect(s.refused({ ...scale(1), allocation: "b" })).toMatchObject({ code: "invalid_transition" });
    expect(s.refused({ ...scale(1), allocation: "none" })).toMatchObject({ code: "not_found" });
    s.move("a", "cancelled");
    expect(s.refused(scale(2))).toMatchObject({ code: "invalid_transition" });
  });

  test("is given nodes only as an assignment is: in service, unowned, within the quota, as many as it asks for", () => {
    const s = new Scenario().tenant("physics").nodes(4).submit("a", reactive).assign("a", "n0000");
    s.ok({ kind: "tenant.update", tenant: "physics", settings: { maxNodes: 3 } });
    const grow = (...nodes: string[]) => ({ kind: "allocation.grow" as const, allocation: "a", nodes, expected: {} });
    expect(s.refused(grow("n0001"))).toMatchObject({ code: "invalid_argument" });
    s.ok(scale(4));
    expect(s.refused(grow())).toMatchObject({ code: "invalid_argument" });
    expect(s.refused(grow("n0000"))).toMatchObject({ code: "ownership_conflict" });
    expect(s.refused(grow("n0001", "n0001"))).toMatchObject({ code: "invalid_argument" });
    expect(s.refused(grow("n0001", "n0002", "n0003"))).toMatchObject({ code: "quota_exceeded" });
    expect(s.refused({ ...grow("n0001"), expected: { allocation: 1 } })).toMatchObject({ code: "stale_state" });
    s.ok(grow("n0001", "n0002"));
    expect(s.owner("n0002")).toBe("a");
  });
});
