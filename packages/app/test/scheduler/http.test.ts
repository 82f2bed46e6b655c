import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Harness, servers, startScheduler } from "./harness.ts";

describe.each(servers)("the scheduler on %s", (_, serve) => {
  let s: Harness;
  beforeEach(async () => {
    s = await startScheduler(serve, { test_clock: true });
  });
  afterEach(() => s.stop());

  describe("tenants", () => {
    test("are created with defaults, once, and listed as a bare array", async () => {
      const made = await s.call("root", "POST", "/api/v1/tenants", { name: "physics", fair_share_target: 0.0 });
      expect([made.status, made.headers.get("etag")]).toEqual([201, '"v1"']);
      expect(made.body).toMatchObject({
        id: "physics",
        name: "physics",
        max_nodes: 100,
        max_concurrent_allocations: null,
        gpu_hours_budget: null,
        node_hours_budget: null,
        fair_share_target: 0,
        burst_allowance: null,
        isolation_level: "standard",
      });
      const again = await s.call("root", "POST", "/api/v1/tenants", { name: "physics", max_nodes: 1 });
      expect([again.status, again.body.error.code]).toEqual([409, "already_exists"]);
      expect(await s.ok("root", "GET", "/api/v1/tenants")).toEqual([made.body]);
      expect((await s.call("root", "GET", "/api/v1/tenants/none")).body.error).toMatchObject({
        code: "not_found",
        message: "tenant not found: none",
      });
    });

    test("two edits of different fields at once both survive, and null clears a budget", async () => {
      await s.cluster(0, { gpu_hours_budget: 10 });
      await Promise.all([
        s.ok("root", "PUT", "/api/v1/tenants/physics", { max_nodes: 7 }),
        s.ok("books", "PUT", "/api/v1/tenants/physics", { gpu_hours_budget: null, node_hours_budget: 5.5 }),
      ]);
      expect(await s.ok("root", "GET", "/api/v1/tenants/physics")).toMatchObject({
        max_nodes: 7,
        gpu_hours_budget: null,
        node_hours_budget: 5.5,
        version: 3,
      });
      expect((await s.call("root", "PUT", "/api/v1/tenants/none", { max_nodes: 1 })).status).toBe(404);
    });

    test("an edit under If-Match is refused when the tenant has changed, and every edit says who and why", async () => {
      await s.cluster(0);
      await s.ok("root", "PUT", "/api/v1/tenants/physics", { max_nodes: 7, reason: "new racks" });
      const stale = await s.call("root", "PUT", "/api/v1/tenants/physics", { max_nodes: 8 }, { "if-match": '"v1"' });
      expect([stale.status, stale.body.error.code]).toEqual([412, "precondition_failed"]);
      expect(await s.ok("chief", "GET", "/api/v1/tenants/physics/edits")).toMatchObject([
        { user: "root", reason: "new racks", old: { max_nodes: 100 }, new: { max_nodes: 7 } },
        { user: "root", reason: null },
      ]);
    });

    test("a dry run answers and changes nothing", async () => {
      await s.cluster(0);
      const tried = await s.call("root", "PUT", "/api/v1/tenants/physics?dry_run=true", { max_nodes: 7 });
      expect([tried.status, tried.body.max_nodes, tried.headers.get("x-dry-run")]).toEqual([200, 7, "true"]);
      expect((await s.ok("root", "GET", "/api/v1/tenants/physics")).max_nodes).toBe(100);
    });
  });

  describe("hard quotas", () => {
    test("a submission above max_nodes is 429 quota_exceeded with the exact text, the fields, and no Retry-After", async () => {
      await s.cluster(3, { max_nodes: 2 });
      await s.submit("ada", { nodes: 2 });
      await s.cycle();
      const over = await s.call("ada", "POST", "/api/v1/allocations", { tenant: "physics", nodes: 1 }, { "x-request-id": "r-1" });
      expect([over.status, over.headers.get("retry-after")]).toEqual([429, null]);
      expect(over.body).toEqual({
        error: {
          code: "quota_exceeded",
          message: "allocation rejected: tenant physics would exceed max_nodes quota (current: 2, requested: 1, limit: 2)",
          details: {
            tenant: "physics",
            quota: "max_nodes",
            current: 2,
            requested: 1,
            limit: 2,
            hint: "wait for running allocations to finish or contact the tenant admin",
            retriable: true,
            request_id: "r-1",
          },
        },
      });
      expect(await s.ok("ada", "GET", "/api/v1/allocations")).toHaveLength(1);
    });

    test("two schedulers race for the last node: one commits, the other is refused, holds, and runs after the first ends", async () => {
      await s.cluster(2, { max_nodes: 1 });
      const ids = [await s.submit("ada"), await s.submit("bob")];
      await Promise.all([s.cycle(), s.cycle()]);
      const all = await s.ok("root", "GET", "/api/v1/allocations");
      const running = all.filter((a: { state: string }) => a.state === "running");
      const held = all.filter((a: { state: string }) => a.state === "pending");
      expect([running.length, held.length]).toEqual([1, 1]);
      expect(held[0]).toMatchObject({ status_reason: "waiting for quota headroom", message: "waiting for quota headroom" });
      const before = (await s.ok("root", "GET", "/api/v1/raft/status")).commit_index;
      for (let i = 0; i < 5; i++) await s.cycle();
      expect((await s.ok("root", "GET", "/api/v1/raft/status")).commit_index).toBe(before); // held work costs the log nothing
      await s.ok("agent-1", "POST", `/api/v1/allocations/${running[0].id}/complete`, { exit_code: 0 });
      await s.cycle();
      expect(await s.ok("root", "GET", `/api/v1/allocations/${held[0].id}`)).toMatchObject({
        state: "running",
        status_reason: "",
      });
      expect(ids).toContain(held[0].id);
    });

    test("a limit below usage stops nothing that runs; the refusal says what to do; pending work waits and can be cancelled", async () => {
      await s.cluster(4, { max_nodes: 3 });
      const running = await s.submit("ada", { nodes: 3 });
      const waiting = await s.submit("bob");
      await s.cycle();
      await s.ok("books", "PUT", "/api/v1/tenants/physics", { max_nodes: 1 });
      const refused = await s.call("ada", "POST", "/api/v1/allocations", { tenant: "physics" });
      expect(refused.body.error.message).toBe(
        "allocation rejected: tenant physics would exceed max_nodes quota (current: 3, requested: 1, limit: 1); current usage 3, new limit 1: wait for running allocations to finish or contact the tenant admin",
      );
      await s.cycle();
      expect((await s.ok("ada", "GET", `/api/v1/allocations/${running}`)).state).toBe("running");
      expect((await s.ok("bob", "GET", `/api/v1/allocations/${waiting}`)).status_reason).toBe("waiting for quota headroom");
      await s.ok("bob", "POST", `/api/v1/allocations/${waiting}/cancel`);
      expect((await s.call("bob", "POST", `/api/v1/allocations/${waiting}/cancel`)).status).toBe(409);
      await s.ok("ada", "POST", `/api/v1/allocations/${running}/cancel`);
      expect((await s.ok("root", "GET", "/api/v1/nodes")).every((n: { owner: unknown }) => n.owner === null)).toBe(true);
    });

    test("sensitive claims go through the pool, and are released by their claimant only", async () => {
      await s.cluster(2);
      await s.ok("root", "PUT", "/api/v1/system/quotas", { sensitive_pool_size: 1, reason: "audit" });
      await s.ok("ada", "POST", "/api/v1/nodes/n0/claim");
      const over = await s.call("bob", "POST", "/api/v1/nodes/n1/claim");
      expect([over.status, over.body.error]).toMatchObject([
        429,
        {
          message:
            "allocation rejected: tenant physics would exceed sensitive_pool_size quota (current: 1, requested: 1, limit: 1)",
          details: { quota: "sensitive_pool_size", current: 1, limit: 1, request_id: expect.stringMatching(/^[0-9a-f]{32}$/) },
        },
      ]);
      expect((await s.call("bob", "POST", "/api/v1/nodes/n0/claim")).body.error.code).toBe("ownership_conflict");
      expect((await s.call("bob", "POST", "/api/v1/nodes/n0/release")).status).toBe(403);
      await s.ok("ada", "POST", "/api/v1/nodes/n0/release");
      expect((await s.ok("ada", "GET", "/api/v1/nodes/n0")).state).toBe("booting");
      await s.ok("agent-1", "POST", "/api/v1/nodes/n0/heartbeat", { wiped: true });
      expect((await s.ok("ada", "GET", "/api/v1/nodes/n0")).state).toBe("ready");
      expect(await s.ok("root", "GET", "/api/v1/system/quotas")).toMatchObject({ sensitive_pool_size: 1, sensitive_claimed: 0 });
    });

    test("a dry run of a submission tells what would be decided and why, and stores nothing", async () => {
      await s.cluster(2, { max_nodes: 2 });
      const dry = (nodes: number) => s.ok("ada", "POST", "/api/v1/allocations?dry_run=true", { tenant: "physics", nodes });
      expect(await dry(2)).toMatchObject({
        dry_run: true,
        decision: "accepted",
        would_start: true,
        nodes: ["n0", "n1"],
        reasons: [],
      });
      expect(await dry(3)).toMatchObject({
        decision: "rejected",
        reasons: [{ code: "quota_exceeded", details: { retriable: false } }],
      });
      await s.ok("root", "POST", "/api/v1/nodes/n1/drain");
      expect(await dry(2)).toMatchObject({ decision: "accepted", would_start: false, reasons: [{ code: "nodes" }] });
      expect(await s.ok("root", "GET", "/api/v1/allocations")).toEqual([]);
    });
  });

  describe("usage and budgets", () => {
    test("hours of running, finished and failed work count, per tenant and per user, in any window", async () => {
      await s.cluster(2, { gpu_hours_budget: 80, node_hours_budget: 1000 });
      const id = await s.submit("ada", { nodes: 2 });
      await s.cycle();
      await s.ok("root", "POST", "/api/v1/admin/clock", { advance_seconds: 3600 * 3 });
      await s.ok("agent-1", "POST", `/api/v1/allocations/${id}/complete`, { exit_code: 3 });
      await s.pass(48);
      expect(await s.ok("chief", "GET", "/api/v1/tenants/physics/usage")).toMatchObject({
        tenant: "physics",
        gpu_hours_used: 24,
        gpu_hours_budget: 80,
        gpu_fraction_used: 0.3,
        node_hours_used: 6,
        node_fraction_used: 0.006,
        period_days: 90,
        source: "ledger",
      });
      expect((await s.ok("chief", "GET", "/api/v1/tenants/physics/usage?days=1")).node_hours_used).toBe(0);
      expect(await s.ok("ada", "GET", "/api/v1/usage?user=ada")).toMatchObject({
        user: "ada",
        tenants: [{ tenant: "physics", gpu_hours_used: 24, node_hours_used: 6 }],
        total_gpu_hours: 24,
      });
      expect(await s.ok("root", "GET", "/api/v1/usage?user=nobody")).toMatchObject({ tenants: [], total_gpu_hours: 0 });
      expect(await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).toMatchObject({ state: "failed", exit_code: 3 });
      const spent = await s.ok(
        "books",
        "GET",
        "/api/v1/accounting/usage?tenant_id=physics&start=2026-03-01T00:00:00Z&end=2026-03-01T13:00:00Z",
      );
      expect(spent).toMatchObject({ gpu_hours: 8, total_allocations: 1 });
      await s.submit("ada");
      await s.cycle();
      await s.pass(1);
      const ahead = "/api/v1/accounting/usage?tenant_id=physics&start=2026-03-01T00:00:00Z&end=2027-01-01T00:00:00Z";
      expect(await s.ok("books", "GET", ahead), "what is still to come is not used").toMatchObject({ gpu_hours: 28 });
    });

    test.each(["0", "3661", "-1", "1.5", "x", ""])("days=%s is a 400 naming the field", async (days) => {
      await s.cluster(0);
      const answer = await s.call("chief", "GET", `/api/v1/tenants/physics/usage?days=${days}`);
      expect([answer.status, answer.body.error.code, answer.body.error.details.field]).toEqual([400, "invalid_argument", "days"]);
    });

    test("an exhausted budget is told once, refuses nothing, and preempts nothing", async () => {
      await s.cluster(2, { node_hours_budget: 1 });
      const running = await s.submit("ada");
      await s.cycle();
      await s.pass(2);
      const next = await s.submit("ada");
      await s.cycle();
      await s.cycle();
      const events = await s.ok("chief", "GET", "/api/v1/events?tenant=physics&type=budget_exhausted");
      expect(events).toHaveLength(1);
      expect(events[0].payload).toMatchObject({
        event: "budget_exhausted",
        tenant: "physics",
        metric: "node_hours",
        used: 2,
        budget: 1,
        fraction: 2,
        period_end: "2026-03-01T14:00:00.000Z",
        source: "ledger",
      });
      for (const id of [running, next]) expect((await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).state).toBe("running");
      expect((await s.ok("ada", "GET", `/api/v1/allocations/${next}/diagnostics`)).scheduler_decisions[0].score.penalty).toBe(
        0.05,
      );
    });
  });

  test("an allocation shows every field that clients read, and its life in the audit and over server-sent events", async () => {
    await s.cluster(1);
    const id = await s.submit("ada", { labels: { a: "1" }, project: "p", checkpoint: "auto" });
    const watching = fetch(`${s.service.url}/api/v1/allocations/${id}/watch`, {
      headers: { authorization: "Bearer token-of-ada" },
    });
    const stream = await watching;
    await s.cycle();
    expect(await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).toMatchObject({
      id,
      allocation_id: id,
      tenant: "physics",
      tenant_id: "physics",
      user: "ada",
      user_id: "ada",
      project: "p",
      state: "running",
      assigned_nodes: ["n0"],
      nodes_allocated: [expect.any(String)],
      per_node_gpus: [4],
      created_at: "2026-03-01T12:00:00.000Z",
      started_at: "2026-03-01T12:00:00.000Z",
      completed_at: null,
      exit_code: null,
      labels: { a: "1" },
      annotations: {},
      priority_class: 5,
    });
    expect(await s.ok("ada", "GET", "/api/v1/nodes/n0")).toMatchObject({ owner: { allocation_id: id, tenant: "physics" } });
    await s.ok("ada", "POST", `/api/v1/allocations/${id}/suspend`);
    await s.ok("agent-1", "POST", `/api/v1/allocations/${id}/checkpointed`);
    await s.ok("ada", "POST", `/api/v1/allocations/${id}/resume`);
    await s.cycle();
    await s.ok("ada", "POST", `/api/v1/allocations/${id}/cancel`);
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    const messages = (await stream.text()).split("\n\n").filter((part) => part.startsWith("data: "));
    expect(messages.map((message) => JSON.parse(message.slice(6)).event_type)).toEqual([
      "snapshot",
      "allocation.running",
      "allocation.checkpointing",
      "allocation.suspended",
      "allocation.pending",
      "allocation.running",
      "allocation.cancelled",
    ]);
    const audit = await s.ok("root", "GET", "/api/v1/audit?limit=1");
    expect(audit).toMatchObject([{ action: "allocation.cancel", user_id: "ada", resource_id: id, details: { from: "running" } }]);
  });

  test("energy prices and data sets that nodes declare place work and count in its score; an agent may declare them anew", async () => {
    await s.cluster(0);
    const node = (id: string, more: object) => s.ok("agent-1", "POST", "/api/v1/nodes", { id, ...more });
    await node("n0", { group: "dear", energy_price: 90 });
    await node("n1", { group: "cheap", energy_price: 10 });
    expect(await node("n2", { group: "near", energy_price: 50, datasets: ["ocean", "genome"] })).toMatchObject({
      energy_price: 50,
      datasets: ["genome", "ocean"],
    });
    const terms = async (id: string) =>
      (await s.ok("ada", "GET", `/api/v1/allocations/${id}/diagnostics`)).scheduler_decisions[0].score.terms;
    const reads = await s.submit("ada", { datasets: ["genome"] });
    expect(await terms(reads)).toMatchObject({ data: { value: 1 }, energy: { value: 0.5 } });
    const computes = await s.submit("ada");
    expect(await terms(computes)).toMatchObject({ data: { value: 0.5 }, energy: { value: 1 } });
    await node("n1", { group: "cheap", energy_price: 95 });
    expect(await terms(computes)).toMatchObject({ energy: { value: 1 } });
    await s.cycle();
    const of = async (id: string) => (await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).assigned_nodes;
    expect([await of(reads), await of(computes)]).toEqual([["n2"], ["n0"]]);
  });

  test("filters take tenant and tenant_id, user, state; pages by limit and offset", async () => {
    await s.cluster(0);
    const ids = [await s.submit("ada"), await s.submit("bob"), await s.submit("ada")];
    const list = (query: string) => s.ok("root", "GET", `/api/v1/allocations?${query}`);
    expect((await list("tenant=physics")).map((a: { id: string }) => a.id).sort()).toEqual([...ids].sort());
    expect(await list("tenant_id=physics&user=ada")).toHaveLength(2);
    expect(await list("tenant=biology")).toEqual([]);
    expect(await list("state=running")).toEqual([]);
    const pages = [...(await list("limit=2")), ...(await list("limit=2&offset=2"))];
    expect(new Set(pages.map((a: { id: string }) => a.id)).size).toBe(3);
  });

  test("the same idempotency key and body give the same allocation; another body is a 422", async () => {
    await s.cluster(0);
    const key = { "idempotency-key": "k-1" };
    const first = await s.call("ada", "POST", "/api/v1/allocations", { tenant: "physics" }, key);
    const second = await s.call("ada", "POST", "/api/v1/allocations", { tenant: "physics" }, key);
    expect([second.status, second.body]).toEqual([201, first.body]);
    const other = await s.call("ada", "POST", "/api/v1/allocations", { tenant: "physics", nodes: 2 }, key);
    expect([other.status, other.body.error.code]).toEqual([422, "idempotency_mismatch"]);
    const bobs = await s.call("bob", "POST", "/api/v1/allocations", { tenant: "physics" }, key);
    expect(bobs.body.id).not.toBe(first.body.id);
  });

  test("a client that was told no under a key is told so again, whatever changes meanwhile; a new key asks anew", async () => {
    await s.cluster(2, { max_nodes: 1 });
    const ask = async (key: string) => {
      const { status, body } = await s.call(
        "ada",
        "POST",
        "/api/v1/allocations",
        { tenant: "physics", nodes: 2 },
        { "idempotency-key": key },
      );
      return [status, body.error?.code];
    };
    expect(await ask("n-1")).toEqual([429, "quota_exceeded"]);
    await s.ok("root", "PUT", "/api/v1/tenants/physics", { max_nodes: 2 });
    expect(await ask("n-1")).toEqual([429, "quota_exceeded"]);
    expect(await ask("n-2")).toEqual([201, undefined]);
    const all = await s.ok("ada", "GET", "/api/v1/allocations");
    expect(all.filter(({ nodes }: { nodes: number }) => nodes === 2)).toHaveLength(1);
  });

  test("ended work says on which nodes it ran", async () => {
    await s.cluster(2);
    const id = await s.submit("ada", { nodes: 2 });
    await s.cycle();
    const ran = await s.ok("ada", "GET", `/api/v1/allocations/${id}`);
    expect(ran.assigned_nodes).toHaveLength(2);
    await s.ok("ada", "POST", `/api/v1/allocations/${id}/cancel`);
    const { state, assigned_nodes, nodes_allocated, per_node_gpus } = await s.ok("ada", "GET", `/api/v1/allocations/${id}`);
    expect({ state, assigned_nodes, nodes_allocated, per_node_gpus }).toEqual({
      state: "cancelled",
      assigned_nodes: ran.assigned_nodes,
      nodes_allocated: ran.assigned_nodes,
      per_node_gpus: ran.per_node_gpus,
    });
  });

  test("a silent node goes down with its work after the timeout; its heartbeat brings it back; quiet work is left alone", async () => {
    await s.cluster(2);
    const id = await s.submit("ada", { requeue_policy: "on_node_failure" });
    await s.cycle();
    await s.ok("root", "POST", "/api/v1/admin/clock", { advance_seconds: 59 });
    await s.cycle();
    const before = await s.ok("ada", "GET", `/api/v1/allocations/${id}`);
    expect(before.state).toBe("running");
    await s.ok("root", "POST", "/api/v1/admin/clock", { advance_seconds: 2 });
    await s.cycle();
    expect((await s.ok("root", "GET", "/api/v1/nodes")).map((n: { state: string }) => n.state)).toEqual(["down", "down"]);
    expect(await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).toMatchObject({ state: "pending", requeue_count: 1 });
    await s.ok("agent-1", "POST", "/api/v1/nodes", { id: "n0", gpu_count: 4 });
    await s.cycle();
    expect(await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).toMatchObject({ state: "running", assigned_nodes: ["n0"] });
  });

  test("health, discovery and metrics need no token; the status speaks of a log in memory", async () => {
    expect((await s.call(undefined, "GET", "/healthz")).body).toEqual({ status: "ok" });
    expect((await s.call(undefined, "GET", "/health")).body).toMatchObject({
      status: "healthy",
      components: { log: { status: "healthy" } },
    });
    expect((await s.call(undefined, "GET", "/metrics")).body).toContain("scheduler_cycle_seconds");
    await s.cluster(1);
    expect(await s.ok("ada", "GET", "/api/v1/raft/status?hash=true")).toEqual({
      node_id: expect.any(String),
      role: "leader",
      state: "leader",
      term: expect.any(Number),
      leader_id: expect.any(String),
      leader: expect.any(String),
      members: [expect.any(String)],
      commit_index: 2,
      last_applied: 2,
      available: true,
      storage: "memory only",
      state_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect((await s.ok("ada", "GET", "/api/v1/raft/status")).state_hash).toBeNull();
  });
});
