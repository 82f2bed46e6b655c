import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Attempt, attemptsOf, guardedRoutes } from "./bad-input.ts";
import { type Harness, servers, startScheduler } from "./harness.ts";

const PEER = { authorization: "Bearer token-of-the-peers" };

describe.each(servers)("on %s", (_, serve) => {
  let s: Harness;
  let attempts: readonly Attempt[];
  beforeAll(async () => {
    s = await startScheduler(serve, { cluster: { token: "token-of-the-peers" }, test_clock: true });
    await s.cluster(1);
    const work = await s.submit("ada");
    const named = (path: string): string => (path.includes("/allocations/") ? work : path.includes("/nodes/") ? "n0" : "physics");
    attempts = guardedRoutes.flatMap(([operation, route]) => attemptsOf(operation, route, named(route.path)));
  });
  afterAll(() => s.stop());

  const hash = async (): Promise<string> => (await s.ok("root", "GET", "/api/v1/raft/status?hash=true")).state_hash;
  const send = ({ operation, method, path, body }: Attempt) =>
    operation === "forwardProposals" ? s.call(undefined, method, path, body, PEER) : s.call("root", method, path, body);

  test("every route refuses what its schema does not allow with a 400 that names the field, and nothing changes", async () => {
    const before = await hash();
    // one of every route and field, so that none goes untried, and then any
    const first = [...new Map(attempts.map((attempt) => [`${attempt.operation} ${attempt.field}`, attempt])).values()];
    const judge = async (attempt: Attempt): Promise<void> => {
      const { status, body } = await send(attempt);
      const named = String(body?.error?.details?.field ?? "");
      const right = named === attempt.field || named.startsWith(`${attempt.field}.`) || named.startsWith(`${attempt.field}[`);
      expect([attempt, status, body?.error?.code, right ? attempt.field : named]).toEqual([
        attempt,
        400,
        "invalid_argument",
        attempt.field,
      ]);
    };
    for (const attempt of first) await judge(attempt);
    await fc.assert(fc.asyncProperty(fc.constantFrom(...attempts), judge), { numRuns: Number(process.env["FC_RUNS"] ?? 300) });
    expect(new Set(first.map(({ operation }) => operation)).size).toBe(guardedRoutes.length);
    expect(await hash()).toBe(before);
  });

  test("what does not exist is a 404 by its name", async () => {
    const before = await hash();
    for (const [method, path, body, message] of [
      ["PUT", "/api/v1/tenants/nobody", { max_nodes: 1 }, "tenant not found: nobody"],
      ["GET", "/api/v1/tenants/nobody", undefined, "tenant not found: nobody"],
      ["GET", "/api/v1/tenants/nobody/edits", undefined, "tenant not found: nobody"],
      ["GET", "/api/v1/tenants/nobody/usage", undefined, "tenant not found: nobody"],
      ["DELETE", "/api/v1/tenants/nobody", undefined, "tenant not found: nobody"],
      ["POST", "/api/v1/tenants", { name: "child", parent: "nobody" }, "tenant not found: nobody"],
      ["POST", "/api/v1/allocations", { tenant: "nobody" }, "tenant not found: nobody"],
      ["POST", "/api/v1/allocations?dry_run=true", { tenant: "nobody" }, "tenant not found: nobody"],
      ["GET", "/api/v1/allocations/none", undefined, "allocation not found: none"],
      ["POST", "/api/v1/allocations/none/cancel", undefined, "allocation not found: none"],
      ["POST", "/api/v1/allocations/none/requeue", undefined, "allocation not found: none"],
      ["POST", "/api/v1/allocations/none/scale", { nodes: 1 }, "allocation not found: none"],
      ["GET", "/api/v1/nodes/none", undefined, "node not found: none"],
      ["POST", "/api/v1/nodes/none/drain", undefined, "node not found: none"],
      ["POST", "/api/v1/nodes/none/heartbeat", undefined, "node not found: none"],
      ["POST", "/api/v1/nodes/none/claim", { tenant: "physics" }, "node not found: none"],
      [
        "GET",
        "/api/v1/accounting/usage?tenant_id=nobody&start=2026-03-01T00:00:00Z&end=2026-03-01T00:00:00Z",
        undefined,
        "tenant not found: nobody",
      ],
    ] as const) {
      const answer = await s.call("root", method, path, body);
      expect([path, answer.status, answer.body.error]).toMatchObject([path, 404, { code: "not_found", message }]);
    }
    expect(await hash()).toBe(before);
  });

  test("a window that ends before it starts is refused", async () => {
    const path = "/api/v1/accounting/usage?tenant_id=physics&start=2026-03-02T00:00:00Z&end=2026-03-01T00:00:00Z";
    const { status, body } = await s.call("books", "GET", path);
    expect([status, body.error.details.field]).toEqual([400, "end"]);
  });
});
