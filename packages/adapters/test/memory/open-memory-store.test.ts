import { openMemoryStore } from "@seneschal/adapters/memory";
import { documentStoreSuite } from "@seneschal/core/testing";
import { describe } from "vitest";
import { rounds, runner, seed } from "../suite-runner.ts";

describe("memory store", () => {
  documentStoreSuite(runner, {
    capabilities: { durable: false, multiProcess: false, subscribe: "push" },
    place: async () => ({ open: async (schema) => openMemoryStore(schema), destroy: async () => {} }),
    seed,
    rounds: rounds(40),
  });
});
