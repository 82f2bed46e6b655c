import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelStore } from "@seneschal/adapters/level";
import { documentStoreSuite } from "@seneschal/kernel/testing";
import { describe } from "vitest";
import { rounds, runner, seed } from "../suite-runner.ts";

describe("level store", () => {
  documentStoreSuite(runner, {
    capabilities: { durable: true, multiProcess: false, subscribe: "push" },
    place: async () => {
      const path = await mkdtemp(join(tmpdir(), "level-store-"));
      return {
        open: (schema) => openLevelStore({ path, ...schema }),
        destroy: () => rm(path, { recursive: true, force: true }),
      };
    },
    seed,
    rounds: rounds(20),
  });
});
