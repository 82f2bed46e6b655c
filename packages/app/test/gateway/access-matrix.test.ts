import { adminRoles } from "@seneschal/core/keys";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { actions, tableAllows } from "./authorisation-table.ts";
import { callRoute, guardedRoutes as guarded } from "./guarded-routes.ts";
import { type Caller, openRig, type Rig } from "./rig.ts";
import { makeTargets, type Targets } from "./samples.ts";

describe("every guarded route", () => {
  let rig: Rig;
  let targets: Targets;
  beforeAll(async () => {
    rig = await openRig({ watched: true });
    targets = await makeTargets(rig);
  });
  afterAll(() => rig.close());

  const call = (caller: Caller, ...route: (typeof guarded)[number]) => callRoute(caller, route, targets);

  it("names an action that the table knows", () => {
    for (const [id, route] of guarded) expect(actions, id).toContain(route.action);
  });

  it("answers `certificate required` to nobody", async () => {
    for (const [id, route] of guarded) {
      const answer = await call(rig.anonymous, id, route);
      expect([id, answer.status, answer.body.error.code, answer.body.error.message]).toEqual([
        id,
        401,
        "MTLS_REQUIRED",
        "certificate required",
      ]);
    }
  });

  it("refuses exactly the roles that the table refuses", async () => {
    for (const role of [undefined, ...adminRoles]) {
      const caller = rig.bearer({ sub: `probe-${role}`, org: "probe", ...(role === undefined ? {} : { roles: [role] }) });
      const subject = { type: "user", roles: role === undefined ? [] : [role], scopes: [], permissions: [] };
      for (const [id, route] of guarded) {
        const allowed = tableAllows(subject, route.action ?? "");
        const answer = await call(caller, id, route);
        expect(answer.status, `${id} ${role} ${answer.text}`).toBeLessThan(500);
        // The policy names the action that it refuses; what handlers refuse further concerns whose thing it is.
        const refused = answer.status === 403 && answer.body.error.details.action === route.action;
        expect([id, role, refused], answer.text).toEqual([id, role, !allowed]);
      }
    }
  });

  it("lets nobody of another organisation see or change anything, whatever the role", async () => {
    const head = (await rig.store.changes(0, 1_000_000)).at(-1)?.seq ?? 0;
    for (const role of adminRoles) {
      const eve = rig.admin("globex", role);
      const by = { type: "admin", roles: [role], scopes: [], permissions: [] };
      for (const [id, route] of guarded) {
        // what the role may not do at all is refused above
        if (route.params === undefined || !tableAllows(by, route.action ?? "")) continue;
        const answer = await call(eve, id, route);
        // A generated body may fail its schema before anybody looks for the resource; that tells nothing either.
        expect(targets.bodies[id] === undefined ? [404, 400] : [404], `${id} ${role} ${answer.text}`).toContain(answer.status);
      }
    }
    expect(await rig.store.changes(head, 1000)).toEqual([]);
  });

  it("shows nobody of another organisation that the resources are there, in any list or figure", async () => {
    const ids = Object.values(targets.params)
      .flatMap((params) => Object.values(params))
      .filter((id) => id.length > 8);
    for (const role of adminRoles) {
      for (const [id, route] of guarded) {
        if (route.params !== undefined || route.method !== "GET") continue;
        const { text } = await call(rig.admin("globex", role), id, route);
        for (const known of [...ids, "target"]) expect(text.includes(known), `${id} ${role} ${text}`).toBe(false);
      }
    }
  });

  it("never takes the client's word for the organisation", async () => {
    const eve = rig.admin("globex");
    for (const [method, path, body] of [
      ["GET", "/api/v1/audit?org_id=acme", undefined],
      ["POST", "/api/v1/audit/export", { org_id: "acme" }],
      ["POST", "/api/v1/crk/generate", { org_id: "acme", total_shares: 3, threshold: 2 }],
      ["POST", "/api/v1/crk/rotate", { org_id: "acme", threshold: 2 }],
      ["POST", "/api/v1/crk/ceremony/start", { org_id: "acme", operation: "reconstruct", threshold: 2 }],
      ["POST", "/api/v1/crk/generate-ceremony/start", { org_id: "acme", total_shares: 3, threshold: 2 }],
    ] as const) {
      const answer = await eve(method, path, body);
      expect([path, answer.status, answer.body.error.code]).toEqual([path, 403, "FORBIDDEN"]);
    }
  });

  it("audits what it refuses, in the log of who was refused", async () => {
    const mallory = rig.bearer({ sub: "mallory", org: "globex" });
    await mallory("POST", "/api/v1/crk/generate", { total_shares: 3, threshold: 2 });
    const { body } = await rig.admin("globex")("GET", "/api/v1/audit?actor=mallory");
    expect(body.events[0]).toMatchObject({
      event_type: "auth.failure",
      result: "denied",
      metadata: { route: "generateCrk", code: "FORBIDDEN" },
    });
  });
});

describe("every guarded route of one's own organisation", () => {
  it("is open to exactly the roles that the table names, with the organisation's own resources", async () => {
    const rig = await openRig({ watched: true });
    const targets = await makeTargets(rig);
    // The most powerful last: it changes what the others are asked about.
    for (const role of [undefined, ...adminRoles.toReversed()]) {
      const caller = rig.bearer({ sub: `own-${role}`, org: "acme", ...(role === undefined ? {} : { roles: [role] }) });
      const subject = { type: "user", roles: role === undefined ? [] : [role], scopes: [], permissions: [] };
      for (const entry of guarded) {
        const [id, route] = entry;
        const answer = await callRoute(caller, entry, targets);
        const refused = answer.status === 403 && answer.body.error.details.action === route.action;
        expect([id, role, refused], answer.text).toEqual([id, role, !tableAllows(subject, route.action ?? "")]);
        expect([401, 500, 501], `${id} ${role} ${answer.text}`).not.toContain(answer.status);
      }
    }
    await rig.close();
  });
});
