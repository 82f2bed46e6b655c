import { serve } from "@seneschal/server-fastify";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, startScheduler } from "./harness.ts";

let s: Harness;
beforeAll(async () => {
  s = await startScheduler(serve);
  await s.cluster(1);
});
afterAll(() => s.stop());

/** JSON texts that no numeric field takes, whatever its range. */
const noNumber = fc.constantFrom('"5"', "true", "[]", "{}", "1e999", "-1e999", "-1", "-0.5", '""', '"NaN"');
const numbers = {
  "PUT /api/v1/tenants/physics": {
    rest: {},
    fields: [
      ...["max_nodes", "max_concurrent_allocations", "gpu_hours_budget", "node_hours_budget", "fair_share_target"],
      ...["burst_allowance", "borrowing_limit", "lending_limit", "user_max_nodes", "user_max_concurrent_allocations"],
    ],
  },
  "POST /api/v1/allocations": {
    rest: { tenant: "physics" },
    fields: ["nodes", "min_nodes", "walltime_hours", "max_requeue", "priority_class", "gpus_per_node"],
  },
  "POST /api/v1/nodes": { rest: { id: "n9" }, fields: ["gpu_count", "cpu_cores", "memory_gb", "energy_price"] },
  "PUT /api/v1/system/quotas": { rest: {}, fields: ["sensitive_pool_size", "budget_period_days"] },
};
const attempt = fc
  .constantFrom(...Object.entries(numbers))
  .chain(([route, { rest, fields }]) =>
    fc.record({ route: fc.constant(route), rest: fc.constant(rest), field: fc.constantFrom(...fields), value: noNumber }),
  );

test("whatever is not a number of its range is a 400 that names the field, on every numeric field, and changes nothing", async () => {
  const hash = async () => (await s.ok("root", "GET", "/api/v1/raft/status?hash=true")).state_hash;
  const before = await hash();
  await fc.assert(
    fc.asyncProperty(attempt, async ({ route, rest, field, value }) => {
      const [method = "", path = ""] = route.split(" ");
      const body = `${JSON.stringify(rest).slice(0, -1)}${Object.keys(rest).length > 0 ? "," : ""}${JSON.stringify(field)}:${value}}`;
      const { status, body: answer } = await s.call("root", method, path, body);
      expect([status, answer.error?.code, answer.error?.details.field]).toEqual([400, "invalid_argument", field]);
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 150) },
  );
  expect(await hash()).toBe(before);
});

test("a field that nobody knows is a 400 that names it; an unknown tenant is a 404", async () => {
  const names = fc.stringMatching(/^[a-z]{1,12}_x$/);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.entries(numbers)), names, async ([route, { rest }], field) => {
      const [method = "", path = ""] = route.split(" ");
      const { status, body } = await s.call("root", method, path, { ...rest, [field]: 1 });
      expect([status, body.error.details.field]).toEqual([400, field]);
    }),
    { numRuns: 40 },
  );
  for (const [method, path, body] of [
    ["PUT", "/api/v1/tenants/nobody", { max_nodes: 1 }],
    ["POST", "/api/v1/allocations", { tenant: "nobody" }],
    ["GET", "/api/v1/tenants/nobody/usage", undefined],
  ] as const)
    expect((await s.call("root", method, path, body)).status).toBe(404);
});
