import { openLogger } from "@seneschal/adapters/logging";
import { settableClock } from "@seneschal/adapters/memory";
import { expect, test } from "vitest";
import type { Repeat } from "../../src/scheduler/index.ts";
import { instanceName } from "../../src/scheduler/storage/instance-name.ts";
import { NOON, servers, startScheduler } from "./harness.ts";

const TTL = 5000;
const log = openLogger({ level: "silent" });

test("a name is shared only when another living process holds it for longer than a dead one's lease could run", async () => {
  const clock = settableClock(NOON);
  let holder = "dead";
  const lease = { ttlMs: TTL, renew: async () => ({ id: holder, address: "", term: 1 }), release: async () => {} };
  const name = instanceName({ lease, process: "me", instance: "s1", now: () => clock.now(), log });
  await name.keep();
  clock.advance(TTL);
  await name.keep();
  expect(name.shared()).toBe(false);
  holder = "me";
  await name.keep();
  holder = "other";
  for (const after of [0, TTL, TTL + 1]) {
    clock.advance(after);
    await name.keep();
  }
  expect(name.shared()).toBe(true);
  holder = "me";
  await name.keep();
  expect(name.shared()).toBe(false);
});

test("two processes of one instance_id are told by health and metrics, and go on serving", async () => {
  const clock = settableClock(NOON);
  const loops: (() => Promise<void>)[] = [];
  const repeat: Repeat = (_ms, work) => {
    loops.push(work);
    return { stop: async () => undefined };
  };
  const lease = { ttlMs: TTL, renew: async () => ({ id: "another", address: "", term: 1 }), release: async () => {} };
  const [, serve] = servers[1]!;
  const s = await startScheduler(serve, {}, { repeat, openNameLease: async () => lease }, clock);
  try {
    clock.advance(2 * TTL + 1);
    for (const loop of loops) await loop();
    const health = await s.call(undefined, "GET", "/health");
    expect([health.status, health.body.status, health.body.components.instance_id.status]).toEqual([
      200,
      "degraded",
      "unhealthy",
    ]);
    expect((await s.call(undefined, "GET", "/metrics")).body).toContain("\nscheduler_instance_id_shared 1\n");
    expect((await s.call(undefined, "GET", "/ready")).status).toBe(200);
    await s.cluster(1);
  } finally {
    await s.stop();
  }
});
