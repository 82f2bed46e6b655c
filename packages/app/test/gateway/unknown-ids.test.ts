import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleOf } from "../platform/sample-of.ts";
import { begin } from "./begin.ts";
import { guardedRoutes } from "./guarded-routes.ts";
import { type Caller, openRig, type Rig } from "./rig.ts";
import { makeTargets, pathOf, type Targets } from "./samples.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";
const named = guardedRoutes.filter(
  ([, { path, body, auth }]) => auth === "principal" && path.includes("/:") && body !== undefined,
);

describe("an id in a path, and a body that the route refuses", () => {
  let rig: Rig;
  let targets: Targets;
  let acme: Caller;
  beforeAll(async () => {
    rig = await openRig();
    targets = await makeTargets(rig);
    acme = rig.admin("acme");
  });
  afterAll(() => rig.close());

  const wrongBodies = (id: string, route: (typeof named)[number][1]): readonly unknown[] => {
    const good = (targets.bodies[id] ?? sampleOf(route.body as NonNullable<typeof route.body>)) as object;
    return [{ ...good, no_such_field: 1 }, [], ...Object.keys(good).map((field) => ({ ...good, [field]: { no: "such value" } }))];
  };

  it("one that is unknown is 404 before the body is 400, on every route", async () => {
    expect(named.length).toBeGreaterThan(40);
    for (const [id, route] of named) {
      const path = route.path.replace(/:[a-z_]+/, nowhere).replace(/:[a-z_]+/g, "1");
      for (const body of wrongBodies(id, route)) {
        const answer = await acme(route.method, path, body as object);
        expect([id, answer.status, answer.body.error.code], JSON.stringify(body)).toEqual([id, 404, "NOT_FOUND"]);
      }
    }
  });

  it("one of another organisation is answered as one that nobody has, one's own with what is wrong", async () => {
    const globex = rig.admin("globex");
    const tried: string[] = [];
    for (const [id, route] of named) {
      const path = pathOf(route.path, targets);
      // The ceremony that makes a first key is of an organisation that is neither.
      if (path.includes(nowhere) || path.includes("/generate-ceremony/")) continue;
      tried.push(id);
      for (const body of wrongBodies(id, route)) {
        const foreign = await globex(route.method, path, body as object);
        expect([id, foreign.status], JSON.stringify(body)).toEqual([id, 404]);
      }
      const mine = await acme(route.method, path, { no_such_field: 1 });
      expect([id, mine.status, mine.body.error.code]).toEqual([id, 400, "VALIDATION_ERROR"]);
    }
    expect(tried).toEqual(
      expect.arrayContaining(["updateWorkspace", "encrypt", "assignCustodian", "updateAdmin", "submitCeremonyShare"]),
    );
  });

  it("an invited organisation hears what is wrong with its answer, another that there is nothing", async () => {
    const { body: workspace } = await acme("POST", "/api/v1/workspaces", { name: "shared", participants: ["globex"] });
    const path = `/api/v1/workspaces/${workspace.id}/accept-invitation`;
    const nobody = rig.bearer({ sub: "n", org: "initech", roles: ["super_admin"] });
    await begin(rig.gateway, "initech");
    const statuses = [];
    for (const caller of [rig.admin("globex"), nobody]) statuses.push((await caller("POST", path, { no_such_field: 1 })).status);
    expect(statuses).toEqual([400, 404]);
  });
});
