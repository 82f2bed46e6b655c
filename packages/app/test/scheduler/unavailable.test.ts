import { createMemoryLog } from "@seneschal/adapters/memory";
import { CodedError } from "@seneschal/kernel";
import type { LogErrorCode, LogStatus, ReplicatedLog } from "@seneschal/kernel/ports";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Repeat } from "../../src/scheduler/index.ts";
import { type Harness, servers, startScheduler } from "./harness.ts";

describe.each(servers)("on %s, a log", (_, serve) => {
  /** What every use of the log ends in, and what it says of its space. */
  let fault: LogErrorCode | undefined;
  let space: Partial<LogStatus>;
  let s: Harness;
  let running: string;
  const loops: (() => Promise<void>)[] = [];
  const turn = async (): Promise<void> => {
    for (const loop of loops) await loop();
  };
  beforeEach(async () => {
    fault = undefined;
    space = {};
    loops.length = 0;
    const inner = createMemoryLog().open();
    const guarded =
      <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        if (fault !== undefined) throw new CodedError<LogErrorCode>(fault, `the test says ${fault}`);
        return call(...args);
      };
    const log: ReplicatedLog = {
      ...inner,
      append: guarded(inner.append),
      read: guarded(inner.read),
      status: async () => ({ ...(await inner.status()), available: fault === undefined, ...space }),
    };
    const repeat: Repeat = (_ms, work) => {
      loops.push(work);
      return { stop: async () => undefined };
    };
    s = await startScheduler(serve, {}, { openLog: async () => log, repeat });
    await s.cluster(2);
    running = await s.submit("ada");
    await s.cycle();
  });
  afterEach(() => s.stop());

  test("without a quorum refuses writes and exact reads with 503 and Retry-After, serves lists, and touches no work", async () => {
    fault = "no_quorum";
    for (const [who, method, path, body] of [
      ["ada", "POST", "/api/v1/allocations", { tenant: "physics" }],
      ["ada", "POST", `/api/v1/allocations/${running}/cancel`, undefined],
      ["root", "PUT", "/api/v1/tenants/physics", { max_nodes: 1 }],
      ["ada", "POST", "/api/v1/nodes/n1/claim", undefined],
      ["root", "GET", "/api/v1/tenants/physics", undefined],
      ["chief", "GET", "/api/v1/tenants/physics/usage", undefined],
    ] as const) {
      const answer = await s.call(who, method, path, body);
      expect([path, answer.status, answer.body.error.code, answer.headers.get("retry-after")]).toEqual([
        path,
        503,
        "no_quorum",
        "2",
      ]);
    }
    const list = await s.call("ada", "GET", "/api/v1/allocations");
    expect(list.body).toMatchObject([{ id: running, state: "running" }]);
    expect([list.headers.get("as-of"), Number(list.headers.get("as-of-seq")) > 0]).toEqual(["2026-03-01T12:00:00.000Z", true]);
    expect(await s.ok("root", "GET", "/api/v1/tenants")).toHaveLength(1);
    expect(await s.ok("root", "GET", "/api/v1/nodes")).toHaveLength(2);
    expect((await s.ok("root", "GET", "/api/v1/raft/status")).available).toBe(false);
    expect((await s.call(undefined, "GET", "/health")).status).toBe(503);
    expect((await s.call(undefined, "GET", "/healthz")).status).toBe(200);
    const ready = await s.call(undefined, "GET", "/ready");
    expect([ready.status, ready.body]).toEqual([
      503,
      { ready: false, components: { log: "unhealthy", log_space: "healthy", instance_id: "healthy" } },
    ]);
    expect((await s.call(undefined, "GET", "/metrics")).body).toContain("\nscheduler_log_available 0\n");
    fault = undefined;
    expect((await s.ok("root", "GET", "/api/v1/raft/status")).available).toBe(true);
    expect((await s.call(undefined, "GET", "/ready")).body.ready).toBe(true);
    expect((await s.call(undefined, "GET", "/metrics")).body).toContain("\nscheduler_log_available 1\n");
    expect(await s.ok("ada", "GET", `/api/v1/allocations/${running}`)).toMatchObject({ state: "running" });
    await s.submit("ada");
  });

  test("whose storage fills up: from 60 % on is degraded, from 80 % on takes no new work while what ends work still passes", async () => {
    const health = async (): Promise<unknown[]> => {
      const { status, body } = await s.call(undefined, "GET", "/health");
      return [status, body.status, body.components.log_space.status];
    };
    space = { sizeBytes: 59, quotaBytes: 100 };
    await turn();
    expect(await health()).toEqual([200, "healthy", "healthy"]);
    space = { sizeBytes: 60, quotaBytes: 100, allocatedBytes: 75, entries: 7 };
    await turn();
    expect(await health()).toEqual([200, "degraded", "unhealthy"]);
    const metrics = (await s.call(undefined, "GET", "/metrics")).body;
    for (const line of ['{kind="in_use"} 60', '{kind="allocated"} 75', '{kind="limit"} 100'])
      expect(metrics).toContain(`scheduler_log_bytes${line}`);
    expect(metrics).toContain("scheduler_log_entries 7");
    const waiting = await s.submit("ada");
    space = { sizeBytes: 81, quotaBytes: 100 };
    await turn();
    const refused = await s.call("ada", "POST", "/api/v1/allocations", { tenant: "physics" });
    expect([refused.status, refused.headers.get("retry-after"), refused.body.error]).toMatchObject([
      503,
      "60",
      {
        code: "storage_full",
        message: "the log's storage is 81 % full: no new work until there is room; running work is not touched",
      },
    ]);
    await s.ok("ada", "POST", `/api/v1/allocations/${waiting}/cancel`);
    await s.ok("agent-1", "POST", `/api/v1/allocations/${running}/complete`);
    space = { sizeBytes: 30, quotaBytes: 100 };
    await turn();
    await s.submit("ada");
  });

  test("that is full is told as storage_full with Retry-After, and nothing is half done", async () => {
    fault = "log_full";
    const refused = await s.call("ada", "POST", "/api/v1/allocations", { tenant: "physics" });
    expect([refused.status, refused.body.error.code, refused.headers.get("retry-after")]).toEqual([503, "storage_full", "1"]);
    fault = undefined;
    expect(await s.ok("ada", "GET", "/api/v1/allocations")).toHaveLength(1);
  });
});
