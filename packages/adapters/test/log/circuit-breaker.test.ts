import { createMemoryLog } from "@seneschal/adapters/memory";
import { CodedError } from "@seneschal/kernel";
import type { LogErrorCode, ReplicatedLog } from "@seneschal/kernel/ports";
import { replicatedLogSuite } from "@seneschal/kernel/testing";
import { afterEach, describe, expect, test } from "vitest";
import { circuitBreaker, type GuardedLog } from "../../src/log/circuit-breaker.ts";
import { rounds, runner, seed } from "../suite-runner.ts";

describe("a log behind a circuit breaker keeps the laws of a log", () => {
  replicatedLogSuite(runner, {
    capabilities: { durable: true, shared: true },
    place: async () => {
      const log = createMemoryLog();
      return { open: async () => circuitBreaker(log.open()), destroy: async () => {} };
    },
    seed,
    rounds: rounds(20),
  });
});

describe("a circuit breaker", () => {
  let fault: LogErrorCode | undefined;
  let asked = 0;
  let told: boolean[] = [];
  const opened: GuardedLog[] = [];
  const failing = (probeMs: number): GuardedLog => {
    fault = undefined;
    asked = 0;
    told = [];
    const inner = createMemoryLog().open();
    const log: ReplicatedLog = {
      ...inner,
      read: async (...args) => {
        asked++;
        if (fault !== undefined) throw new CodedError<LogErrorCode>(fault, "the test says so");
        return inner.read(...args);
      },
      status: async () => ({ ...(await inner.status()), available: fault === undefined }),
    };
    const guarded = circuitBreaker(log, { probeMs, onChange: (available) => told.push(available) });
    opened.push(guarded);
    return guarded;
  };
  afterEach(() => Promise.all(opened.splice(0).map((log) => log.close())));

  test.each(["no_quorum", "outcome_unknown"] as const)(
    "opens with the first %s: the log is not asked again, every use is refused as no_quorum, and it is told once",
    async (code) => {
      const log = failing(60_000);
      fault = code;
      await expect(log.read(0, { limit: 1 })).rejects.toMatchObject({ code });
      for (const use of [
        () => log.read(0, { limit: 1 }),
        () => log.append({ seq: 0, batchId: "" }, { v: 1, seq: 1, batchId: "b", prevHash: "", at: 0, commands: [] }),
        () => log.loadSnapshot(),
        () => log.truncate(1),
        () => log.archived(0),
      ])
        await expect(use()).rejects.toMatchObject({ code: "no_quorum" });
      expect([asked, log.available(), told]).toEqual([1, false, [false]]);
    },
  );

  test("stays closed through what says nothing of the quorum", async () => {
    const log = failing(60_000);
    fault = "log_truncated";
    await expect(log.read(0, { limit: 1 })).rejects.toMatchObject({ code: "log_truncated" });
    expect([log.available(), told]).toEqual([true, []]);
  });

  test("closes by itself once the log says that it is available", async () => {
    const log = failing(1);
    fault = "no_quorum";
    await expect(log.read(0, { limit: 1 })).rejects.toMatchObject({ code: "no_quorum" });
    fault = undefined;
    await expect.poll(() => log.available()).toBe(true);
    expect((await log.read(0, { limit: 1 })).head.seq).toBe(0);
    expect(told).toEqual([false, true]);
  });

  test("is moved by anybody's question for the status", async () => {
    const log = failing(60_000);
    fault = "no_quorum";
    await log.status();
    expect(log.available()).toBe(false);
    fault = undefined;
    await log.status();
    expect(log.available()).toBe(true);
  });
});
