import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { apply } from "../../src/apply/apply.ts";
import { anyHistory, type Step } from "../../src/arbitraries/index.ts";
import { plan } from "../../src/plan/plan.ts";
import type { QuotaState } from "../../src/state/state.ts";
import { runs } from "../runs.ts";
import { Scenario } from "../scenario.ts";

/** Proposes a whole cycle, as the service does. */
function cycle(s: Scenario): ReturnType<typeof plan> {
  const planned = plan(s.state, s.at);
  for (const proposal of planned.proposals) s.ok(proposal);
  if (planned.changed.length > 0) s.ok({ kind: "allocation.reasons", reasons: planned.changed });
  return planned;
}

const text = (s: Scenario, id: string): string | null => s.allocation(id).statusReason;

/** Four nodes, and whatever a history made of them. */
function after(history: readonly Step[]): Scenario {
  const s = new Scenario().tenant("solo", { maxNodes: 5 }).nodes(4);
  for (const [i, { command, at }] of history.entries()) {
    s.at = at;
    const outcome = apply(s.state, { ...command, id: `h${i}` }, at);
    if (outcome.ok) s.state = outcome.state;
  }
  return s;
}

test("where nothing is kept for anybody, a plan of what a plan made starts nothing more and lets nothing grow, unless work gave way", () => {
  fc.assert(
    fc.property(anyHistory(60), (history) => {
      const s = after(history);
      const starts = () => plan(s.state, s.at, { reservations: false }).proposals;
      const first = starts();
      for (const proposal of first) s.ok(proposal);
      if (first.some(({ kind }) => kind === "allocation.preempt")) return;
      expect(starts().filter(({ kind }) => kind !== "allocation.preempt")).toEqual([]);
    }),
    runs(120),
  );
});

test("every proposal is accepted as it was planned, whatever came before", () => {
  fc.assert(
    fc.property(anyHistory(60), (history) => {
      const s = after(history);
      const planned = plan(s.state, s.at);
      const before: QuotaState = s.state;
      const waiting = new Set(planned.reasons.map(({ allocation }) => allocation));
      for (const proposal of planned.proposals) s.ok(proposal);
      const pending = [...before.allocations.values()].filter(({ state }) => state === "pending").map(({ id }) => id);
      const assigned = planned.proposals.flatMap((p) => (p.kind === "allocation.assign" ? [p.allocation] : []));
      // each pending allocation is proposed or has a reason, never both
      expect([...assigned, ...waiting].sort()).toEqual(pending.sort());
    }),
    runs(120),
  );
});

describe("headroom", () => {
  test("held work carries the exact reason, is not proposed, blocks nobody, and runs when there is headroom", () => {
    const s = new Scenario()
      .tenant("physics", { maxNodes: 2 })
      .nodes(4)
      .submit("a", { nodes: 2 })
      .submit("big", { nodes: 2 })
      .submit("small");
    cycle(s);
    expect(s.allocation("a").state).toBe("running");
    expect([text(s, "big"), text(s, "small")]).toEqual(["waiting for quota headroom", "waiting for quota headroom"]);
    const again = plan(s.state, s.at);
    expect([again.proposals, again.changed]).toEqual([[], []]);
    expect(again.reasons[0]).toMatchObject({
      code: "quota_headroom",
      details: { tenant: "physics", quota: "max_nodes", current: 2, limit: 2 },
    });
    s.ok({ kind: "tenant.update", tenant: "physics", settings: { maxNodes: 3 } });
    cycle(s);
    expect([s.allocation("big").state, s.allocation("small").state]).toEqual(["pending", "running"]);
    s.move("a", "completed");
    cycle(s);
    expect(s.allocation("big")).toMatchObject({ state: "running", statusReason: null });
  });

  test("a reduction preempts nothing and cancels nothing; work starts again once usage has fallen below the new limit", () => {
    const s = new Scenario().tenant("physics", { maxNodes: 4 }).nodes(6);
    for (const id of ["a", "b", "c"]) s.submit(id);
    s.submit("d");
    for (const [i, id] of ["a", "b", "c"].entries()) s.assign(id, `n000${i}`);
    s.ok({ kind: "tenant.update", tenant: "physics", settings: { maxNodes: 2 } });
    cycle(s);
    expect(["a", "b", "c", "d"].map((id) => s.allocation(id).state)).toEqual(["running", "running", "running", "pending"]);
    s.move("a", "completed");
    cycle(s);
    expect(s.allocation("d").state).toBe("pending");
    s.move("b", "completed");
    cycle(s);
    expect(s.allocation("d").state).toBe("running");
  });
});

test("more budget used lowers the score; exhausted work still starts on an idle cluster and is told why it waits on a busy one", () => {
  const s = new Scenario()
    .tenant("rich", { fairShareTarget: 0 })
    .tenant("poor", { nodeHoursBudget: 1, fairShareTarget: 0 })
    .nodes(1);
  s.submit("p0", { tenant: "poor" }).assign("p0", "n0000").wait(2).move("p0", "completed");
  s.submit("p1", { tenant: "poor" }).wait(5).submit("r1", { tenant: "rich" });
  cycle(s);
  expect([s.allocation("r1").state, text(s, "p1")]).toEqual(["running", "low priority: budget exhausted"]);
  expect(plan(s.state, s.at).scores.get("p1")?.penalty).toBe(0.05);
  s.move("r1", "completed");
  cycle(s);
  expect(s.allocation("p1").state).toBe("running");
});

test("a starved tenant's work runs before that of one beyond its share", () => {
  const s = new Scenario().tenant("greedy", { fairShareTarget: 0.2 }).tenant("starved", { fairShareTarget: 0.2 }).nodes(5);
  s.submit("g0", { tenant: "greedy", nodes: 4 }).assign("g0", "n0000", "n0001", "n0002", "n0003");
  s.submit("g1", { tenant: "greedy" }).submit("s1", { tenant: "starved" });
  cycle(s);
  expect([s.allocation("s1").state, s.allocation("g1").state]).toEqual(["running", "pending"]);
});

test("a tenant below its share takes back what another has as burst, by checkpoint, and gets those nodes", () => {
  const s = new Scenario().tenant("greedy", { fairShareTarget: 0.5 }).tenant("starved", { fairShareTarget: 0.5 }).nodes(4);
  s.submit("g1", { tenant: "greedy", nodes: 2, checkpoint: "auto" }).assign("g1", "n0000", "n0001").wait(1);
  s.submit("g2", { tenant: "greedy", nodes: 2, checkpoint: "auto" }).assign("g2", "n0002", "n0003");
  s.submit("s1", { tenant: "starved", nodes: 2 });
  const first = cycle(s);
  expect([...first.burst]).toEqual(["g2"]);
  expect(s.allocation("g2")).toMatchObject({ state: "checkpointing", preemptedFor: "s1" });
  expect(text(s, "s1")).toBe("waiting for nodes: others are giving way");
  expect(cycle(s).proposals).toEqual([]); // nobody else has to go while it waits
  s.move("g2", "suspended");
  cycle(s);
  expect([s.allocation("s1").state, s.allocation("g1").state, s.allocation("g2").state]).toEqual([
    "running",
    "running",
    "pending",
  ]);
});

test("nobody gives way for quota or budget reasons", () => {
  const s = new Scenario()
    .tenant("physics", { maxNodes: 1 })
    .nodes(2)
    .submit("low", { priorityClass: 0 })
    .submit("high", { priorityClass: 9 });
  s.assign("low", "n0000");
  expect(plan(s.state, s.at).proposals).toEqual([]);
  expect(plan(s.state, s.at).reasons).toMatchObject([{ allocation: "high", code: "quota_headroom" }]);
});

test("work prefers one group that holds it, the smallest that does, and leaves GPUs to those who asked", () => {
  const s = new Scenario().tenant("physics").nodes(5, { group: "big" }, "b").nodes(2, { group: "small" }, "s");
  s.nodes(2, { group: "small", gpuType: "a100", gpuCount: 8 }, "g");
  s.submit("plain", { nodes: 2, priorityClass: 9 }).submit("gpu", { nodes: 2, gpuType: "a100", gpusPerNode: 8 });
  cycle(s);
  expect(s.allocation("plain").assigned).toEqual(["s0000", "s0001"]);
  expect(s.allocation("gpu")).toMatchObject({ assigned: ["g0000", "g0001"], perNodeGpus: [8, 8], gpusByType: { a100: 16 } });
});

test("a range of nodes starts with what is there, down to its lower end", () => {
  const s = new Scenario()
    .tenant("physics", { maxNodes: 3 })
    .nodes(9)
    .submit("a", { nodes: 3, minNodes: 2 })
    .submit("b", { nodes: 3, minNodes: 1 });
  cycle(s);
  expect(s.allocation("a").assigned).toHaveLength(3);
  expect(text(s, "b")).toBe("waiting for quota headroom");
  s.ok({ kind: "tenant.update", tenant: "physics", settings: { maxNodes: 5 } });
  cycle(s);
  expect(s.allocation("b").assigned).toHaveLength(2);
});

test("sensitive work waits for the pool, and uses the claims of its own user only", () => {
  const s = new Scenario().tenant("physics").nodes(4);
  s.ok({ kind: "system.update", sensitivePoolSize: 2 });
  s.ok({ kind: "node.claim", node: "n0003", tenant: "physics", by: "ada" });
  s.submit("a", { sensitive: true, user: "ada" }).submit("b", { sensitive: true, user: "bob" });
  cycle(s);
  expect(s.allocation("a").assigned).toEqual(["n0003"]);
  expect(s.allocation("b").assigned).toHaveLength(1);
  s.ok({ kind: "system.update", sensitivePoolSize: 3 });
  s.submit("c", { sensitive: true, user: "cy" });
  s.ok({ kind: "system.update", sensitivePoolSize: 2 });
  cycle(s);
  expect(text(s, "c")).toBe("waiting for sensitive pool");
});

test("two schedulers that plan from the same state are harmless: the second proposal is stale or out of quota", () => {
  const s = new Scenario().tenant("physics", { maxNodes: 1 }).nodes(2).submit("a").submit("b");
  const [one, two] = [plan(s.state, s.at), plan(s.state, s.at)];
  expect(one.proposals).toEqual(two.proposals);
  s.ok(one.proposals[0]!);
  expect(s.refused(two.proposals[0]!).code).toBe("stale_state");
});

describe("whose work gives way", () => {
  /** Tenant `a` holds all 13 nodes for 20 of 24 hours without a checkpoint; `b`, below its share, wants one for six minutes. */
  const crowded = (a: object = {}): Scenario => {
    const s = new Scenario().tenant("a", a).tenant("b").nodes(13);
    s.submit("long", { tenant: "a", nodes: 13, minNodes: 13, walltimeHours: 24 });
    cycle(s);
    return s.wait(20).submit("short", { tenant: "b", walltimeHours: 0.1 });
  };
  const victims = (s: Scenario, options = {}): readonly string[] =>
    plan(s.state, s.at, options).proposals.flatMap((p) =>
      p.kind === "allocation.preempt" ? p.victims.map((v) => v.allocation) : [],
    );

  test("by default nothing ends for good to make room: only what comes back gives way", () => {
    expect(victims(crowded())).toEqual([]);
  });

  test("a cluster may let any work be ended, a tenant may keep its own from it, or for so long", () => {
    expect(victims(crowded(), { preemption: "cancel" })).toEqual(["long"]);
    expect(victims(crowded({ preemption: "cancel" }))).toEqual(["long"]);
    expect(victims(crowded({ preemption: "off" }), { preemption: "cancel" })).toEqual([]);
    expect(victims(crowded({ preemptionExemptHours: 21 }), { preemption: "cancel" })).toEqual([]);
    expect(victims(crowded(), { preemption: "cancel", preemptionExemptMs: 21 * 3_600_000 })).toEqual([]);
  });
});

test("work that the cluster could never carry says which constraint excludes how many nodes", () => {
  const s = new Scenario().tenant("physics").nodes(3, { gpuType: "a100", gpuCount: 4 }, "g").nodes(2, {}, "p");
  s.submit("type", { gpuType: "nosuch" })
    .submit("count", { gpuType: "a100", gpusPerNode: 8 })
    .submit("many", { nodes: 6, minNodes: 6 });
  s.submit("fine", { gpuType: "a100", nodes: 3, minNodes: 3 });
  const { reasons, reservation } = plan(s.state, s.at);
  const of = (id: string) => reasons.find(({ allocation }) => allocation === id);
  expect(of("type")).toMatchObject({
    code: "unsatisfiable",
    details: { fitting: 0, nodes: 5, excluded: { gpu_type: 5, gpus_per_node: 0 } },
  });
  expect(of("count")).toMatchObject({
    code: "unsatisfiable",
    details: { fitting: 0, excluded: { gpu_type: 2, gpus_per_node: 3 } },
  });
  expect(of("many")).toMatchObject({ code: "unsatisfiable", details: { need: 6, fitting: 5 } });
  expect([of("fine"), reservation]).toEqual([undefined, undefined]);
});
