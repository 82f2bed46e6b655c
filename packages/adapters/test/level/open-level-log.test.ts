import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelLog, openLevelStore } from "@seneschal/adapters/level";
import { replicatedLogSuite } from "@seneschal/kernel/testing";
import { describe, expect, test } from "vitest";
import { rounds, runner, seed } from "../suite-runner.ts";

describe("level log", () => {
  replicatedLogSuite(runner, {
    capabilities: { durable: true, shared: false },
    place: async () => {
      const path = await mkdtemp(join(tmpdir(), "level-log-"));
      return { open: () => openLevelLog({ path }), destroy: () => rm(path, { recursive: true, force: true }) };
    },
    seed,
    rounds: rounds(60),
  });

  test("a store's directory is refused as a log, and a log's as a store", async () => {
    const path = await mkdtemp(join(tmpdir(), "level-log-"));
    await (await openLevelLog({ path })).close();
    await expect(openLevelStore({ path, collections: {} })).rejects.toMatchObject({ code: "store_misconfigured" });
    await rm(path, { recursive: true });
    await (await openLevelStore({ path, collections: {} })).close();
    await expect(openLevelLog({ path })).rejects.toMatchObject({ code: "log_misconfigured" });
    await rm(path, { recursive: true });
  });
});
