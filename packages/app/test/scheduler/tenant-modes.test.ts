import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Harness, servers, startScheduler } from "./harness.ts";

describe.each(servers)("on %s", (_, serve) => {
  let s: Harness;
  beforeEach(async () => {
    s = await startScheduler(serve);
  });
  afterEach(() => s.stop());

  describe("DELETE /tenants/{id}", () => {
    const remove = (headers: Record<string, string> = {}) =>
      s.call("root", "DELETE", "/api/v1/tenants/physics?reason=project+ended", undefined, headers);

    test("is refused while work lives, says which, and then ends the tenant, audited, once", async () => {
      await s.cluster(1);
      const work = await s.submit("ada");
      const refused = await remove();
      expect([refused.status, refused.body.error]).toMatchObject([
        409,
        { code: "tenant_not_empty", details: { reason: "active_allocations_exist", allocations: 1 } },
      ]);
      await s.ok("ada", "POST", `/api/v1/allocations/${work}/cancel`);
      expect((await remove()).body).toEqual({ success: true });
      expect((await remove()).status).toBe(404);
      expect((await s.call("ada", "POST", "/api/v1/allocations", { tenant: "physics" })).status).toBe(404);
      expect((await s.call("root", "GET", "/api/v1/tenants/physics")).status).toBe(404);
      expect(await s.ok("root", "GET", "/api/v1/audit?limit=1")).toMatchObject([
        { action: "tenant.delete", resource_id: "physics", user_id: "root", details: { why: "project ended" } },
      ]);
      await s.ok("root", "POST", "/api/v1/tenants", { name: "physics" });
      expect(await s.ok("root", "GET", "/api/v1/allocations?tenant=physics")).toEqual([]);
    });

    test("under a key is answered again as at first, under If-Match only as the tenant was", async () => {
      await s.cluster(0);
      expect((await remove({ "if-match": '"v9"' })).status).toBe(412);
      const keyed = { "if-match": '"v1"', "idempotency-key": "once" };
      expect([(await remove(keyed)).status, (await remove(keyed)).status]).toEqual([200, 200]);
    });
  });

  test("a node that a strict tenant's work leaves is booting until its agent has wiped it", async () => {
    await s.cluster(1, { isolation_level: "strict" });
    const state = async () => (await s.ok("root", "GET", "/api/v1/nodes/n0")).state;
    const first = await s.submit("ada");
    await s.cycle();
    await s.ok("agent-1", "POST", `/api/v1/allocations/${first}/complete`);
    const next = await s.submit("bob");
    await s.cycle();
    expect([await state(), (await s.ok("bob", "GET", `/api/v1/allocations/${next}`)).state]).toEqual(["booting", "pending"]);
    await s.ok("agent-1", "POST", "/api/v1/nodes/n0/heartbeat", { wiped: true });
    await s.cycle();
    expect((await s.ok("bob", "GET", `/api/v1/allocations/${next}`)).state).toBe("running");
  });

  test("reactive work is scaled by its user and by its agent, within its range; of others it does not exist", async () => {
    await s.cluster(4);
    const id = await s.submit("ada", { lifecycle: "reactive", nodes: 4, min_nodes: 1 });
    await s.cycle();
    const seen = async () => {
      const { assigned_nodes, desired_nodes, nodes } = await s.ok("ada", "GET", `/api/v1/allocations/${id}`);
      return [assigned_nodes.length, desired_nodes, nodes];
    };
    const scale = (who: "ada" | "agent-1" | "agent-2" | "eve", nodes: number) =>
      s.call(who, "POST", `/api/v1/allocations/${id}/scale`, { nodes });
    expect(await seen()).toEqual([1, 1, 4]);
    expect((await scale("ada", 3)).status).toBe(200);
    expect(await seen()).toEqual([1, 3, 4]);
    await s.cycle();
    expect(await seen()).toEqual([3, 3, 4]);
    s.clock.advance(3_600_000);
    expect((await scale("agent-1", 2)).status).toBe(200);
    expect(await seen()).toEqual([2, 2, 4]);
    for (const who of ["agent-2", "eve"] as const) expect((await scale(who, 1)).status).toBe(404);
    expect((await scale("ada", 5)).status).toBe(400);
    expect((await s.ok("chief", "GET", "/api/v1/tenants/physics/usage")).node_hours_used).toBe(3);
    const bounded = await s.submit("ada");
    const refused = await s.call("ada", "POST", `/api/v1/allocations/${bounded}/scale`, { nodes: 1 });
    expect([refused.status, refused.body.error.code]).toEqual([409, "invalid_transition"]);
  });
});
