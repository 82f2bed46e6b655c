import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelLog } from "@seneschal/adapters/level";
import { newId, sha256 } from "@seneschal/adapters/log";
import { openReplicated } from "@seneschal/kernel/log";
import type { Clock } from "@seneschal/kernel/ports";
import { type Command, quotaMachine } from "@seneschal/quota";
import { serve } from "@seneschal/server-fastify";
import { startScheduler } from "../scheduler/harness.ts";

/** What is known of a directory: `scheduler.json` beside the log that a release wrote. */
export interface SchedulerFacts {
  /** When it was written. */
  readonly now: number;
  /** The id of a backup that was made of it. */
  readonly busy: string;
  /** Work that ended; that failed and runs again; that was submitted as reactive and runs; that waits. */
  readonly done: string;
  readonly failed: string;
  readonly reactive: string;
  readonly waiting: string;
  /** The answer to a submission under the key `kept-key`. */
  readonly keyed: { readonly id: string };
  /** What the release answered an administrator. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever it was
  readonly asked: Readonly<Record<string, any>>;
}

/** Writes what a scheduler keeps, and what is known of it: its log, one with a snapshot in place of entries, one of a restore under way, backups and `scheduler.json`. */
export async function writeScheduler(directory: string): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), "golden-scheduler-"));
  const backups = join(directory, "scheduler-backups");
  const s = await startScheduler(serve, { storage: { kind: "level", path, backups } });
  try {
    // A day before all else: its answers are those of an older generation.
    await s.ok("root", "POST", "/api/v1/tenants", { name: "early", max_nodes: 1 });
    s.clock.set(s.clock.now() + 86_400_000);
    await s.cluster(7, { max_nodes: 7 });
    await s.ok("root", "POST", "/api/v1/tenants", { name: "biology", max_nodes: 7, isolation_level: "strict" });
    await s.ok("root", "PUT", "/api/v1/tenants/physics", { gpu_hours_budget: 100, reason: "a grant" });
    await s.ok("root", "PUT", "/api/v1/system/quotas", { sensitive_pool_size: 1 });
    await s.ok("root", "POST", "/api/v1/nodes/n2/claim", { tenant: "physics" });
    const done = await s.submit("ada", { nodes: 2 });
    await s.cycle();
    await s.pass(1);
    await s.ok("agent-1", "POST", `/api/v1/allocations/${done}/complete`);
    const failed = await s.submit("ada", { requeue_policy: "on_node_failure" });
    await s.cycle();
    await s.ok("agent-1", "POST", `/api/v1/allocations/${failed}/fail`, { exit_code: 2, message: "out of memory" });
    await s.ok("ada", "POST", `/api/v1/allocations/${failed}/requeue`, { expected_requeue_count: 0 });
    const reactive = await s.submit("ada", { lifecycle: "reactive", nodes: 2, min_nodes: 1 });
    await s.cycle();
    await s.ok("root", "POST", `/api/v1/allocations/${reactive}/scale`, { nodes: 1 });
    const key = { "idempotency-key": "kept-key" };
    const keyed = await s.call("ada", "POST", "/api/v1/allocations", { tenant: "physics", nodes: 1 }, key);
    const waiting = await s.submit("eve", { tenant: "biology", nodes: 7 });
    await s.cycle();
    await s.pass(1);
    await s.cycle();
    const { backup_id: busy } = await s.ok("root", "POST", "/api/v1/admin/backup");
    const paths = [
      ...["tenants", "tenants/physics", "tenants/physics/edits", "tenants/physics/usage", "tenants/biology/usage"],
      ...["usage?user=ada", "allocations", "nodes", "audit?limit=1000", "events?limit=1000", "system/quotas"],
      ...[`allocations/${done}`, `allocations/${waiting}/diagnostics`],
    ].map((one) => `/api/v1/${one}`);
    const asked: Record<string, unknown> = {};
    for (const one of paths) asked[one] = await s.ok("root", "GET", one);
    const facts: SchedulerFacts = {
      now: s.clock.now(),
      busy,
      done,
      failed,
      reactive,
      waiting,
      keyed: keyed.body,
      asked,
    };
    writeFileSync(join(directory, "scheduler.json"), JSON.stringify(facts));
  } finally {
    await s.stop();
  }
  cpSync(join(path, "log"), join(directory, "scheduler"), { recursive: true });
  const tenant = "late";
  const crossing = { tenant, used: 9, budget: 10, fraction: 0.9, periodStart: 0, periodEnd: 1, source: "ledger" } as const;
  await snapshotBehind(join(path, "log"), s.clock, [
    { kind: "tenant.create", tenant, settings: {} },
    { kind: "budget.record", crossings: [{ ...crossing, metric: "gpu_hours", level: "warning" }] },
    { kind: "accounting.record", answers: [{ tenant, remaining: { gpuHours: 1, nodeHours: null } }] },
  ]);
  cpSync(join(path, "log"), join(directory, "scheduler-snapshot"), { recursive: true });
  // Nothing runs while a backup is restored: a log of its own.
  const part = { kind: "state.restore", backup: "ab".repeat(32), part: 0, parts: 2, text: "the first of two parts" } as const;
  await snapshotBehind(join(directory, "scheduler-restoring"), s.clock, [part]);
  rmSync(path, { recursive: true });
}

type Bare<C> = C extends Command ? Omit<C, "id" | "by"> : never;

/** Adds commands to a log, and a snapshot in place of its entries. */
async function snapshotBehind(path: string, clock: Clock, commands: readonly Bare<Command>[]): Promise<void> {
  const log = await openLevelLog({ path });
  const replicated = await openReplicated({ log, machine: quotaMachine, clock, sha256, newId });
  for (const command of commands) {
    const [answer] = await replicated.propose([{ ...command, id: `late ${command.kind}`, by: "root" } as Command]);
    if (answer?.accepted !== true) throw new Error(JSON.stringify(answer));
  }
  await replicated.snapshot();
  await replicated.close();
  await log.close();
}
