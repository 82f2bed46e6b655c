import { expect, test } from "vitest";
import { servers, startStorage } from "./harness.ts";

test("three hours of history, a collection every 300 s, a scrub every 7 days, unless it is set otherwise", async () => {
  const h = await startStorage(servers[1]![1]);
  expect((await h.call(undefined, "GET", "/ui/api/history")).body.hours).toBe(3);
  const { body } = await h.call("root", "GET", "/ui/api/tuning");
  expect(body).toMatchObject({ gc_interval_s: 300, scrub_interval_h: 168 });
  await h.stop();
});
