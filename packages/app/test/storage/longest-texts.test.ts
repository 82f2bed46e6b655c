import { storageContract, storageInfo } from "@seneschal/contract/storage";
import { serve } from "@seneschal/server-express";
import { expect, it } from "vitest";
import { longestTexts, shownBodies } from "../platform/longest-texts.ts";
import { startStorage } from "./harness.ts";

it("a text as long as the contract allows is taken or refused by name on every route, whatever its bytes", async () => {
  const s = await startStorage(serve);
  const attempts = longestTexts(storageContract, {
    pathOf: (path) => path.replace(/:[a-z_]+/g, "d0"),
    bodyOf: shownBodies(storageContract, { ...storageInfo, version: "test" }),
  });
  const failed: string[] = [];
  for (const { route, field, method, path, body } of attempts) {
    const { status } = await s.call("root", method, path, body);
    if (status >= 500) failed.push(`${route} ${field}: ${status}`);
  }
  await s.stop();
  expect(failed).toEqual([]);
  expect(new Set(attempts.map(({ route }) => route)).size).toBeGreaterThan(25);
});
