import { expect, test } from "vitest";
import { INVENTORY } from "../../src/arbitraries/index.ts";
import { budgetCrossings } from "../../src/soft/crossings.ts";
import { budgetStatus, DAY_MS, tenantsOfUser, tenantUsage } from "../../src/soft/ledger.ts";
import { Scenario } from "../scenario.ts";

const DAYS = 90;

function hours(s: Scenario, days = DAYS) {
  const { nodeHours, gpuHours } = tenantUsage(s.state, "physics", days, s.at);
  return { nodeHours, gpuHours };
}

test("work wholly inside the window counts its hours times nodes and GPUs", () => {
  const s = new Scenario().tenant("physics").nodes(2, { gpuType: "a100", gpuCount: 4 }).submit("a", { nodes: 2 });
  s.assign("a", "n0000", "n0001").wait(3).move("a", "completed").wait(5);
  expect(hours(s)).toEqual({ nodeHours: 6, gpuHours: 24 });
});

test("a node of unknown GPU count counts as 1, a known 0 stays 0, and later inventory changes rewrite nothing", () => {
  const s = new Scenario()
    .tenant("physics")
    .nodes(1, { gpuCount: 4 }, "k")
    .nodes(1, { gpuCount: null }, "u")
    .nodes(1, { gpuCount: 0 }, "z");
  s.submit("a", { nodes: 3 }).assign("a", "k0000", "u0000", "z0000").wait(2);
  s.ok({
    kind: "node.register",
    node: "k0000",
    inventory: { ...INVENTORY, gpuCount: 8 },
    agent: "agent-1",
  });
  s.wait(1).move("a", "failed");
  expect(hours(s)).toEqual({ nodeHours: 9, gpuHours: 15 });
});

test("work that straddles the start of the window is clipped; work that ended before is out", () => {
  const s = new Scenario().tenant("physics").nodes(2).submit("old").assign("old", "n0000").submit("long").assign("long", "n0001");
  s.wait(2).move("old", "completed");
  s.at += 90 * DAY_MS;
  expect(hours(s).nodeHours).toBe(90 * 24); // long alone, from the start of the window
  expect(hours(s, 1).nodeHours).toBe(24);
});

test("requeued work keeps the hours of its earlier attempts; work cancelled while pending has none", () => {
  const s = new Scenario().tenant("physics").nodes(1).submit("a", { requeuePolicy: "always", maxRequeue: 5 }).submit("never");
  for (let i = 0; i < 2; i++) s.assign("a", "n0000").wait(1).move("a", "failed", { exitCode: 1 }).wait(7);
  s.assign("a", "n0000").wait(1).move("a", "completed");
  s.move("never", "cancelled");
  expect(hours(s).nodeHours).toBe(3);
  expect(s.allocation("a").requeues).toBe(2);
});

test("pruning the record of ended work loses none of its hours", () => {
  const s = new Scenario().tenant("physics").nodes(1).submit("a").assign("a", "n0000").wait(4).move("a", "completed");
  s.ok({ kind: "allocation.prune", allocations: ["a"] });
  expect(s.state.allocations.size).toBe(0);
  expect(hours(s).nodeHours).toBe(4);
  expect([...tenantsOfUser(s.state, "ada")]).toEqual(["physics"]);
});

test("the higher fraction drives; a budget of 0 is used up; none is no fraction", () => {
  const s = new Scenario()
    .tenant("physics", { gpuHoursBudget: 10, nodeHoursBudget: 2 })
    .nodes(1)
    .submit("a")
    .assign("a", "n0000");
  s.wait(1);
  const tenant = () => s.state.tenants.get("physics")!;
  expect(budgetStatus(s.state, tenant(), s.at)).toMatchObject({
    fraction: 0.5,
    gpu: { fraction: 0 },
    node: { used: 1, budget: 2, fraction: 0.5 },
    source: "ledger",
  });
  s.ok({ kind: "tenant.update", tenant: "physics", settings: { gpuHoursBudget: 0, nodeHoursBudget: null } });
  expect(budgetStatus(s.state, tenant(), s.at)).toMatchObject({ fraction: 1, gpu: { fraction: 1 }, node: { fraction: null } });
});

test("the accounting system's remaining budget overrides the ledger metric by metric, and grows stale", () => {
  const s = new Scenario()
    .tenant("physics", { gpuHoursBudget: 10, nodeHoursBudget: 10 })
    .nodes(1)
    .submit("a")
    .assign("a", "n0000")
    .wait(5);
  s.ok({ kind: "accounting.record", answers: [{ tenant: "physics", remaining: { gpuHours: -1, nodeHours: null } }] });
  const tenant = s.state.tenants.get("physics")!;
  expect(budgetStatus(s.state, tenant, s.at)).toMatchObject({
    source: "external",
    gpu: { fraction: 1.1 },
    node: { fraction: 0.5 },
    fraction: 1.1,
  });
  expect(budgetStatus(s.state, tenant, s.at + 91_000).source).toBe("ledger");
  s.ok({ kind: "accounting.record", answers: [{ tenant: "physics", remaining: null }] });
  const sources = s.events.filter(({ type }) => type === "accounting.source_changed").map(({ payload }) => payload["source"]);
  expect(sources).toEqual(["external", "ledger"]);
});

test("each upward crossing is told exactly once, and a fall re-arms it", () => {
  const s = new Scenario().tenant("physics", { nodeHoursBudget: 10 }).nodes(1).submit("a").assign("a", "n0000");
  const told: string[] = [];
  const look = () => {
    const crossings = budgetCrossings(s.state, s.at);
    if (crossings.length === 0) return;
    const { events } = s.ok({ kind: "budget.record", crossings });
    // another scheduler that saw the same sends the same: nothing changes
    expect(s.refused({ kind: "budget.record", crossings }).code).toBe("stale_state");
    told.push(...events.map(({ type }) => type));
  };
  for (let hour = 0; hour < 12; hour++) {
    s.wait(1);
    look();
    look();
  }
  expect(told).toEqual(["budget_warning", "budget_exhausted"]);
  s.ok({ kind: "tenant.update", tenant: "physics", settings: { nodeHoursBudget: 100 } });
  look();
  s.ok({ kind: "tenant.update", tenant: "physics", settings: { nodeHoursBudget: 11 } });
  look();
  expect(told).toEqual(["budget_warning", "budget_exhausted", "budget_exhausted"]);
  const last = s.events.findLast(({ type }) => type === "budget_exhausted");
  expect(last?.payload).toMatchObject({ tenant: "physics", metric: "node_hours", used: 12, budget: 11, source: "ledger" });
});
