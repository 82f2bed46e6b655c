import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Harness, servers, startScheduler } from "./harness.ts";

/** A stream of server-sent events; what happens from now on is in it. */
async function openStream(s: Harness, path: string, who: string): Promise<Response> {
  return fetch(`${s.service.url}${path}`, { headers: { authorization: `Bearer token-of-${who}` } });
}

/** The first messages of a stream. */
async function readMessages({ body }: Response, count: number): Promise<readonly Record<string, unknown>[]> {
  const messages: Record<string, unknown>[] = [];
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const parts = text.split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) if (part.startsWith("data: ")) messages.push(JSON.parse(part.slice(6)));
    if (messages.length >= count) break;
  }
  return messages;
}

describe.each(servers)("on %s", (_, serve) => {
  let s: Harness;
  beforeEach(async () => {
    s = await startScheduler(serve, { test_clock: true });
  });
  afterEach(() => s.stop());
  const state = async (id: string): Promise<string> => (await s.ok("root", "GET", `/api/v1/allocations/${id}`)).state;

  test("failed work is requeued where its policy allows it, once for the count that the caller saw, and keeps its hours", async () => {
    await s.cluster(1);
    const never = await s.submit("ada");
    await s.cycle();
    await s.ok("agent-1", "POST", `/api/v1/allocations/${never}/fail`, { exit_code: 2, message: "out of memory" });
    expect(await s.ok("ada", "GET", `/api/v1/allocations/${never}`)).toMatchObject({
      state: "failed",
      exit_code: 2,
      status_reason: "out of memory",
    });
    const refused = await s.call("ada", "POST", `/api/v1/allocations/${never}/requeue`);
    expect([refused.status, refused.body.error.code]).toEqual([409, "invalid_transition"]);

    const again = await s.submit("ada", { requeue_policy: "on_node_failure" });
    await s.cycle();
    await s.pass(1);
    await s.ok("agent-1", "POST", `/api/v1/allocations/${again}/fail`);
    expect(await state(again)).toBe("failed");
    const requeue = (count: number) =>
      s.call("ada", "POST", `/api/v1/allocations/${again}/requeue`, { expected_requeue_count: count });
    expect((await requeue(1)).body.error.code).toBe("stale_state");
    expect((await requeue(0)).status).toBe(200);
    expect((await requeue(0)).body.error.code).toBe("invalid_transition");
    await s.cycle();
    await s.pass(2);
    await s.ok("agent-1", "POST", `/api/v1/allocations/${again}/complete`);
    expect(await s.ok("ada", "GET", `/api/v1/allocations/${again}`)).toMatchObject({ state: "completed", requeue_count: 1 });
    expect((await s.ok("chief", "GET", "/api/v1/tenants/physics/usage")).node_hours_used).toBe(3);
    expect(await s.ok("root", "GET", "/api/v1/audit?limit=1")).toMatchObject([
      { action: "allocation.requeue", user_id: "ada", resource_id: again },
    ]);
  });

  test("work that is suspended gives its nodes back and closes its stretch of hours; resumed, it opens another", async () => {
    await s.cluster(1);
    const id = await s.submit("ada", { checkpoint: "auto" });
    await s.cycle();
    await s.pass(1);
    await s.ok("ada", "POST", `/api/v1/allocations/${id}/suspend`, { message: "lunch" });
    expect(await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).toMatchObject({
      state: "checkpointing",
      status_reason: "lunch",
      assigned_nodes: ["n0"],
    });
    await s.ok("agent-1", "POST", `/api/v1/allocations/${id}/checkpointed`);
    expect(await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).toMatchObject({ state: "suspended", assigned_nodes: [] });
    expect((await s.ok("ada", "GET", "/api/v1/nodes/n0")).owner).toBeNull();
    await s.pass(5);
    await s.ok("ada", "POST", `/api/v1/allocations/${id}/resume`);
    await s.cycle();
    await s.pass(1);
    const { attempts, node_hours: hours } = (await s.ok("ada", "GET", `/api/v1/allocations/${id}/diagnostics`))
      .resource_utilization;
    expect([attempts.length, hours]).toEqual([2, 2]);
    for (const step of ["resume", "requeue", "checkpointed"])
      expect((await s.call("root", "POST", `/api/v1/allocations/${id}/${step}`)).status).toBe(409);
  });

  test("a checkpoint that does not come within its time ends the work as failed", async () => {
    await s.cluster(1);
    const id = await s.submit("ada", { checkpoint: "manual" });
    await s.cycle();
    await s.ok("ada", "POST", `/api/v1/allocations/${id}/suspend`);
    await s.pass(9 / 60);
    await s.cycle();
    expect(await state(id)).toBe("checkpointing");
    await s.pass(2 / 60);
    await s.cycle();
    expect(await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).toMatchObject({
      state: "failed",
      status_reason: "checkpoint timed out",
      assigned_nodes: ["n0"],
    });
  });

  test("nodes drain, come back, are disabled and enabled; what they cannot do is a 409 that says what they are", async () => {
    await s.cluster(2);
    const id = await s.submit("ada", { requeue_policy: "always" });
    await s.cycle();
    const [busy] = (await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).assigned_nodes;
    const idle = busy === "n0" ? "n1" : "n0";
    const operate = (node: string, verb: string) => s.call("root", "POST", `/api/v1/nodes/${node}/${verb}`, { reason: "fan" });
    const is = async (node: string) => (await s.ok("root", "GET", `/api/v1/nodes/${node}`)).state;
    expect([(await operate(idle, "drain")).status, await is(idle)]).toEqual([200, "drained"]);
    expect([(await operate(busy, "drain")).status, await is(busy), await state(id)]).toEqual([200, "draining", "running"]);
    expect((await operate(idle, "drain")).body.error).toMatchObject({
      code: "invalid_transition",
      message: `node ${idle} is drained and cannot drain`,
    });
    expect([(await operate(idle, "undrain")).status, await is(idle)]).toEqual([200, "ready"]);
    expect([(await operate(busy, "disable")).status, await is(busy), await state(id)]).toEqual([200, "down", "pending"]);
    await s.cycle();
    expect((await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).assigned_nodes).toEqual([idle]);
    expect([(await operate(busy, "enable")).status, await is(busy)]).toEqual([200, "ready"]);
    expect((await operate(busy, "undrain")).status).toBe(409);
    const told = await s.ok("root", "GET", "/api/v1/audit?limit=5");
    expect(told.map(({ action }: { action: string }) => action)).toEqual([
      "node.enable",
      "node.disable",
      "node.undrain",
      "node.drain",
      "node.drain",
    ]);
    expect(told[1]).toMatchObject({ user_id: "root", resource_id: busy, details: { from: "draining", to: "down", why: "fan" } });
  });

  test("a starved tenant takes back what another has as burst: marked before, by checkpoint, told in events and in the audit", async () => {
    await s.cluster(4, { fair_share_target: 0.5, burst_allowance: 2 });
    await s.ok("root", "POST", "/api/v1/tenants", { name: "biology", fair_share_target: 0.5 });
    const works: string[] = [];
    for (let i = 0; i < 4; i++) works.push(await s.submit("ada", { checkpoint: "auto" }));
    await s.cycle();
    await s.cycle();
    const shown = await s.ok("ada", "GET", "/api/v1/allocations?state=running");
    expect(shown.filter(({ burst }: { burst: boolean }) => burst)).toHaveLength(2);
    const wanted = (await s.ok("eve", "POST", "/api/v1/allocations", { tenant: "biology", nodes: 2 })).id;
    await s.cycle();
    const victims = (await s.ok("ada", "GET", "/api/v1/allocations?state=checkpointing")).map(({ id }: { id: string }) => id);
    expect(victims).toHaveLength(2);
    expect(victims.every((id: string) => works.includes(id))).toBe(true);
    const events = await s.ok("chief", "GET", "/api/v1/events?type=allocation.preempted");
    expect(events.map(({ payload }: { payload: { for: string } }) => payload.for)).toEqual([wanted, wanted]);
    const audit = await s.ok("root", "GET", "/api/v1/audit?limit=2");
    expect(audit).toMatchObject([
      { action: "allocation.preempt", details: { for: wanted } },
      { action: "allocation.preempt", details: { for: wanted } },
    ]);
    for (const id of victims) await s.ok("agent-1", "POST", `/api/v1/allocations/${id}/checkpointed`);
    expect(await s.ok("ada", "GET", `/api/v1/allocations/${victims[0]}`)).toMatchObject({
      state: "pending",
      status_reason: "preempted, waiting to resume",
    });
    await s.cycle();
    expect(await s.ok("eve", "GET", `/api/v1/allocations/${wanted}`)).toMatchObject({
      state: "running",
      nodes_allocated: { length: 2 },
    });
  });

  test("events are streamed as they happen, to those whose tenants they are about", async () => {
    await s.cluster(1, { node_hours_budget: 1 });
    const budgets = await openStream(s, "/api/v1/events/stream?type=budget_exhausted", "chief");
    const everything = await openStream(s, "/api/v1/events/stream?tenant=physics", "root");
    await s.submit("ada");
    await s.cycle();
    await s.pass(2);
    await s.cycle();
    expect(await readMessages(budgets, 1)).toMatchObject([
      { type: "budget_exhausted", tenant: "physics", payload: { metric: "node_hours" } },
    ]);
    const seen = (await readMessages(everything, 3)).map(({ type }) => type);
    expect(seen).toEqual(["allocation.submitted", "allocation.running", "budget_exhausted"]);
  });

  test("what waits says why wherever it is shown: by itself, in lists, in the diagnostics, in the stream, and no more once it runs", async () => {
    await s.cluster(2, { max_nodes: 1 });
    const first = await s.submit("ada");
    const second = await s.submit("ada", { project: "held" });
    const stream = await openStream(s, "/api/v1/events/stream?type=allocation.held", "chief");
    await s.cycle();
    await s.cycle();
    const shown = await s.ok("ada", "GET", "/api/v1/allocations?state=pending");
    expect(shown).toHaveLength(1);
    const [held] = shown;
    expect([first, second]).toContain(held.id);
    for (const view of [held, await s.ok("ada", "GET", `/api/v1/allocations/${held.id}`)])
      expect(view).toMatchObject({ status_reason: "waiting for quota headroom", message: "waiting for quota headroom" });
    const { scheduler_decisions: decisions } = await s.ok("ada", "GET", `/api/v1/allocations/${held.id}/diagnostics`);
    expect(decisions).toMatchObject([
      {
        code: "quota_headroom",
        message: "waiting for quota headroom",
        details: { tenant: "physics", quota: "max_nodes", current: 1, requested: 1, limit: 1 },
      },
    ]);
    expect(await readMessages(stream, 1)).toMatchObject([
      { payload: { allocation_id: held.id, reason: "waiting for quota headroom" } },
    ]);
    await s.ok("root", "PUT", "/api/v1/tenants/physics", { max_nodes: 2 });
    await s.cycle();
    expect(await s.ok("ada", "GET", `/api/v1/allocations/${held.id}`)).toMatchObject({ state: "running", status_reason: "" });
  });

  test("a budget is warned of at 80 %, told at 100 %, and told again once it had room in between", async () => {
    await s.cluster(1, { node_hours_budget: 10 });
    await s.submit("ada", { walltime_hours: 100 });
    await s.cycle();
    const told = async () => {
      await s.cycle();
      const events = await s.ok("chief", "GET", "/api/v1/events?tenant=physics");
      return events.map(({ type }: { type: string }) => type).filter((type: string) => type.startsWith("budget_"));
    };
    await s.pass(7.9);
    expect(await told()).toEqual([]);
    await s.pass(0.2);
    expect(await told()).toEqual(["budget_warning"]);
    await s.pass(2);
    expect(await told()).toEqual(["budget_warning", "budget_exhausted"]);
    await s.ok("books", "PUT", "/api/v1/tenants/physics", { node_hours_budget: 100 });
    expect(await told()).toEqual(["budget_warning", "budget_exhausted"]);
    await s.ok("books", "PUT", "/api/v1/tenants/physics", { node_hours_budget: 5 });
    expect(await told()).toEqual(["budget_warning", "budget_exhausted", "budget_exhausted"]);
  });

  test("a virtual cluster filters the list and has its own weights", async () => {
    await s.cluster(0);
    const id = await s.submit("ada", { vcluster: "interactive" });
    await s.submit("ada");
    expect(await s.ok("ada", "GET", "/api/v1/allocations?vcluster=interactive")).toMatchObject([{ id }]);
    const { scheduler_decisions: decisions } = await s.ok("ada", "GET", `/api/v1/allocations/${id}/diagnostics`);
    expect(decisions[0].score.terms).toMatchObject({ wait: { weight: 0.3 }, conformance: { weight: 0.3 } });
  });

  test("without a backup directory a backup is an honest 501", async () => {
    const answer = await s.call("root", "POST", "/api/v1/admin/backup");
    expect([answer.status, answer.body.error.code]).toEqual([501, "not_implemented"]);
  });
});

test("an unknown tenant is created by a submission where that is switched on, and never without limits", async () => {
  const s = await startScheduler(servers[0]![1], { scheduling: { auto_create_tenants: true, auto_create_max_nodes: 2 } });
  const over = await s.call("ada", "POST", "/api/v1/allocations", { tenant: "physics", nodes: 3 });
  expect([over.status, over.body.error.code]).toEqual([429, "quota_exceeded"]);
  expect(await s.ok("root", "GET", "/api/v1/tenants")).toEqual([]);
  await s.submit("ada", { nodes: 2 });
  expect(await s.ok("root", "GET", "/api/v1/tenants/physics")).toMatchObject({ max_nodes: 2, updated_by: "ada" });
  await s.stop();
});

test("without anybody to trust the scheduler starts on loopback only, and answers 401 there", async () => {
  const s = await startScheduler(servers[1]![1], { tokens: [] });
  expect((await s.call("root", "GET", "/api/v1/tenants")).status).toBe(401);
  expect((await s.call(undefined, "GET", "/healthz")).status).toBe(200);
  await s.stop();
  await expect(startScheduler(servers[1]![1], { tokens: [], server: { host: "0.0.0.0" } })).rejects.toMatchObject({
    code: "config_invalid",
    message: "server.host: without authentication the scheduler listens on loopback only",
  });
});
