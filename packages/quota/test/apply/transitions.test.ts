import { describe, expect, test } from "vitest";
import { INVENTORY } from "../../src/arbitraries/index.ts";
import { ALLOCATION_STATES, type AllocationState, TRANSITIONS } from "../../src/state/allocation.ts";
import { Scenario } from "../scenario.ts";

/** The table of the brief, written out again. */
const ALLOWED = new Set(
  [
    "pending staging",
    "pending running",
    "pending cancelled",
    "pending failed",
    "staging running",
    "staging failed",
    "staging cancelled",
    "running checkpointing",
    "running completed",
    "running failed",
    "running cancelled",
    "checkpointing suspended",
    "checkpointing failed",
    "checkpointing cancelled",
    "checkpointing completed",
    "suspended pending",
    "suspended cancelled",
    "suspended failed",
    "failed pending",
  ].map(String),
);

function bring(to: AllocationState): Scenario {
  const s = new Scenario().tenant("physics").nodes(1).submit("a", { requeuePolicy: "on_node_failure" });
  const stage = () => s.ok({ kind: "allocation.assign", allocation: "a", nodes: ["n0000"], to: "staging", expected: {} });
  const path: Record<AllocationState, () => unknown> = {
    pending: () => s,
    staging: stage,
    running: () => s.assign("a", "n0000"),
    checkpointing: () => s.assign("a", "n0000").move("a", "checkpointing"),
    suspended: () => s.assign("a", "n0000").move("a", "checkpointing").move("a", "suspended"),
    completed: () => s.assign("a", "n0000").move("a", "completed"),
    failed: () => s.assign("a", "n0000").move("a", "failed"),
    cancelled: () => s.move("a", "cancelled"),
  };
  path[to]();
  expect(s.allocation("a").state).toBe(to);
  return s;
}

describe("all 64 pairs", () => {
  for (const from of ALLOCATION_STATES)
    for (const to of ALLOCATION_STATES) {
      const allowed = ALLOWED.has(`${from} ${to}`);
      test(`${from} -> ${to} is ${allowed ? "allowed" : "refused with both names"}`, () => {
        expect(TRANSITIONS[from].includes(to)).toBe(allowed);
        const s = bring(from);
        const start = from === "pending" && (to === "staging" || to === "running");
        const outcome = start
          ? s.send({ kind: "allocation.assign", allocation: "a", nodes: ["n0000"], to, expected: {} })
          : s.send({ kind: "allocation.move", allocation: "a", to, expectedRequeues: 0 });
        if (allowed) expect(outcome).toMatchObject({ ok: true });
        else expect(outcome).toMatchObject({ ok: false, code: "invalid_transition", details: { from, to } });
        expect(s.allocation("a").state).toBe(allowed ? to : from);
      });
    }
});

test("an allocation never starts by a move: only by an assignment of nodes", () => {
  const s = bring("pending");
  expect(s.refused({ kind: "allocation.move", allocation: "a", to: "running" }).code).toBe("invalid_transition");
});

test("a terminal state and suspension release the nodes in the same command", () => {
  for (const to of ["completed", "failed", "cancelled"] as const) {
    const s = bring("running");
    s.move("a", to);
    expect(s.owner("n0000")).toBeNull();
    expect(s.allocation("a")).toMatchObject({ assigned: [], completedAt: s.at });
  }
});

test("a requeue is guarded by the count that its caller saw", () => {
  const s = bring("failed");
  expect(s.refused({ kind: "allocation.move", allocation: "a", to: "pending", expectedRequeues: 1 }).code).toBe("stale_state");
  s.move("a", "pending", { expectedRequeues: 0 });
  expect(s.allocation("a").requeues).toBe(1);
});

test("a failed node takes its work with it, and the policy puts it back into the queue", () => {
  const s = new Scenario().tenant("physics").nodes(2).submit("a", { requeuePolicy: "on_node_failure", maxRequeue: 1 });
  s.assign("a", "n0000");
  s.ok({ kind: "node.operate", node: "n0000", verb: "fail", why: "no heartbeat" });
  expect(s.allocation("a")).toMatchObject({
    state: "pending",
    requeues: 1,
    statusReason: "requeued: node n0000 failed: no heartbeat",
  });
  s.assign("a", "n0001");
  s.ok({ kind: "node.operate", node: "n0001", verb: "fail" });
  expect(s.allocation("a").state).toBe("failed");
});

test("what was preempted goes back into the queue once it is suspended, and can run again", () => {
  const s = new Scenario()
    .tenant("physics")
    .nodes(1)
    .submit("low", { checkpoint: "auto", priorityClass: 1 })
    .assign("low", "n0000");
  s.submit("high", { priorityClass: 9 });
  s.ok({ kind: "allocation.preempt", victims: [{ allocation: "low", version: s.allocation("low").version }], for: "high" });
  expect(s.allocation("low")).toMatchObject({ state: "checkpointing", statusReason: "preempted for allocation high" });
  s.move("low", "suspended");
  expect(s.allocation("low")).toMatchObject({ state: "pending", statusReason: "preempted, waiting to resume", assigned: [] });
  s.assign("high", "n0000").move("high", "completed").assign("low", "n0000");
  expect(s.allocation("low").attempts).toHaveLength(2);
});

test("sensitive and class 10 work is never preempted, and of several victims all go or none", () => {
  const s = new Scenario().tenant("physics").nodes(3);
  s.submit("a", { checkpoint: "auto" }).assign("a", "n0000").submit("top", { priorityClass: 10 }).assign("top", "n0001");
  s.submit("high", { priorityClass: 10 });
  const victims = ["a", "top"].map((id) => ({ allocation: id, version: s.allocation(id).version }));
  expect(s.refused({ kind: "allocation.preempt", victims, for: "high" }).code).toBe("invalid_transition");
  expect(s.allocation("a").state).toBe("running");
});

test("a draining node finishes its work and is drained with it", () => {
  const s = bring("running");
  s.ok({ kind: "node.operate", node: "n0000", verb: "drain" });
  expect(s.nodeState("n0000")).toBe("draining");
  s.move("a", "completed");
  expect(s.nodeState("n0000")).toBe("drained");
  s.ok({ kind: "node.operate", node: "n0000", verb: "undrain" });
  expect(s.nodeState("n0000")).toBe("ready");
});

test("a disabled node stays down whatever its agent sends, also one that was silent before", () => {
  const s = new Scenario().nodes(1);
  s.ok({ kind: "node.operate", node: "n0000", verb: "fail", why: "no heartbeat" });
  s.ok({ kind: "node.operate", node: "n0000", verb: "disable", why: "broken fan" });
  s.ok({ kind: "node.heartbeats", beats: [["n0000", s.at]] });
  s.ok({ kind: "node.register", node: "n0000", inventory: INVENTORY, agent: "agent-1" });
  expect(s.nodeState("n0000")).toBe("down");
  s.refused({ kind: "node.operate", node: "n0000", verb: "disable" });
  s.ok({ kind: "node.operate", node: "n0000", verb: "enable" });
  expect(s.nodeState("n0000")).toBe("ready");
});
