/** The adapters of docs/adapters.md keep the laws of their ports. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { documentStoreSuite } from "@seneschal/kernel/testing";
import { describe } from "vitest";
import { openSqliteStore } from "../../examples/sqlite-store.ts";
import { rounds, runner, seed } from "../../packages/adapters/test/suite-runner.ts";

describe("the document store on SQLite", () => {
  documentStoreSuite(runner, {
    capabilities: { durable: true, multiProcess: false, subscribe: "push" },
    place: async () => {
      const folder = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sqlite-store-"));
      return {
        open: async (schema) => openSqliteStore(join(folder, "store.sqlite"), schema),
        destroy: () => rm(folder, { recursive: true, force: true }),
      };
    },
    seed,
    rounds: rounds(2),
  });
});
