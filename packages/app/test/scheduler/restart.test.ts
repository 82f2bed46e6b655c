import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryLog, settableClock } from "@seneschal/adapters/memory";
import { expect, test } from "vitest";
import { NOON, servers, startScheduler } from "./harness.ts";

const [, serve] = servers[0]!;

test("a restart on the durable log loses no submission, no hour, no claim, no crossing, and no idempotency key", async () => {
  const path = await mkdtemp(join(tmpdir(), "scheduler-"));
  try {
    const clock = settableClock(NOON);
    const settings = { storage: { kind: "level", path, backups: join(path, "backups") }, test_clock: true };
    let s = await startScheduler(serve, settings, {}, clock);
    await s.cluster(3, { node_hours_budget: 1 });
    const key = { "idempotency-key": "k" };
    const first = (await s.call("ada", "POST", "/api/v1/allocations", { tenant: "physics" }, key)).body.id;
    await s.cycle();
    await s.pass(2);
    await s.cycle();
    const { state_hash: hash } = await s.ok("root", "GET", "/api/v1/raft/status?hash=true");
    const { backup_id: backup } = await s.ok("root", "POST", "/api/v1/admin/backup");
    const audit = await s.ok("root", "GET", "/api/v1/audit/checkpoint");
    await s.stop();

    s = await startScheduler(serve, settings, {}, clock);
    expect(await s.ok("root", "GET", "/api/v1/raft/status?hash=true")).toMatchObject({ state_hash: hash, storage: "durable" });
    expect((await s.ok("chief", "GET", "/api/v1/tenants/physics/usage")).node_hours_used).toBe(2);
    await s.cycle();
    expect(await s.ok("chief", "GET", "/api/v1/events?type=budget_exhausted")).toHaveLength(1);
    expect((await s.call("ada", "POST", "/api/v1/allocations", { tenant: "physics" }, key)).body.id).toBe(first);
    expect(await s.ok("root", "GET", "/api/v1/audit/checkpoint")).toMatchObject({ public_key: audit.public_key });
    expect(await s.ok("root", "POST", "/api/v1/admin/backup/verify", { backup_id: backup })).toMatchObject({ success: true });
    expect((await s.call("root", "POST", "/api/v1/admin/backup/verify", { backup_id: "1-x" })).status).toBe(404);
    // restored over HTTP: refused while work runs, then by one administrator, and in the audit chain
    const restore = (who: "root" | "chief") => s.call(who, "POST", "/api/v1/admin/backup/restore", { backup_id: backup });
    expect((await restore("root")).body.error.code).toBe("ownership_conflict");
    await s.ok("ada", "POST", `/api/v1/allocations/${first}/cancel`);
    await s.ok("root", "PUT", "/api/v1/tenants/physics", { max_nodes: 1 });
    expect((await restore("chief")).status).toBe(403);
    expect((await restore("root")).body).toMatchObject({ success: true, backup_id: backup });
    expect((await s.ok("root", "GET", "/api/v1/tenants/physics")).max_nodes).toBe(100);
    expect((await s.ok("ada", "GET", `/api/v1/allocations/${first}`)).status_reason).toBe("restored from a backup");
    expect((await s.ok("chief", "GET", "/api/v1/tenants/physics/usage")).node_hours_used).toBe(2);
    expect((await s.ok("root", "GET", "/api/v1/audit"))[0]).toMatchObject({ action: "state.restore", user_id: "root" });
    await s.stop();
  } finally {
    await rm(path, { recursive: true });
  }
});

test("two scheduler processes on one log agree, race harmlessly, and answer each other's idempotency keys", async () => {
  const shared = createMemoryLog();
  const clock = settableClock(NOON);
  const [a, b] = await Promise.all(
    servers.map(([, each]) => startScheduler(each, {}, { openLog: async () => shared.open() }, clock)),
  );
  if (a === undefined || b === undefined) throw new Error("two were started");
  await a.cluster(4, { max_nodes: 3 });
  const submissions = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      (i % 2 === 0 ? a : b).call("ada", "POST", "/api/v1/allocations", { tenant: "physics" }, { "idempotency-key": `k${i % 6}` }),
    ),
  );
  const accepted = submissions.filter(({ status }) => status === 201);
  expect(new Set(accepted.map(({ body }) => body.id)).size).toBe(6);
  await Promise.all([a.cycle(), b.cycle(), a.cycle(), b.cycle()]);
  for (const s of [a, b]) {
    const running = await s.ok("ada", "GET", "/api/v1/allocations?state=running");
    expect(running).toHaveLength(3);
    expect(new Set(running.flatMap((r: { assigned_nodes: string[] }) => r.assigned_nodes)).size).toBe(3);
    expect(await s.ok("ada", "GET", "/api/v1/allocations?state=pending")).toMatchObject(
      Array.from({ length: 3 }, () => ({ status_reason: "waiting for quota headroom" })),
    );
  }
  const [ha, hb] = await Promise.all(
    [a, b].map((s) =>
      s.ok("root", "GET", "/api/v1/system/quotas").then(() => s.ok("root", "GET", "/api/v1/raft/status?hash=true")),
    ),
  );
  expect(ha.state_hash).toBe(hb.state_hash);
  await Promise.all([a.stop(), b.stop()]);
});
