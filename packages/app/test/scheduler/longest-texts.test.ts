import { schedulerContract, schedulerInfo } from "@seneschal/contract/scheduler";
import { serve } from "@seneschal/server-express";
import { expect, it } from "vitest";
import { longestTexts, shownBodies } from "../platform/longest-texts.ts";
import { startScheduler } from "./harness.ts";

it("a text as long as the contract allows is taken or refused by name on every route, whatever its bytes", async () => {
  const s = await startScheduler(serve);
  await s.cluster(1);
  const attempts = longestTexts(schedulerContract, {
    pathOf: (path) => path.replace(/:[a-z_]+/g, path.includes("/nodes/") ? "n0" : "physics"),
    bodyOf: shownBodies(schedulerContract, { ...schedulerInfo, version: "test" }),
  });
  const failed: string[] = [];
  for (const { route, field, method, path, body } of attempts) {
    const { status } = await s.call("root", method, path, body === undefined ? undefined : JSON.stringify(body));
    // No directory of backups is configured here.
    if (status >= 500 && !(status === 501 && /[bB]ackup$/.test(route))) failed.push(`${route} ${field}: ${status}`);
  }
  await s.stop();
  expect(failed).toEqual([]);
  expect(new Set(attempts.map(({ route }) => route)).size).toBeGreaterThan(30);
});
