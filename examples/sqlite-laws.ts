/** The laws of the port over the store on SQLite, by the test runner of Node. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { documentStoreSuite } from "@seneschal/kernel/testing";
import { openSqliteStore } from "./sqlite-store.ts";

documentStoreSuite(
  { test: (name, body) => void test(name, body), equal: assert.deepStrictEqual },
  {
    capabilities: { durable: true, multiProcess: false, subscribe: "push" },
    place: async () => {
      const folder = await mkdtemp(join(tmpdir(), "sqlite-"));
      return {
        open: async (schema) => openSqliteStore(join(folder, "store.sqlite"), schema),
        destroy: () => rm(folder, { recursive: true }),
      };
    },
    seed: 1, // replays; another explores
    rounds: 2, // more go deeper
  },
);
