import { adminRoles, authorizationMatrix, authorize } from "@seneschal/core/keys";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { servedRoutes } from "../../src/gateway/index.ts";
import { openRig, type Rig } from "./rig.ts";
import { sampleOf } from "./sample-of.ts";
import { makeTargets, pathOf, type Targets } from "./samples.ts";

interface AnyRoute {
  readonly method: string;
  readonly path: string;
  readonly auth: string;
  readonly action?: string;
  readonly params?: object;
  readonly body?: z.ZodType;
}
const guarded = Object.entries(servedRoutes as Readonly<Record<string, AnyRoute>>).filter(([, route]) => route.auth !== "public");

describe("every guarded route", () => {
  let rig: Rig;
  let targets: Targets;
  beforeAll(async () => {
    rig = await openRig();
    targets = await makeTargets(rig);
  });
  afterAll(() => rig.close());

  const call = (caller: ReturnType<Rig["bearer"]>, id: string, route: AnyRoute) =>
    caller(
      route.method,
      pathOf(route.path, targets),
      route.body === undefined ? undefined : (targets.bodies[id] ?? sampleOf(route.body)),
    );

  it("names an action that the matrix knows", () => {
    for (const [id, route] of guarded) expect(Object.keys(authorizationMatrix), id).toContain(route.action);
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

  it("refuses exactly the roles that the matrix refuses", async () => {
    for (const role of [undefined, ...adminRoles]) {
      const caller = rig.bearer({ sub: `probe-${role}`, org: "probe", ...(role === undefined ? {} : { roles: [role] }) });
      const subject = { type: "user", roles: role === undefined ? [] : [role], scopes: [], permissions: [] };
      for (const [id, route] of guarded) {
        const allowed = authorize(subject, route.action ?? "").allowed;
        const answer = await call(caller, id, route);
        expect(answer.status, `${id} ${role} ${answer.text}`).toBeLessThan(500);
        // The matrix names the action that it refuses; what handlers refuse further concerns whose thing it is.
        const refused = answer.status === 403 && answer.body.error.details.action === route.action;
        expect([id, role, refused], answer.text).toEqual([id, role, !allowed]);
      }
    }
  });

  it("lets a foreign super admin neither see nor change anything of another organisation", async () => {
    const eve = rig.admin("globex");
    const head = (await rig.store.changes(0, 1_000_000)).at(-1)?.seq ?? 0;
    for (const [id, route] of guarded) {
      if (route.params === undefined) continue;
      const answer = await call(eve, id, route);
      // A generated body may fail its schema before anybody looks for the resource; that tells nothing either.
      expect(targets.bodies[id] === undefined ? [404, 400] : [404], `${id} ${answer.text}`).toContain(answer.status);
    }
    expect(await rig.store.changes(head, 1000)).toEqual([]);
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
