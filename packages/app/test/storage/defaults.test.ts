import { settableClock } from "@seneschal/adapters/memory";
import { expect, test } from "vitest";
import { storageSettings } from "../../src/storage/index.ts";
import { servers, startStorage } from "./harness.ts";

test("a collection every 300 s, a scrub every 7 days, three hours of history, unless it is set otherwise", async () => {
  const h = await startStorage(servers[1]![1]);
  expect((await h.call(undefined, "GET", "/ui/api/history")).body.hours).toBe(3);
  const { body } = await h.call("root", "GET", "/ui/api/tuning");
  expect(body).toMatchObject({ gc_interval_s: 300, scrub_interval_h: 168 });
  await h.stop();
});

test("events are shown for three hours, with their five fields", async () => {
  const clock = settableClock(Date.parse("2026-03-01T12:00:00Z"));
  const h = await startStorage(servers[1]![1], {}, { clock });
  await h.call(undefined, "POST", "/ui/api/session", { token: "wrong" });
  const refusals = async (query = "") =>
    (await h.call(undefined, "GET", `/ui/api/events${query}`)).body.filter(
      ({ category }: { category: string }) => category === "security",
    );
  const [event] = await refusals();
  expect(event).toMatchObject({ timestamp: "2026-03-01T12:00:00.000Z", severity: "warning", category: "security" });
  expect([typeof event.message, typeof event.source]).toEqual(["string", "string"]);
  clock.advance(3 * 3_600_000 + 1);
  expect(await refusals()).toEqual([]);
  expect(await refusals("?hours=4")).toEqual([event]);
  await h.stop();
});

test("the ports are 9090, 9100 and 9300", () => {
  const { server, grpc, cluster } = storageSettings.parse({});
  expect([server.port, grpc.address, cluster.peer_address]).toEqual([9090, "127.0.0.1:9100", "127.0.0.1:9300"]);
});
