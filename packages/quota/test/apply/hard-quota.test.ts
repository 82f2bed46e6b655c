import { describe, expect, test } from "vitest";
import { REQUEST } from "../../src/arbitraries/index.ts";
import { Scenario } from "../scenario.ts";

describe("the rejection text of the specification", () => {
  test("names tenant, quota, current, requested and limit", () => {
    const s = new Scenario().tenant("physics", { maxNodes: 200 }).nodes(195);
    s.submit("a", { nodes: 195 }).assign("a", ...[...s.state.nodes.keys()]);
    const refusal = s.refused({ kind: "allocation.submit", allocation: "b", request: { ...REQUEST, nodes: 10 } });
    expect(refusal).toEqual({
      ok: false,
      code: "quota_exceeded",
      message: "allocation rejected: tenant physics would exceed max_nodes quota (current: 195, requested: 10, limit: 200)",
      details: {
        tenant: "physics",
        quota: "max_nodes",
        current: 195,
        requested: 10,
        limit: 200,
        hint: "wait for running allocations to finish or contact the tenant admin",
        retriable: true,
      },
    });
  });

  test("after a reduction it states usage, new limit and what to do", () => {
    const s = new Scenario().tenant("physics", { maxNodes: 3 }).nodes(4).submit("a", { nodes: 3 });
    s.assign("a", "n0000", "n0001", "n0002");
    s.ok({ kind: "tenant.update", tenant: "physics", settings: { maxNodes: 2 } });
    expect(s.allocation("a").state).toBe("running");
    expect(s.refused({ kind: "allocation.submit", allocation: "b", request: REQUEST }).message).toBe(
      "allocation rejected: tenant physics would exceed max_nodes quota (current: 3, requested: 1, limit: 2); current usage 3, new limit 2: wait for running allocations to finish or contact the tenant admin",
    );
  });

  test("a request above the limit alone can never fit and is not retriable", () => {
    const s = new Scenario().tenant("physics", { maxNodes: 2 });
    const { details } = s.refused({ kind: "allocation.submit", allocation: "a", request: { ...REQUEST, nodes: 3 } });
    expect(details).toMatchObject({ retriable: false, hint: "the request alone exceeds the limit: it can never fit" });
  });
});

test("equal to the limit is accepted; 0 is a real limit", () => {
  new Scenario().tenant("physics", { maxNodes: 2 }).submit("a", { nodes: 2 });
  const s = new Scenario().tenant("physics", { maxNodes: 0 });
  s.refused({ kind: "allocation.submit", allocation: "a", request: REQUEST });
  const c = new Scenario().tenant("physics", { maxConcurrentAllocations: 0 });
  expect(c.refused({ kind: "allocation.submit", allocation: "a", request: REQUEST }).details).toMatchObject({
    quota: "max_concurrent_allocations",
    current: 0,
    requested: 1,
    limit: 0,
  });
});

test("pending work does not count; of two assignments for the last node the second is refused", () => {
  const s = new Scenario().tenant("physics", { maxNodes: 1 }).nodes(2).submit("a").submit("b").assign("a", "n0000");
  const refusal = s.refused({ kind: "allocation.assign", allocation: "b", nodes: ["n0001"], to: "running", expected: {} });
  expect(refusal.message).toBe(
    "allocation rejected: tenant physics would exceed max_nodes quota (current: 1, requested: 1, limit: 1)",
  );
  s.move("a", "completed").assign("b", "n0001");
});

test("work that holds nodes is not assigned others: staging becomes running where it is", () => {
  const s = new Scenario().tenant("physics").nodes(2).submit("a");
  s.ok({ kind: "allocation.assign", allocation: "a", nodes: ["n0000"], to: "staging", expected: {} });
  const again = { kind: "allocation.assign", allocation: "a", nodes: ["n0001"], to: "running", expected: {} } as const;
  expect(s.refused(again).details).toMatchObject({ from: "staging", to: "running" });
  s.move("a", "running");
  expect([s.owner("n0000"), s.owner("n0001"), s.allocation("a").assigned]).toEqual(["a", null, ["n0000"]]);
});

test("suspended work holds no nodes but counts as an allocation", () => {
  const s = new Scenario().tenant("physics", { maxConcurrentAllocations: 1 }).nodes(1).submit("a").submit("b");
  s.assign("a", "n0000").move("a", "checkpointing").move("a", "suspended");
  expect(s.owner("n0000")).toBeNull();
  expect(
    s.refused({ kind: "allocation.assign", allocation: "b", nodes: ["n0000"], to: "running", expected: {} }).details,
  ).toMatchObject({ quota: "max_concurrent_allocations", current: 1 });
});

test("checks come in the order tenant, versions, nodes, quotas", () => {
  const s = new Scenario().tenant("physics", { maxNodes: 1 }).nodes(3).submit("a").submit("b").assign("a", "n0000");
  const assign = (nodes: string[], expected = {}) =>
    s.refused({ kind: "allocation.assign", allocation: "b", nodes, to: "running", expected });
  expect(assign(["n0000"], { tenant: 9, nodes: [99] }).code).toBe("stale_state");
  expect(assign(["n0000"]).code).toBe("ownership_conflict");
  expect(assign(["nope"]).code).toBe("not_found");
  expect(assign(["n0001"], { nodes: [99] })).toMatchObject({ code: "stale_state", details: { type: "node", id: "n0001" } });
  expect(assign(["n0001"]).code).toBe("quota_exceeded");
  expect(s.refused({ kind: "allocation.submit", allocation: "c", request: { ...REQUEST, tenant: "x" } })).toMatchObject({
    code: "not_found",
    message: "tenant not found: x",
  });
});

test("a node is never listed twice, and a drained one takes no work", () => {
  const s = new Scenario().tenant("physics").nodes(2).submit("a", { nodes: 2 });
  const twice = { kind: "allocation.assign", allocation: "a", nodes: ["n0000", "n0000"], to: "running", expected: {} } as const;
  expect(s.refused(twice)).toMatchObject({ code: "invalid_argument", details: { field: "nodes" } });
  s.ok({ kind: "node.operate", node: "n0001", verb: "drain" });
  expect(s.refused({ ...twice, nodes: ["n0000", "n0001"] }).code).toBe("invalid_transition");
});

describe("sensitive work", () => {
  test("claims its nodes within the pool, keeps the claims when it ends, and only the claimant or an admin releases them", () => {
    const s = new Scenario().tenant("physics").nodes(3);
    s.ok({ kind: "system.update", sensitivePoolSize: 2 });
    s.submit("a", { nodes: 2, sensitive: true }).assign("a", "n0000", "n0001").move("a", "completed");
    expect(s.state.claimed).toBe(2);
    expect(s.owner("n0000")).toBeNull();
    expect(s.state.nodes.get("n0000")).toMatchObject({ claim: { claimant: "ada", tenant: "physics" } });
    expect(s.refused({ kind: "node.claim", node: "n0002", tenant: "physics", by: "bob" }).details).toMatchObject({
      quota: "sensitive_pool_size",
      current: 2,
      requested: 1,
      limit: 2,
    });
    s.submit("plain");
    expect(
      s.refused({ kind: "allocation.assign", allocation: "plain", nodes: ["n0000"], to: "running", expected: {} }).code,
    ).toBe("ownership_conflict");
    expect(s.refused({ kind: "node.release", node: "n0000", asAdmin: false, by: "bob" }).code).toBe("forbidden");
    s.ok({ kind: "node.release", node: "n0000", asAdmin: false, by: "ada" });
    expect(s.state.nodes.get("n0000")?.state).toBe("booting");
    s.ok({ kind: "node.operate", node: "n0000", verb: "wiped" });
    s.ok({ kind: "node.release", node: "n0001", asAdmin: true, by: "root" });
    expect(s.state.claimed).toBe(0);
  });

  test("lowering the pool below what is claimed only blocks new claims", () => {
    const s = new Scenario().tenant("physics").nodes(2);
    s.ok({ kind: "system.update", sensitivePoolSize: 1 });
    s.ok({ kind: "node.claim", node: "n0000", tenant: "physics", by: "ada" });
    s.ok({ kind: "system.update", sensitivePoolSize: 0 });
    expect(s.state.nodes.get("n0000")?.claim?.claimant).toBe("ada");
    s.refused({ kind: "node.claim", node: "n0001", tenant: "physics", by: "ada" });
    s.refused({ kind: "allocation.submit", allocation: "b", request: { ...REQUEST, nodes: 2, sensitive: true } });
    s.submit("c", { sensitive: true }).assign("c", "n0000");
  });
});

describe("beyond the specification", () => {
  test("GPUs are counted by flavour, an unknown count as one", () => {
    const s = new Scenario().tenant("physics", { maxGpus: { a100: 5 } });
    s.nodes(2, { gpuType: "a100", gpuCount: 4 }, "big").nodes(2, { gpuType: "a100", gpuCount: null }, "odd");
    s.submit("a", { nodes: 2 }).assign("a", "big0000", "odd0000").submit("b");
    expect(
      s.refused({ kind: "allocation.assign", allocation: "b", nodes: ["odd0001"], to: "running", expected: {} }).details,
    ).toMatchObject({ quota: "max_gpus.a100", current: 5, requested: 1, limit: 5 });
    expect(
      s.refused({
        kind: "allocation.submit",
        allocation: "c",
        request: { ...REQUEST, gpuType: "a100", gpusPerNode: 4, nodes: 2 },
      }).details,
    ).toMatchObject({ quota: "max_gpus.a100", requested: 8, retriable: false });
  });

  test("a user's cap holds for that user alone", () => {
    const s = new Scenario().tenant("physics", { userMaxNodes: 1, userMaxConcurrentAllocations: 1 }).nodes(3);
    s.submit("a").assign("a", "n0000");
    expect(s.refused({ kind: "allocation.submit", allocation: "b", request: REQUEST }).details).toMatchObject({
      quota: "user_max_nodes",
      current: 1,
      limit: 1,
    });
    s.submit("c", { user: "bob" }).assign("c", "n0001");
  });

  test("a child borrows what its siblings leave unused, up to its borrowing limit and their lending limit", () => {
    const s = new Scenario().tenant("org", { maxNodes: 10 }).nodes(12);
    s.tenant("red", { maxNodes: 5, borrowingLimit: 4 }, "org").tenant("blue", { maxNodes: 5, lendingLimit: 3 }, "org");
    const all = [...s.state.nodes.keys()];
    s.submit("r1", { tenant: "red", nodes: 8 }).assign("r1", ...all.slice(0, 8)); // 5 own + 3 lent by blue
    const more = s.refused({ kind: "allocation.submit", allocation: "r2", request: { ...REQUEST, tenant: "red" } });
    expect(more.details).toMatchObject({
      tenant: "org",
      quota: "max_nodes",
      current: 10,
      requested: 1,
      limit: 10,
      requested_by: "red",
    });
    s.submit("b1", { tenant: "blue", nodes: 2 }).assign("b1", ...all.slice(8, 10)); // its guarantee stands
    expect(
      s.refused({ kind: "allocation.submit", allocation: "b2", request: { ...REQUEST, tenant: "blue" } }).details,
    ).toMatchObject({ tenant: "org" });
    s.move("r1", "completed");
    s.submit("r3", { tenant: "red", nodes: 7 });
    expect(
      s.refused({ kind: "allocation.submit", allocation: "r4", request: { ...REQUEST, tenant: "red", nodes: 10 } }).details,
    ).toMatchObject({ tenant: "red", limit: 9 });
  });
});

test("a repeated command id is answered, not applied twice; with another digest it is refused", () => {
  const s = new Scenario().tenant("physics");
  const submit = { kind: "allocation.submit", id: "key-1", digest: "d1", allocation: "a", request: REQUEST } as const;
  const first = s.ok(submit);
  const second = s.ok({ ...submit, allocation: "b" });
  expect(second).toMatchObject({ repeat: true, result: first.result });
  expect(s.state.allocations.size).toBe(1);
  expect(s.refused({ ...submit, digest: "d2" }).code).toBe("idempotency_mismatch");
});

test("an edit touches only the named fields and says who and why; a stale If-Match is refused", () => {
  const s = new Scenario().tenant("physics", { gpuHoursBudget: 10, nodeHoursBudget: 20 });
  s.ok({
    kind: "tenant.update",
    tenant: "physics",
    settings: { gpuHoursBudget: null },
    by: "eve",
    why: "year end",
    ifVersion: 1,
  });
  expect(s.state.tenants.get("physics")).toMatchObject({
    gpuHoursBudget: null,
    nodeHoursBudget: 20,
    version: 2,
    updatedBy: "eve",
    updateReason: "year end",
  });
  expect(s.refused({ kind: "tenant.update", tenant: "physics", settings: { maxNodes: 1 }, ifVersion: 1 }).code).toBe(
    "stale_state",
  );
  const entry = [...s.state.audit.values()].at(-1);
  expect(entry).toMatchObject({
    action: "tenant.update",
    user: "eve",
    details: { old: { gpuHoursBudget: 10 }, new: { gpuHoursBudget: null }, why: "year end" },
  });
  expect(s.refused({ kind: "tenant.create", tenant: "physics", settings: {} }).code).toBe("already_exists");
});

test.each([
  ["maxNodes", -1],
  ["maxNodes", 1.5],
  ["maxNodes", "4"],
  ["maxNodes", null],
  ["maxConcurrentAllocations", Number.NaN],
  ["gpuHoursBudget", Number.POSITIVE_INFINITY],
  ["nodeHoursBudget", -0.1],
  ["fairShareTarget", 1.01],
  ["burstAllowance", 0.9],
  ["isolationLevel", "lax"],
  ["maxGpus", { a100: -1 }],
  ["colour", "red"],
  ["__proto__x", 1],
])("a tenant's %s of %j is refused by name", (field, value) => {
  const s = new Scenario().tenant("physics");
  const settings = { [field]: value } as never;
  expect(s.refused({ kind: "tenant.update", tenant: "physics", settings })).toMatchObject({
    code: "invalid_argument",
    details: { field },
  });
  s.refused({ kind: "tenant.create", tenant: "other", settings });
});
