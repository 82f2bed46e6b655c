import { gatewayErrors, organizationBeginnings } from "@seneschal/contract/gateway";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { kekName } from "../../src/gateway/ground/organization-keys.ts";
import { writeLastUse } from "../../src/gateway/people/identities.ts";
import { callRoute, guardedRoutes } from "./guarded-routes.ts";
import { register } from "./registered.ts";
import { type Answer, openRig, type Rig } from "./rig.ts";
import { makeTargets } from "./samples.ts";

const dealing = { total_shares: 3, threshold: 2 };
const b64 = (text: string): string => Buffer.from(text).toString("base64");
const sealing = new Set(["audit_checkpoints", "audit_log_keys"]);
/** Roles that the signer of tokens may give: the most that the table allows, and nothing. */
const callers = [{ roles: ["super_admin"] }, {}] as const;

describe("how an organisation begins", () => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await openRig();
  });
  afterEach(() => rig.close());

  /** What was ever written to documents, but for the sealing of logs, and whose audit logs there are beside the instance's. */
  async function held() {
    const [audit, changes] = [await rig.store.auditRead(0, 1_000_000), await rig.store.changes(0, 1_000_000)];
    return {
      documents: changes.filter(({ coll }) => !sealing.has(coll)).map(({ coll, id, version }) => `${coll}/${id} ${version}`),
      streams: [...new Set(audit.map(({ stream }) => stream))].filter((stream) => stream !== "/instance").toSorted(),
    };
  }
  const chief = (org: string) => rig.bearer({ sub: "chief", org, roles: ["super_admin"] });
  const exists = async (org: string): Promise<boolean> =>
    (await chief(org)("GET", `/api/v1/organizations/${org}`)).status === 200;
  const code = ({ body }: Answer): unknown => body?.error.code;

  it("nothing is written in the name of one that has not begun, on any route but a beginning", async () => {
    const targets = await makeTargets(rig);
    await writeLastUse(rig.gateway.services, rig.clock.now());
    const before = await held();
    for (const claims of callers) {
      const caller = rig.bearer({ sub: "somebody", org: "nowhere", ...claims });
      for (const [id, route] of guardedRoutes) {
        if ((organizationBeginnings as readonly string[]).includes(id)) continue;
        const answer = await callRoute(caller, [id, route], targets);
        expect(answer.status, `${id} ${answer.text}`).toBeLessThan(500);
        if (route.method !== "GET") {
          const refused = code(answer) === "FORBIDDEN" && answer.body.error.details.action === route.action;
          expect([id, refused || code(answer) === "ORGANIZATION_UNKNOWN"], answer.text).toEqual([id, true]);
        }
        expect(await held(), id).toEqual(before);
      }
    }
    for (const path of ["crl/nowhere", "ocsp/nowhere", "enrollment/admins/00000000-0000-7000-8000-000000000000"]) {
      expect((await rig.anonymous("GET", `/api/v1/${path}`)).status, path).toBeGreaterThanOrEqual(400);
    }
    const first = { email: "a@b.example", name: "A", org_id: "nowhere", crk_signature: b64("x".repeat(64)) };
    expect((await rig.anonymous("POST", "/api/v1/bootstrap/admin", first)).status).toBe(403);
    expect(await held()).toEqual(before);
    await writeLastUse(rig.gateway.services, rig.clock.now());
    expect(await held()).toEqual(before);
    expect(await rig.gateway.services.vault.keyInfo(kekName("nowhere"))).toBeUndefined();
  });

  it("a refusal says so by one code, and stands in the instance's log", async () => {
    const answer = await chief("nowhere")("POST", "/api/v1/workspaces", { name: "w", purpose: "p" });
    expect([answer.status, code(answer)]).toEqual([gatewayErrors.find("ORGANIZATION_UNKNOWN")?.status, "ORGANIZATION_UNKNOWN"]);
    const last = (await rig.store.auditRead(0, 1_000_000)).at(-1);
    expect(last).toMatchObject({
      stream: "/instance",
      event: {
        event_type: "auth.failure",
        result: "denied",
        metadata: { route: "createWorkspace", code: "ORGANIZATION_UNKNOWN", organization: "nowhere" },
      },
    });
  });

  it("it begins with its root key, in one commit: before it nothing, after it everything", async () => {
    const call = chief("hooli");
    expect(code(await call("POST", "/api/v1/workspaces", { name: "w", purpose: "p" }))).toBe("ORGANIZATION_UNKNOWN");
    expect((await call("POST", "/api/v1/crk/generate", dealing)).status).toBe(200);
    expect(await exists("hooli")).toBe(true);
    expect((await call("POST", "/api/v1/workspaces", { name: "w", purpose: "p" })).status).toBe(201);
  });

  it("it begins with the start of its password ceremony, so that its custodians can be registered", async () => {
    const call = chief("hooli");
    const { body: ceremony } = await call("POST", "/api/v1/crk/generate-ceremony/start", dealing);
    expect(await exists("hooli")).toBe(true);
    for (const index of [1, 2, 3]) {
      await register(call, `custodian-${index}`);
      const seed = { index, derived_key: b64("k".repeat(32)), salt: b64("s".repeat(16)) };
      const seeded = await rig.bearer({ sub: `custodian-${index}`, org: "hooli" })(
        "POST",
        `/api/v1/crk/generate-ceremony/${ceremony.id}/seed`,
        seed,
      );
      expect(seeded.status, seeded.text).toBe(204);
    }
    const done = await call("POST", `/api/v1/crk/generate-ceremony/${ceremony.id}/complete`);
    expect([done.status, done.body.status], done.text).toEqual([200, "complete"]);
    expect((await call("GET", "/api/v1/organizations/hooli")).body).toMatchObject({ origin: "crk", crk: { org_id: "hooli" } });
  });

  it("a beginning that is refused begins nothing", async () => {
    const call = chief("hooli");
    const nobody = [{ index: 1, identity_id: "00000000-0000-7000-8000-000000000000", identity_type: "user" }];
    const before = await held();
    for (const path of ["/api/v1/crk/generate", "/api/v1/crk/generate-ceremony/start"]) {
      for (const body of [
        { total_shares: 2, threshold: 3 },
        { ...dealing, custodians: nobody },
        { ...dealing, org_id: "acme" },
      ]) {
        const answer = await call("POST", path, body);
        expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
      }
      // Whoever is no super admin of the issuer's word begins nothing either.
      expect(code(await rig.bearer({ sub: "one", org: "hooli", roles: ["operations_admin"] })("POST", path, dealing))).toBe(
        "FORBIDDEN",
      );
    }
    const restored = await call("POST", "/api/v1/backups/00000000-0000-7000-8000-000000000000/restore", {});
    expect(restored.status, restored.text).toBe(404);
    expect(await exists("hooli")).toBe(false);

    expect(await held()).toEqual(before);
  });

  it("a ceremony that ends without a key leaves the organisation, without one", async () => {
    const call = chief("hooli");
    const { body: ceremony } = await call("POST", "/api/v1/crk/generate-ceremony/start", dealing);
    expect((await call("DELETE", `/api/v1/crk/generate-ceremony/${ceremony.id}`)).status).toBe(204);
    expect((await call("GET", "/api/v1/organizations/hooli")).body.crk).toBeNull();
    expect((await call("POST", "/api/v1/crk/generate", dealing)).status).toBe(200);
  });
});
