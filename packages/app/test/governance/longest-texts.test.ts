import { governanceContract, governanceInfo } from "@seneschal/contract/governance";
import { serve } from "@seneschal/server-express";
import { expect, it } from "vitest";
import { longestTexts, shownBodies } from "../platform/longest-texts.ts";
import { startRig } from "./rig.ts";
import { runEvent } from "./run-event.ts";

const lifted = { settings: { rate_limit: { authenticated: { limit: 1_000_000 } } } };

it("a text as long as the contract allows is taken or refused by name on every route, whatever its bytes", async () => {
  const rig = await startRig(serve, lifted);
  const attempts = longestTexts(governanceContract, {
    pathOf: (path) => path.replace(/:[a-z_]+/g, "orders"),
    bodyOf: shownBodies(governanceContract, { ...governanceInfo, version: "test" }),
  });
  const failed: string[] = [];
  for (const { route, field, method, path, body } of attempts) {
    const { status } = await rig.call("admin", method, path, body);
    if (status >= 500) failed.push(`${route} ${field}: ${status}`);
  }
  await rig.stop();
  expect(failed).toEqual([]);
  expect(new Set(attempts.map(({ route }) => route)).size).toBeGreaterThan(25);
});

it("resources and edges with the longest names are kept, found, changed and taken back like any other, also by the next process", async () => {
  const rig = await startRig(serve, lifted);
  const [source, target] = ["a", "b"].map((first) => first + "\u{10348}".repeat(511));
  const path = (name: string | undefined): string => `/api/v1/resources/${encodeURIComponent(name ?? "")}`;
  const event = runEvent({ inputs: [source ?? ""], outputs: [target ?? ""] });
  expect(await rig.call("admin", "POST", "/api/v1/lineage", event)).toMatchObject({ status: 201 });
  const { body: listed } = await rig.call("admin", "GET", "/api/v1/resources");
  const [from, to] = listed.resources.map(({ resource_id }: { resource_id: string }) => resource_id).toSorted();
  for (const tier of ["CONFIDENTIAL", "RESTRICTED"])
    expect((await rig.call("admin", "PUT", path(from), { tier })).body.classification).toMatchObject({ tier });
  const tierBehind = async (r: typeof rig) => (await r.call("admin", "GET", path(to))).body.classification.tier;
  expect(await tierBehind(rig)).toBe("RESTRICTED");
  const edge = { source: from, target: to };
  for (const blocked of [false, true])
    expect((await rig.call("admin", "PUT", "/api/v1/lineage-edges", { ...edge, blocked })).status).toBe(200);
  const open = await tierBehind(rig);
  expect(open).not.toBe("RESTRICTED");

  const next = await startRig(serve, { ...lifted, store: rig.store });
  expect(await tierBehind(next)).toBe(open);
  expect((await next.call("admin", "GET", path(from))).body.classification.tier).toBe("RESTRICTED");
  expect((await rig.call("admin", "DELETE", path(from))).status).toBe(204);
  for (const r of [rig, next]) expect((await r.call("admin", "GET", path(from))).body.declared).toBeNull();
  await next.stop();
  await rig.stop();
});
