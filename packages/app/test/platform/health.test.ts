import { describe, expect, test } from "vitest";
import { checkHealth, databaseCheck } from "../../src/platform/index.ts";

const down = { name: "vault", check: () => Promise.reject(new Error("connect ECONNREFUSED 10.0.0.1")) };
const up = { name: "store", check: async () => {} };

describe("health", () => {
  test("all there is healthy and ready", async () => {
    expect(await checkHealth([up], () => {})).toEqual({
      status: "healthy",
      ready: true,
      components: { store: { status: "healthy" } },
    });
  });

  test("one thing missing degrades all; the cause goes to the log only", async () => {
    const failures: string[] = [];
    const health = await checkHealth([up, down], (name) => failures.push(name));
    expect(health).toMatchObject({ status: "degraded", ready: false, components: { vault: { status: "unhealthy" } } });
    expect(JSON.stringify(health)).not.toContain("10.0.0.1");
    expect(failures).toEqual(["vault"]);
  });

  test("what the service can do without does not keep it from being ready", async () => {
    const health = await checkHealth([up, { ...down, required: false }], () => {});
    expect(health).toMatchObject({ status: "degraded", ready: true });
  });

  test("a component that does not answer is unhealthy", async () => {
    const health = await checkHealth([{ name: "vault", check: () => new Promise(() => {}) }], () => {}, 1);
    expect(health.components["vault"]?.status).toBe("unhealthy");
  });

  test.each([
    ["reads", { auditRead: () => Promise.reject(new Error("gone")) }],
    ["writes", { auditRead: async () => [], checkWrites: () => Promise.reject(new Error("store_failed")) }],
  ])("a database that refuses %s keeps the service from being ready", async (_, store) => {
    const health = await checkHealth([databaseCheck(store)], () => {});
    expect(health).toMatchObject({ ready: false, components: { database: { status: "unhealthy" } } });
  });
});
