import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelLog } from "@seneschal/adapters/level";
import { test } from "vitest";
import { proposerKills } from "../store-faults/proposer-kills.ts";
import { rounds } from "../suite-runner.ts";

test("level log: kill -9 of the proposer loses and doubles nothing that was answered", async () => {
  const path = await mkdtemp(join(tmpdir(), "level-log-crash-"));
  await proposerKills(path, rounds(3), () => openLevelLog({ path }));
  await rm(path, { recursive: true });
});
