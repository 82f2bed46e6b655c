import type { Route } from "@seneschal/contract";
import { schedulerContract } from "@seneschal/contract/scheduler";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rolesOf } from "./authorisation-table.ts";
import { type Harness, PEOPLE, servers, startScheduler } from "./harness.ts";

const [, serve] = servers[1]!;
let s: Harness;
let adas: string;
beforeAll(async () => {
  s = await startScheduler(serve);
  await s.cluster(2);
  await s.ok("root", "POST", "/api/v1/tenants", { name: "biology" });
  adas = await s.submit("ada");
  await s.cycle();
});
afterAll(() => s.stop());

const guarded = Object.entries<Route>(schedulerContract).filter(([, route]) => route.auth !== "public");

test.each(guarded)("%s answers 401 without a token, and 403 to every role without the grant", async (_, route) => {
  const path = route.path.replace(":id", "x");
  const bare = await s.call(undefined, route.method, path);
  expect([bare.status, bare.body.error.code, bare.headers.get("www-authenticate")]).toEqual([401, "unauthenticated", "Bearer"]);
  const granted = rolesOf[route.action ?? ""] ?? [];
  expect(granted.length).toBeGreaterThan(0);
  for (const { id, role } of PEOPLE.filter((person) => !granted.includes(person.role))) {
    const answer = await s.call(id, route.method, path);
    expect([id, role, answer.status, answer.body.error.code]).toEqual([id, role, 403, "forbidden"]);
  }
});

describe("another's work and tenant", () => {
  test("a foreign allocation looks like one that does not exist, to reading, cancelling and reporting alike", async () => {
    for (const who of ["eve", "bob"] as const)
      for (const [method, tail] of [
        ["GET", ""],
        ["POST", "/cancel"],
        ["GET", "/diagnostics"],
        ["GET", "/watch"],
        ["GET", "/logs"],
        ["POST", "/suspend"],
      ] as const) {
        const answer = await s.call(who, method, `/api/v1/allocations/${adas}${tail}`);
        expect([who, tail, answer.status, answer.body.error.message]).toEqual([who, tail, 404, `allocation not found: ${adas}`]);
      }
    expect((await s.call("agent-2", "POST", `/api/v1/allocations/${adas}/complete`)).status).toBe(404);
    expect((await s.ok("ada", "GET", `/api/v1/allocations/${adas}`)).state).toBe("running");
    expect(await s.ok("eve", "GET", "/api/v1/allocations?tenant=physics")).toEqual([]);
    expect(await s.ok("chief", "GET", "/api/v1/allocations")).toHaveLength(1);
  });

  test("a foreign tenant is forbidden, known or not: submission, usage, events, claims", async () => {
    for (const tenant of ["physics", "nowhere"]) {
      expect((await s.call("eve", "POST", "/api/v1/allocations", { tenant })).status).toBe(403);
      expect((await s.call("eve", "GET", `/api/v1/tenants/${tenant}`)).status).toBe(403);
      expect((await s.call("eve", "POST", "/api/v1/nodes/n1/claim", { tenant })).status).toBe(403);
    }
    expect((await s.call("chief", "GET", "/api/v1/tenants/biology/usage")).status).toBe(403);
    expect((await s.call("chief", "GET", "/api/v1/events?tenant=biology")).status).toBe(403);
    expect((await s.call("ada", "GET", "/api/v1/usage?user=bob")).status).toBe(403);
    expect((await s.ok("chief", "GET", "/api/v1/tenants")).map((t: { id: string }) => t.id)).toEqual(["physics"]);
  });

  test("that a node is busy everybody sees; with what, only those whose work it is", async () => {
    const busy = (nodes: { owner: unknown }[]) => nodes.map((n) => n.owner).filter((owner) => owner !== null);
    expect(busy(await s.ok("eve", "GET", "/api/v1/nodes"))).toEqual([{ allocation_id: null, tenant: null }]);
    expect(busy(await s.ok("ada", "GET", "/api/v1/nodes"))).toEqual([{ allocation_id: adas, tenant: "physics" }]);
  });

  test("an agent speaks for its own nodes only", async () => {
    expect((await s.call("agent-2", "POST", "/api/v1/nodes/n0/heartbeat")).status).toBe(403);
    expect((await s.call("agent-2", "POST", "/api/v1/nodes", { id: "n0" })).body.error.code).toBe("already_exists");
  });

  test("the accounting service sets quotas, and no policy", async () => {
    expect((await s.call("books", "PUT", "/api/v1/tenants/biology", { fair_share_target: 1 })).status).toBe(403);
    expect((await s.call("books", "PUT", "/api/v1/tenants/biology", { max_nodes: 3 })).status).toBe(200);
  });

  test("the user is who authenticated, whatever headers or bodies say", async () => {
    const forged = await s.call("ada", "POST", "/api/v1/allocations", { tenant: "physics", user: "root" });
    expect([forged.status, forged.body.error.details.field]).toEqual([400, "user"]);
    const { body } = await s.call(
      "ada",
      "POST",
      "/api/v1/allocations",
      { tenant: "physics" },
      { "x-user": "root", "x-tenant": "biology" },
    );
    expect((await s.ok("root", "GET", `/api/v1/allocations/${body.id}`)).user).toBe("ada");
  });

  test("the test clock is refused unless it was switched on", async () => {
    expect((await s.call("root", "POST", "/api/v1/admin/clock", { advance_seconds: 1 })).status).toBe(403);
  });
});

describe("bad input names its field and changes nothing", () => {
  const bad: [string, string, unknown, string][] = [
    ["PUT", "/api/v1/tenants/physics", { max_nodes: -1 }, "max_nodes"],
    ["PUT", "/api/v1/tenants/physics", { max_nodes: 1.5 }, "max_nodes"],
    ["PUT", "/api/v1/tenants/physics", { max_nodes: "5" }, "max_nodes"],
    ["PUT", "/api/v1/tenants/physics", { max_nodes: null }, "max_nodes"],
    ["PUT", "/api/v1/tenants/physics", { max_nodes: 1e300 }, "max_nodes"],
    ["PUT", "/api/v1/tenants/physics", '{"gpu_hours_budget": 1e999}', "gpu_hours_budget"],
    ["PUT", "/api/v1/tenants/physics", '{"gpu_hours_budget": NaN}', "body"],
    ["PUT", "/api/v1/tenants/physics", { node_hours_budget: -0.5 }, "node_hours_budget"],
    ["PUT", "/api/v1/tenants/physics", { fair_share_target: 1.5 }, "fair_share_target"],
    ["PUT", "/api/v1/tenants/physics", { burst_allowance: 0.5 }, "burst_allowance"],
    ["PUT", "/api/v1/tenants/physics", { colour: "red" }, "colour"],
    ["PUT", "/api/v1/tenants/physics", { max_gpus: { a100: -1 } }, "max_gpus.a100"],
    ["POST", "/api/v1/tenants", { name: "" }, "name"],
    ["POST", "/api/v1/tenants", { name: "a b" }, "name"],
    ["POST", "/api/v1/tenants", { name: "../x" }, "name"],
    ["POST", "/api/v1/tenants", {}, "name"],
    ["POST", "/api/v1/allocations", { tenant: "physics", nodes: 0 }, "nodes"],
    ["POST", "/api/v1/allocations", { tenant: "physics", nodes: "2" }, "nodes"],
    ["POST", "/api/v1/allocations", { tenant: "physics", max_requeue: 101 }, "max_requeue"],
    ["POST", "/api/v1/allocations", { tenant: "physics", priority_class: 11 }, "priority_class"],
    ["POST", "/api/v1/allocations", { tenant: "physics", walltime_hours: 0 }, "walltime_hours"],
    ["POST", "/api/v1/allocations", { tenant: "physics", lifecycle: "eternal" }, "lifecycle"],
    ["POST", "/api/v1/allocations", { tenant: "physics", min_nodes: 3, nodes: 2 }, "min_nodes"],
    ["POST", "/api/v1/allocations", { tenant: "physics", labels: { a: 1 } }, "labels.a"],
    ["POST", "/api/v1/nodes", { id: "n9", gpu_count: -1 }, "gpu_count"],
    ["PUT", "/api/v1/system/quotas", { sensitive_pool_size: -1 }, "sensitive_pool_size"],
    ["PUT", "/api/v1/system/quotas", { budget_period_days: 3661 }, "budget_period_days"],
    ["GET", "/api/v1/allocations?limit=0", undefined, "limit"],
    ["GET", "/api/v1/allocations?state=asleep", undefined, "state"],
    ["GET", "/api/v1/usage", undefined, "user"],
  ];
  test.each(bad)("%s %s %j", async (method, path, body, field) => {
    const before = (await s.ok("root", "GET", "/api/v1/raft/status?hash=true")).state_hash;
    const answer = await s.call("root", method, path, body);
    expect([answer.status, answer.body.error.code, answer.body.error.details.field]).toEqual([400, "invalid_argument", field]);
    expect((await s.ok("root", "GET", "/api/v1/raft/status?hash=true")).state_hash).toBe(before);
  });
});
