import { createMemoryLog, settableClock } from "@seneschal/adapters/memory";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Harness, NOON, servers, startScheduler } from "./harness.ts";

/** What stands beyond the interface document, over HTTP. */
describe.each(servers)("on %s", (_, serve) => {
  let s: Harness;
  beforeEach(async () => {
    s = await startScheduler(serve);
  });
  afterEach(() => s.stop());
  const refusal = async (who: "ada" | "bob" | "eve", body: Record<string, unknown>) => {
    const { status, body: answer } = await s.call(who, "POST", "/api/v1/allocations", { tenant: "physics", ...body });
    return [status, answer.error?.code, answer.error?.details];
  };

  test("GPUs are a quota by flavour: what one flavour refuses, another may still take", async () => {
    await s.cluster(3, { max_gpus: { a100: 4 } });
    await s.ok("agent-1", "POST", "/api/v1/nodes", { id: "h0", gpu_type: "h100", gpu_count: 8 });
    const both = [await s.submit("ada", { gpu_type: "a100" }), await s.submit("ada", { gpu_type: "a100" })];
    const other = await s.submit("ada", { gpu_type: "h100", gpus_per_node: 8 });
    await s.cycle();
    const { waiting } = await s.cycle();
    expect(waiting).toMatchObject([
      {
        code: "quota_headroom",
        reason: "waiting for quota headroom",
        details: { quota: "max_gpus.a100", current: 4, requested: 1, limit: 4 },
      },
    ]);
    expect(both).toContain(waiting[0].allocation_id);
    expect(await s.ok("ada", "GET", `/api/v1/allocations/${other}`)).toMatchObject({ state: "running", assigned_nodes: ["h0"] });
    expect(await refusal("ada", { gpu_type: "a100", gpus_per_node: 2 })).toMatchObject([
      429,
      "quota_exceeded",
      { quota: "max_gpus.a100", current: 4, requested: 2, limit: 4 },
    ]);
    await s.ok("root", "PUT", "/api/v1/tenants/physics", { max_gpus: { a100: 8 } });
    await s.cycle();
    for (const id of both) expect((await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).state).toBe("running");
  });

  test("a tenant borrows what its sibling leaves unused, up to its own and its sibling's limit; the parent's limit holds over both", async () => {
    await s.ok("root", "POST", "/api/v1/tenants", { name: "org", max_nodes: 4 });
    await s.ok("root", "POST", "/api/v1/tenants", { name: "physics", parent: "org", max_nodes: 2, borrowing_limit: 2 });
    await s.ok("root", "POST", "/api/v1/tenants", { name: "biology", parent: "org", max_nodes: 2, lending_limit: 1 });
    for (let i = 0; i < 5; i++) await s.ok("agent-1", "POST", "/api/v1/nodes", { id: `n${i}` });
    await s.submit("ada", { nodes: 3 });
    await s.cycle();
    expect(await refusal("ada", { nodes: 1 })).toMatchObject([
      429,
      "quota_exceeded",
      { tenant: "org", quota: "max_nodes", current: 4, requested: 1, limit: 4, requested_by: "physics" },
    ]);
    // what biology has not lent is its own at once
    const { body } = await s.call("eve", "POST", "/api/v1/allocations", { tenant: "biology" });
    await s.cycle();
    expect((await s.ok("eve", "GET", `/api/v1/allocations/${body.id}`)).state).toBe("running");
    const over = await s.call("eve", "POST", "/api/v1/allocations", { tenant: "biology" });
    expect(over.body.error.message).toBe(
      "allocation rejected: tenant org would exceed max_nodes quota (current: 4, requested: 1, limit: 4)",
    );
    const [parent, child] = [
      await s.ok("root", "GET", "/api/v1/tenants/org"),
      await s.ok("root", "GET", "/api/v1/tenants/physics"),
    ];
    expect([parent.parent, child.parent, child.borrowing_limit]).toEqual([null, "org", 2]);
  });

  test("a user's caps hold for that user and nobody else", async () => {
    await s.cluster(4, { user_max_nodes: 1, user_max_concurrent_allocations: 1 });
    await s.submit("ada");
    await s.cycle();
    expect(await refusal("ada", {})).toMatchObject([429, "quota_exceeded", { quota: "user_max_nodes", current: 1, limit: 1 }]);
    await s.ok("root", "PUT", "/api/v1/tenants/physics", { user_max_nodes: null });
    expect(await refusal("ada", {})).toMatchObject([429, "quota_exceeded", { quota: "user_max_concurrent_allocations" }]);
    await s.submit("bob");
    const { started } = await s.cycle();
    expect(started).toBe(1);
  });

  test("a limit on allocations counts what runs and what is suspended, refuses with its own name, and null lifts it", async () => {
    await s.cluster(3, { max_concurrent_allocations: 1 });
    const id = await s.submit("ada", { checkpoint: "auto" });
    await s.cycle();
    await s.ok("ada", "POST", `/api/v1/allocations/${id}/suspend`);
    await s.ok("agent-1", "POST", `/api/v1/allocations/${id}/checkpointed`);
    const { body } = await s.call("ada", "POST", "/api/v1/allocations", { tenant: "physics" });
    expect(body.error.message).toBe(
      "allocation rejected: tenant physics would exceed max_concurrent_allocations quota (current: 1, requested: 1, limit: 1)",
    );
    await s.ok("books", "PUT", "/api/v1/tenants/physics", { max_concurrent_allocations: null });
    await s.submit("ada");
  });

  test("a dry run says what the machine would say, reason by reason, and what it says then happens", async () => {
    await s.cluster(2, { max_nodes: 2, gpu_hours_budget: 0 });
    const dry = (body: object) => s.ok("ada", "POST", "/api/v1/allocations?dry_run=true", { tenant: "physics", ...body });
    const before = (await s.ok("root", "GET", "/api/v1/raft/status?hash=true")).state_hash;
    const refused = await dry({ nodes: 3 });
    expect(refused).toMatchObject({
      decision: "rejected",
      would_start: false,
      reasons: [
        {
          code: "quota_exceeded",
          message: "allocation rejected: tenant physics would exceed max_nodes quota (current: 0, requested: 3, limit: 2)",
          details: { quota: "max_nodes", current: 0, requested: 3, limit: 2, retriable: false },
        },
      ],
    });
    const [, code, details] = await refusal("ada", { nodes: 3 });
    expect([code, details]).toMatchObject([refused.reasons[0].code, refused.reasons[0].details]);
    const promised = await dry({ nodes: 2 });
    expect([promised.decision, promised.would_start, promised.score !== null]).toEqual(["accepted", true, true]);
    expect((await s.ok("root", "GET", "/api/v1/raft/status?hash=true")).state_hash).toBe(before);
    const id = await s.submit("ada", { nodes: 2 });
    await s.cycle();
    expect((await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).assigned_nodes).toEqual(promised.nodes);
    expect(await dry({})).toMatchObject({ decision: "rejected", reasons: [{ details: { current: 2, retriable: true } }] });
  });

  test("every edit of a quota has a version, and says who made it, why, and what it was before; a refused one leaves none", async () => {
    await s.cluster(0, { max_nodes: 5 });
    await s.ok("root", "PUT", "/api/v1/tenants/physics", { max_nodes: 6, reason: "new racks" });
    const { headers } = await s.call("books", "PUT", "/api/v1/tenants/physics", { gpu_hours_budget: 10, reason: "new year" });
    expect(headers.get("etag")).toBe('"v3"');
    await s.call("root", "PUT", "/api/v1/tenants/physics", { max_nodes: 7 }, { "if-match": '"v2"' });
    expect(await s.ok("chief", "GET", "/api/v1/tenants/physics/edits")).toMatchObject([
      { version: 3, user: "books", reason: "new year", old: { gpu_hours_budget: null }, new: { gpu_hours_budget: 10 } },
      { version: 2, user: "root", reason: "new racks", old: { max_nodes: 5 }, new: { max_nodes: 6 } },
      { version: 1, user: "root", reason: null, old: {}, new: { max_nodes: 5 } },
    ]);
    expect(await s.ok("root", "GET", "/api/v1/tenants/physics")).toMatchObject({ version: 3, updated_by: "books" });
    const told = await s.ok("chief", "GET", "/api/v1/events?type=quota.updated");
    expect(told.map(({ payload }: { payload: object }) => payload)).toMatchObject([
      { version: 2, by: "root", why: "new racks", old: { max_nodes: 5 }, new: { max_nodes: 6 } },
      { version: 3, by: "books", why: "new year", old: { gpu_hours_budget: null }, new: { gpu_hours_budget: 10 } },
    ]);
  });
});

test("of any number of edits through two processes, each of its own field or under If-Match, none is lost", async () => {
  const shared = createMemoryLog();
  const clock = settableClock(NOON);
  const both = await Promise.all(
    servers.map(([, serve]) => startScheduler(serve, {}, { openLog: async () => shared.open() }, clock)),
  );
  const [a, b] = both as [Harness, Harness];
  await a.cluster(0, { max_nodes: 0 });
  /** Reads, adds one, writes on the condition that nobody else did; again when somebody did. */
  const addOne = async (s: Harness): Promise<void> => {
    for (;;) {
      const seen = await s.call("root", "GET", "/api/v1/tenants/physics");
      const changed = { max_nodes: seen.body.max_nodes + 1 };
      const { status } = await s.call("root", "PUT", "/api/v1/tenants/physics", changed, {
        "if-match": seen.headers.get("etag") ?? "",
      });
      if (status === 200) return;
      expect([409, 412]).toContain(status);
    }
  };
  const others = ["gpu_hours_budget", "node_hours_budget", "borrowing_limit", "lending_limit"];
  await Promise.all([
    ...Array.from({ length: 12 }, (_, i) => addOne(i % 2 === 0 ? a : b)),
    ...others.map((field, i) => (i % 2 === 0 ? a : b).ok("root", "PUT", "/api/v1/tenants/physics", { [field]: i + 1 })),
  ]);
  for (const s of both)
    expect(await s.ok("root", "GET", "/api/v1/tenants/physics")).toMatchObject({
      max_nodes: 12,
      gpu_hours_budget: 1,
      node_hours_budget: 2,
      borrowing_limit: 3,
      lending_limit: 4,
      version: 17,
    });
  await Promise.all(both.map((s) => s.stop()));
});
