import { describe, expect, test } from "vitest";
import { holdingOf } from "../../src/state/holdings.ts";
import { Scenario } from "../scenario.ts";

const remove = (tenant: string) => ({ kind: "tenant.delete" as const, tenant });

describe("a tenant is deleted", () => {
  test("only when it has no work that has not ended, no claimed node and no child: each is named, with its count", () => {
    const s = new Scenario().tenant("org").tenant("physics", {}, "org").nodes(2);
    s.ok({ kind: "system.update", sensitivePoolSize: 1 });
    expect(s.refused(remove("org"))).toMatchObject({
      code: "tenant_not_empty",
      message: "tenant org has 1 tenants below it",
      details: { reason: "child_tenants_exist", tenants: 1 },
    });
    s.ok({ kind: "node.claim", node: "n0001", tenant: "physics", by: "ada" });
    expect(s.refused(remove("physics")).details).toMatchObject({ reason: "claims_exist", claims: 1 });
    s.submit("a");
    for (const state of ["pending", "running"]) {
      if (state === "running") s.assign("a", "n0000");
      expect(s.refused(remove("physics")).details).toMatchObject({ reason: "active_allocations_exist", allocations: 1 });
    }
    s.move("a", "completed");
    s.ok({ kind: "node.release", node: "n0001", asAdmin: true });
    s.ok(remove("physics"));
    s.ok(remove("org"));
    expect(s.state.tenants.size).toBe(0);
  });

  test("once: it is gone afterwards; the same command again is answered with the first answer", () => {
    const s = new Scenario().tenant("physics");
    const first = s.ok({ ...remove("physics"), id: "key", digest: "d" } as never);
    expect(s.ok({ ...remove("physics"), id: "key", digest: "d" } as never)).toMatchObject({ repeat: true, result: first.result });
    expect(s.refused(remove("physics"))).toMatchObject({ code: "not_found" });
  });

  test("under a version only if it is that one", () => {
    const s = new Scenario().tenant("physics");
    s.ok({ kind: "tenant.update", tenant: "physics", settings: { maxNodes: 3 } });
    expect(s.refused({ ...remove("physics"), ifVersion: 1 })).toMatchObject({ code: "stale_state" });
    s.ok({ ...remove("physics"), ifVersion: 2 });
  });

  test("with who, why, its quotas and the hours of its budget period in the audit log; a later one of the name begins at nothing", () => {
    const s = new Scenario().tenant("physics", { nodeHoursBudget: 100 }).nodes(1, { gpuCount: 4 });
    s.submit("a").assign("a", "n0000").wait(2).move("a", "completed");
    s.ok({ ...remove("physics"), by: "root", why: "project ended" } as never);
    expect([...s.state.audit.values()].at(-1)).toMatchObject({
      action: "tenant.delete",
      resourceId: "physics",
      details: { nodeHours: 2, gpuHours: 8, allocations: 1, why: "project ended", old: { nodeHoursBudget: 100 } },
    });
    s.tenant("physics");
    expect([s.state.tenantUsage.size, s.state.allocations.size]).toEqual([0, 0]);
  });

  test("and what was guaranteed to it is its parent's again", () => {
    const s = new Scenario().tenant("org", { maxNodes: 4 }).tenant("physics", { maxNodes: 3, lendingLimit: 0 }, "org").nodes(4);
    expect(holdingOf(s.state, "org").reserved).toBe(3);
    s.ok(remove("physics"));
    expect(holdingOf(s.state, "org").reserved).toBe(0);
    s.submit("a", { tenant: "org", nodes: 4 }).assign("a", "n0000", "n0001", "n0002", "n0003");
  });
});
