import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelLog } from "@seneschal/adapters/level";
import { newId, sha256 } from "@seneschal/adapters/log";
import { createMemoryLog, settableClock } from "@seneschal/adapters/memory";
import { openReplicated } from "@seneschal/kernel/log";
import { type emptyState, encodeState, quotaMachine, SortedMap } from "@seneschal/quota";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Harness, servers, startScheduler } from "../scheduler/harness.ts";
import { oneOfEach } from "./collections.ts";
import { directoryOf, releases, TODAY } from "./releases.ts";
import { type SchedulerFacts, writeScheduler } from "./write-scheduler.ts";

const [, serve] = servers[1]!;

// biome-ignore lint/suspicious/noExplicitAny: whatever a release answered
type Answer = any;

/** What is answered otherwise since release 0.1, and why. All else must still be as it was. */
const since: Readonly<Record<string, (answer: Answer) => Answer>> = {
  // ended work keeps where it ran; nodes_allocated lists nodes
  allocation: ({ nodes_allocated, assigned_nodes, per_node_gpus, ...rest }) =>
    nodes_allocated === 0 ? rest : { ...rest, assigned_nodes, per_node_gpus, nodes_allocated: assigned_nodes },
  // an unknown count is the one that it counts as
  node: ({ gpu_count, ...rest }) => ({ ...rest, gpu_count: gpu_count ?? 1, gpu_count_known: gpu_count !== null }),
};

function today(release: string, path: string, answer: Answer): Answer {
  if (Array.isArray(answer)) return answer.map((item) => today(release, `${path}/x`, item));
  const rule = release === "0.1" ? since : {};
  if (/\/allocations\/[^/]+$/.test(path.replace(/\?[^/]*/, ""))) {
    // whether it is burst is told by a cycle, and none has run yet
    const { burst: _burst, ...rest } = answer;
    return rule["allocation"]?.(rest) ?? rest;
  }
  return /\/nodes\/[^/]+$/.test(path) ? (rule["node"]?.(answer) ?? answer) : answer;
}

describe.each(releases)("a scheduler directory of release %s", (release) => {
  let directory: string;
  let facts: SchedulerFacts;
  beforeAll(async () => {
    directory = await directoryOf(release, writeScheduler);
    facts = JSON.parse(readFileSync(join(directory, "scheduler.json"), "utf8"));
  }, 300_000);
  afterAll(() => {
    if (release === TODAY) rmSync(directory, { recursive: true });
  });
  let path: string;
  let s: Harness | undefined;
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), "golden-"));
  });
  afterEach(async () => {
    await s?.stop();
    s = undefined;
    rmSync(path, { recursive: true });
  });
  const open = async (log: string | undefined): Promise<Harness> => {
    if (log !== undefined) cpSync(join(directory, log), join(path, "log"), { recursive: true });
    cpSync(join(directory, "scheduler-backups"), join(path, "backups"), { recursive: true });
    const storage = { kind: "level", path, backups: join(path, "backups") };
    s = await startScheduler(serve, { storage }, {}, settableClock(facts.now));
    return s;
  };

  test.each(["scheduler", "scheduler-snapshot"])(
    "is read, from %s, as it was answered then, entry by entry of its audit chain",
    async (log) => {
      const now = await open(log);
      for (const [asked, then] of Object.entries(facts.asked)) {
        if (asked.endsWith("/diagnostics") || (log === "scheduler-snapshot" && /audit|events|tenants$/.test(asked))) continue;
        const answer = await now.call("root", "GET", asked);
        expect(answer.status, `${asked}: ${JSON.stringify(answer.body)}`).toBe(200);
        expect(answer.body, asked).toMatchObject(today(release, asked, then));
      }
      const chain = await now.ok("root", "GET", "/api/v1/audit?limit=1000");
      expect(chain.slice(-facts.asked["/api/v1/audit?limit=1000"].length)).toEqual(facts.asked["/api/v1/audit?limit=1000"]);
      if (log === "scheduler-snapshot") expect((await now.call("root", "GET", "/api/v1/tenants/late")).status).toBe(200);
    },
  );

  test.runIf(release === TODAY)("holds one of every kind that a state keeps", async () => {
    const stateOf = async (name: string) => {
      cpSync(join(directory, name), join(path, name), { recursive: true });
      const log = await openLevelLog({ path: join(path, name) });
      const replicated = await openReplicated({ log, machine: quotaMachine, clock: { now: () => facts.now }, sha256, newId });
      const state = replicated.state();
      await replicated.close();
      await log.close();
      return state;
    };
    const { receipts, ...rest } = await stateOf("scheduler-snapshot");
    const { restoring } = await stateOf("scheduler-restoring");
    const parts = Object.entries({ ...rest, ...receipts }).filter(([, part]) => part instanceof SortedMap);
    const empty = parts.filter(([, part]) => (part as SortedMap<unknown>).size === 0).map(([name]) => name);
    expect([...empty, ...(restoring === null ? ["restoring"] : [])], oneOfEach("golden/write-scheduler.ts")).toEqual([]);
  });

  test("goes on: keyed answers are kept, ended work is known, what runs ends, reactive work is scaled, strict work is wiped after", async () => {
    const now = await open("scheduler");
    const again = await now.call(
      "ada",
      "POST",
      "/api/v1/allocations",
      { tenant: "physics", nodes: 1 },
      { "idempotency-key": "kept-key" },
    );
    expect([again.status, again.body]).toEqual([201, facts.keyed]);
    const { assigned_nodes } = await now.ok("ada", "GET", `/api/v1/allocations/${facts.done}`);
    expect(assigned_nodes).toHaveLength(2);
    expect(await now.ok("ada", "GET", `/api/v1/allocations/${facts.reactive}`)).toMatchObject({ desired_nodes: 1 });
    await now.ok("ada", "POST", `/api/v1/allocations/${facts.reactive}/scale`, { nodes: 2 });
    await now.cycle();
    expect((await now.ok("ada", "GET", `/api/v1/allocations/${facts.reactive}`)).assigned_nodes).toHaveLength(2);
    for (const { id, state } of await now.ok("root", "GET", "/api/v1/allocations?tenant=physics"))
      if (state === "running") await now.ok("agent-1", "POST", `/api/v1/allocations/${id}/complete`);
      else if (state === "pending") await now.ok("root", "POST", `/api/v1/allocations/${id}/cancel`);
    await now.ok("root", "POST", "/api/v1/nodes/n2/release");
    await now.ok("agent-1", "POST", "/api/v1/nodes/n2/heartbeat", { wiped: true });
    await now.cycle();
    const started = await now.ok("root", "GET", `/api/v1/allocations/${facts.waiting}`);
    expect(started.state).toBe("running");
    await now.ok("agent-1", "POST", `/api/v1/allocations/${facts.waiting}/complete`);
    for (const node of started.assigned_nodes)
      expect((await now.ok("root", "GET", `/api/v1/nodes/${node}`)).state).toBe("booting");
    await now.ok("root", "DELETE", "/api/v1/tenants/physics");
  });

  test("is restored from its backup into an empty log", async () => {
    const now = await open(undefined);
    expect(await now.ok("root", "POST", "/api/v1/admin/backup/verify", { backup_id: facts.busy })).toMatchObject({
      success: true,
    });
    expect(await now.ok("root", "POST", "/api/v1/admin/backup/restore", { backup_id: facts.busy })).toMatchObject({
      success: true,
    });
    expect(await now.ok("root", "GET", "/api/v1/tenants/physics/usage")).toMatchObject({
      node_hours_used: facts.asked["/api/v1/tenants/physics/usage"].node_hours_used,
    });
    expect((await now.ok("root", "GET", `/api/v1/allocations/${facts.failed}`)).state).not.toBe("running");
  });

  test("is not opened by a log or a snapshot of a later version beside it: it is refused by its name", async () => {
    cpSync(join(directory, "scheduler"), path, { recursive: true });
    const log = await openLevelLog({ path });
    try {
      const { head, entries } = await log.read(0, { limit: 1000 });
      const last = entries.at(-1)!;
      const entry = { ...last, seq: head.seq + 1, batchId: "later", prevHash: "" };
      await log.append(head, { ...entry, v: 99 });
      const options = { log, machine: quotaMachine, clock: { now: () => facts.now }, sha256, newId };
      await expect(openReplicated(options)).rejects.toMatchObject({
        code: "log_version",
        message: `entry ${entry.seq} has version 99, this code knows 1`,
      });
    } finally {
      await log.close();
    }
  });
});

describe("of a later version", () => {
  const opened = (log: ReturnType<ReturnType<typeof createMemoryLog>["open"]>) =>
    openReplicated({ log, machine: quotaMachine, clock: { now: () => 0 }, sha256, newId });
  const withSnapshot = async (change: (text: string) => string) => {
    const log = createMemoryLog().open();
    const machine = {
      ...quotaMachine,
      encode: (state: ReturnType<typeof emptyState>) => [Buffer.from(change(Buffer.from(encodeState(state)).toString()))],
    };
    const replicated = await openReplicated({ log, machine, clock: { now: () => 0 }, sha256, newId });
    await replicated.propose([{ kind: "tenant.create", id: "c", by: "root", tenant: "t", settings: {} }]);
    await replicated.snapshot();
    await replicated.close();
    return log;
  };

  test("a state is refused by the number of its format", async () => {
    const log = await withSnapshot((text) => text.replace('["state",4', '["state",99'));
    await expect(opened(log)).rejects.toMatchObject({
      code: "snapshot_invalid",
      message: expect.stringContaining("state format 99, this version knows 2 to 4"),
    });
  });

  test("a snapshot is refused by the version of its header", async () => {
    const log = await withSnapshot((text) => text);
    const { seq, bytes } = (await log.loadSnapshot())!;
    const later = Buffer.from(Buffer.from(bytes).toString("latin1").replace("snapshot 2", "snapshot 3"), "latin1");
    const other = { ...log, loadSnapshot: async () => ({ seq, bytes: new Uint8Array(later) }) };
    await expect(opened(other)).rejects.toMatchObject({
      code: "log_version",
      message: "the log has a snapshot 3, this code knows snapshot 2",
    });
  });

  test("a command is refused by its kind", async () => {
    const log = createMemoryLog().open();
    const command = { kind: "tenant.rename", id: "c", by: "root" };
    const head = { seq: 0, batchId: "" };
    await log.append(head, { v: 1, seq: 1, batchId: "b", prevHash: "", at: 0, commands: [command] });
    await expect(opened(log)).rejects.toMatchObject({
      code: "log_version",
      message: "a command (tenant.rename) of entry 1 cannot be applied by this version",
    });
  });
});
