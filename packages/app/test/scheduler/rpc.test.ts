import { credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { adminService, serveAdminService } from "@seneschal/server-grpc";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, type Person, servers, startScheduler, tokenOf } from "./harness.ts";

let s: Harness;
// biome-ignore lint/suspicious/noExplicitAny: a client made from the proto file has no types
let client: any;
beforeAll(async () => {
  s = await startScheduler(servers[0]![1], { grpc: { enabled: true, port: 0 } }, { serveAdminService });
  const Client = adminService();
  client = new Client(s.service.listeners["grpc"] ?? "", credentials.createInsecure());
  await s.cluster(1, { gpu_hours_budget: 8 });
});
afterAll(async () => {
  client.close();
  await s.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: whatever came
function call(who: Person | undefined, method: string, request: object): Promise<any> {
  const metadata = new Metadata();
  if (who !== undefined) metadata.set("authorization", `Bearer ${tokenOf(who)}`);
  return new Promise((resolve, reject) =>
    client[method](request, metadata, (error: ServiceError | null, reply: unknown) =>
      error === null ? resolve(reply) : reject(error),
    ),
  );
}

test("UpdateTenant changes present fields only: 0 is a limit, absent is untouched, clear clears", async () => {
  const zero = await call("root", "UpdateTenant", { tenant_id: "physics", max_nodes: 0 });
  expect(zero).toMatchObject({ id: "physics", max_nodes: 0, gpu_hours_budget: 8 });
  const cleared = await call("books", "UpdateTenant", { tenant_id: "physics", max_nodes: 5, clear: ["gpu_hours_budget"] });
  expect(cleared.max_nodes).toBe(5);
  expect(cleared.gpu_hours_budget).toBeUndefined();
  expect(await s.ok("root", "GET", "/api/v1/tenants/physics")).toMatchObject({
    max_nodes: 5,
    gpu_hours_budget: null,
    version: 3,
  });
});

test("usage over RPC equals usage over REST", async () => {
  await s.submit("ada");
  await s.cycle();
  await s.pass(2);
  const { gpu_hours_used, node_hours_used, period_days } = await call("chief", "GetTenantUsage", { tenant_id: "physics" });
  expect({ gpu_hours_used, node_hours_used, period_days }).toEqual({ gpu_hours_used: 8, node_hours_used: 2, period_days: 90 });
  expect(await call("ada", "GetUserUsage", { user: "ada", days: 1 })).toMatchObject({
    user: "ada",
    tenants: [{ tenant: "physics", gpu_hours_used: 8 }],
    total_gpu_hours: 8,
  });
});

test("RPC is counted with REST: by principal, and by address where the credential is bad", async () => {
  const limited = await startScheduler(
    servers[1]![1],
    {
      grpc: { enabled: true, port: 0 },
      rate_limit: { service: { limit: 2, window: "1m" }, anonymous: { limit: 1, window: "1m" } },
    },
    { serveAdminService },
  );
  const Client = adminService();
  const peer = new Client(limited.service.listeners["grpc"] ?? "", credentials.createInsecure());
  const ask = (token: string): Promise<number> =>
    new Promise((resolve) => {
      const metadata = new Metadata();
      metadata.set("authorization", `Bearer ${token}`);
      // biome-ignore lint/suspicious/noExplicitAny: a client made from the proto file has no types
      (peer as any).GetUserUsage({ user: "root" }, metadata, (error: ServiceError | null) => resolve(error?.code ?? 0));
    });
  const root = tokenOf("root");
  expect((await limited.call("root", "GET", "/api/v1/usage?user=root")).status).toBe(200);
  expect([await ask(root), await ask(root)]).toEqual([status.OK, status.RESOURCE_EXHAUSTED]);
  expect((await limited.call("root", "GET", "/api/v1/usage?user=root")).status).toBe(429);
  expect([await ask("bad"), await ask("bad")]).toEqual([status.UNAUTHENTICATED, status.RESOURCE_EXHAUSTED]);
  peer.close();
  await limited.stop();
});

test.each([
  [undefined, "GetTenantUsage", { tenant_id: "physics" }, status.UNAUTHENTICATED, "unauthenticated"],
  ["ada", "GetTenantUsage", { tenant_id: "physics" }, status.PERMISSION_DENIED, "forbidden"],
  ["ada", "UpdateTenant", { tenant_id: "physics", max_nodes: 9 }, status.PERMISSION_DENIED, "forbidden"],
  ["books", "UpdateTenant", { tenant_id: "physics", fair_share_target: 0.5 }, status.PERMISSION_DENIED, "forbidden"],
  ["ada", "GetUserUsage", { user: "bob" }, status.PERMISSION_DENIED, "forbidden"],
  ["root", "UpdateTenant", { tenant_id: "none", max_nodes: 1 }, status.NOT_FOUND, "not_found"],
  ["root", "UpdateTenant", { tenant_id: "physics", gpu_hours_budget: -1 }, status.INVALID_ARGUMENT, "invalid_argument"],
  ["root", "UpdateTenant", { tenant_id: "physics", clear: ["max_nodes"] }, status.INVALID_ARGUMENT, "invalid_argument"],
  ["root", "UpdateTenant", { tenant_id: "physics", clear: ["müll".repeat(9000)] }, status.INVALID_ARGUMENT, "invalid_argument"],
  ["root", "UpdateTenant", { tenant_id: "physics", reason: "\u001b[31m" }, status.INVALID_ARGUMENT, "invalid_argument"],
  ["root", "UpdateTenant", { tenant_id: "a b", max_nodes: 1 }, status.INVALID_ARGUMENT, "invalid_argument"],
  ["root", "UpdateTenant", { tenant_id: "", max_nodes: 1 }, status.INVALID_ARGUMENT, "invalid_argument"],
  ["root", "GetUserUsage", { user: "" }, status.INVALID_ARGUMENT, "invalid_argument"],
  ["root", "GetUserUsage", { user: "\u0000ü" }, status.INVALID_ARGUMENT, "invalid_argument"],
  ["root", "GetTenantUsage", { tenant_id: "physics", days: 0 }, status.INVALID_ARGUMENT, "invalid_argument"],
] as const)("as %s: %s %j is refused with its status and code", async (who, method, request, code, name) => {
  const error: ServiceError = await call(who, method, request).then(
    () => Promise.reject(new Error("was answered")),
    (e: ServiceError) => e,
  );
  expect([error.code, error.metadata.get("error-code")[0]]).toEqual([code, name]);
  const details = JSON.parse(String(error.metadata.get("error-details")[0]));
  if (name === "invalid_argument") expect(details.field).toMatch(/^[a-z_]+$/);
});
