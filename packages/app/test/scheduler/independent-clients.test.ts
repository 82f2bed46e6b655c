import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Harness, servers, startScheduler } from "./harness.ts";

/** What clients of the interface send and read that were written from its document alone, by others. */
describe.each(servers)("independent clients, on %s", (_, serve) => {
  let s: Harness;
  let path: string;
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), "seneschal-clients-"));
    s = await startScheduler(serve, { storage: { backups: join(path, "backups") } });
  });
  afterEach(async () => {
    await s.stop();
    await rm(path, { recursive: true, force: true });
  });

  test("a node's group reads as a number where the site numbers its groups or names none; counts are never null", async () => {
    const made = await s.ok("root", "POST", "/api/v1/nodes", { id: "a", group: 7 });
    await s.ok("root", "POST", "/api/v1/nodes", { id: "b" });
    await s.ok("root", "POST", "/api/v1/nodes", { id: "c", group: "rack-1", gpu_count: 0 });
    const nodes = await s.ok("root", "GET", "/api/v1/nodes");
    expect(nodes[0]).toEqual(made);
    expect(nodes).toMatchObject([
      { group: "7", gpu_count: 1, gpu_count_known: false },
      { group: "0", gpu_count: 1, gpu_count_known: false },
      { group: "rack-1", gpu_count: 0, gpu_count_known: true },
    ]);
  });

  test("nodes_allocated lists the nodes, as assigned_nodes does", async () => {
    await s.cluster(2);
    const id = await s.submit("ada", { nodes: 2 });
    await s.cycle();
    const { nodes_allocated, assigned_nodes } = await s.ok("ada", "GET", `/api/v1/allocations/${id}`);
    expect(nodes_allocated).toEqual(assigned_nodes);
    expect([...nodes_allocated].sort()).toEqual(["n0", "n1"]);
  });

  test.each(["drain", "undrain", "disable", "enable", "claim", "release"])("%s takes an empty reason for none", async (verb) => {
    await s.cluster(1);
    if (verb === "undrain") await s.ok("root", "POST", "/api/v1/nodes/n0/drain");
    if (verb === "enable") await s.ok("root", "POST", "/api/v1/nodes/n0/disable");
    await s.ok("root", "PUT", "/api/v1/system/quotas", { sensitive_pool_size: 1 });
    if (verb === "release") await s.ok("ada", "POST", "/api/v1/nodes/n0/claim");
    const who = verb === "claim" ? "ada" : "root";
    expect((await s.call(who, "POST", `/api/v1/nodes/n0/${verb}`, { reason: "" })).status).toBe(200);
    const [entry] = await s.ok("root", "GET", "/api/v1/audit?limit=1");
    expect(entry.details).not.toHaveProperty("why");
  });

  test("the audit log is asked by user, action and tenant, over pages as over one", async () => {
    await s.cluster(1);
    await s.ok("books", "PUT", "/api/v1/tenants/physics", { max_nodes: 5 });
    await s.ok("root", "POST", "/api/v1/tenants", { name: "biology" });
    await s.ok("root", "PUT", "/api/v1/system/quotas", { sensitive_pool_size: 1 });
    await s.ok("ada", "POST", "/api/v1/nodes/n0/claim");
    const actions = async (query: string): Promise<string[]> =>
      (await s.ok("root", "GET", `/api/v1/audit?${query}`)).map((entry: { action: string }) => entry.action);
    expect(await actions("user_id=books")).toEqual(["tenant.update"]);
    expect(await actions("action=tenant.create")).toEqual(["tenant.create", "tenant.create"]);
    expect(await actions("tenant_id=physics")).toEqual(["node.claim", "tenant.update", "tenant.create"]);
    expect(await actions("tenant_id=physics&limit=1&offset=1")).toEqual(["tenant.update"]);
    expect(await actions("user_id=nobody")).toEqual([]);
    expect((await s.call("root", "GET", "/api/v1/audit?who=ada")).status).toBe(400);
  });

  test("without a name the newest backup is verified and restored; without any there is none", async () => {
    expect((await s.call("root", "POST", "/api/v1/admin/backup/verify")).body.error.code).toBe("not_found");
    await s.cluster(0);
    await s.ok("root", "POST", "/api/v1/admin/backup");
    s.clock.advance(1);
    const { backup_id: newest } = await s.ok("root", "POST", "/api/v1/admin/backup");
    expect(await s.ok("root", "POST", "/api/v1/admin/backup/verify")).toMatchObject({ success: true, backup_id: newest });
    expect(await s.ok("root", "POST", "/api/v1/admin/backup/restore")).toMatchObject({ success: true, backup_id: newest });
  });

  test("accounting usage is of the budget period unless dates are given, and of the caller's tenant or, for who sees all, of all", async () => {
    await s.cluster(1);
    const id = await s.submit("ada");
    await s.cycle();
    s.clock.advance(2 * 3_600_000);
    await s.ok("agent-1", "POST", `/api/v1/allocations/${id}/complete`);
    const days = 90 * 24 * 3_600_000;
    const usage = await s.ok("chief", "GET", "/api/v1/accounting/usage");
    expect(usage).toMatchObject({ tenant_id: "physics", gpu_hours: 8, total_allocations: 1 });
    expect(Date.parse(usage.period_end) - Date.parse(usage.period_start)).toBe(days);
    expect(await s.ok("root", "GET", "/api/v1/accounting/usage")).toMatchObject({ tenant_id: "", gpu_hours: 8 });
    expect(await s.ok("root", "GET", "/api/v1/accounting/usage?tenant_id=physics")).toMatchObject({ gpu_hours: 8 });
    expect((await s.call("chief", "GET", "/api/v1/accounting/usage?tenant_id=biology")).status).toBe(403);
  });
});
