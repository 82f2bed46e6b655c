import { gatewayContract } from "@seneschal/contract/gateway";
import { expect, it } from "vitest";
import { longestTexts } from "../platform/longest-texts.ts";
import { sampleOf } from "../platform/sample-of.ts";
import { openRig } from "./rig.ts";
import { makeTargets, pathOf } from "./samples.ts";

it("a text as long as the contract allows is taken or refused by name on every route, whatever its bytes", async () => {
  const rig = await openRig();
  const targets = await makeTargets(rig);
  const attempts = longestTexts(gatewayContract, {
    pathOf: (path) => pathOf(path, targets),
    bodyOf: (route, schema) => targets.bodies[route] ?? sampleOf(schema),
  });
  const acme = rig.admin("acme");
  const failed: string[] = [];
  for (const { route, field, method, path, body } of attempts) {
    const { status } = await acme(method, path, body as object);
    if (status >= 500) failed.push(`${route} ${field}: ${status}`);
  }
  await rig.close();
  expect(failed).toEqual([]);
  expect(new Set(attempts.map(({ route }) => route)).size).toBeGreaterThan(55);
});
