import { createMemoryLog } from "@seneschal/adapters/memory";
import { replicatedLogSuite } from "@seneschal/kernel/testing";
import { describe } from "vitest";
import { rounds, runner, seed } from "../suite-runner.ts";

describe("memory log", () => {
  replicatedLogSuite(runner, {
    capabilities: { durable: true, shared: true },
    place: async () => {
      const log = createMemoryLog();
      return { open: async () => log.open(), destroy: async () => {} };
    },
    seed,
    rounds: rounds(60),
  });
});
