import { type AdminRole, adminRoles, establishFederation } from "@seneschal/core/keys";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemCall } from "../../src/gateway/ground/call.ts";
import { federations } from "../../src/gateway/partners/collections.ts";
import { tableAllows } from "./authorisation-table.ts";
import { callRoute, guardedRoutes } from "./guarded-routes.ts";
import { type Answer, type Caller, openRig, type Rig } from "./rig.ts";
import { makeTargets, type Targets } from "./samples.ts";

const hour = 3_600_000;
const refusedBy = ({ status, body }: Answer, action: string | undefined): boolean =>
  status === 403 && body.error.details.action === action;

/** A federated partner's certificate, as `federation/establish` signs one. */
async function partnerOf(rig: Rig, org: string, partner: string): Promise<{ readonly caller: Caller; readonly id: string }> {
  const { services } = rig.gateway;
  const now = rig.clock.now();
  const id = services.newId(now);
  const issued = await services.transact(systemCall("system:test", org, now), async (unit) => {
    const made = await services.pki.issueWithKey(unit, {
      org: partner,
      commonName: `federation.${partner}`,
      subject: { type: "partner", id },
      ttl: hour,
    });
    const signed = { certificate: made.certificate, serial_number: made.serial_number, expires_at: made.expiration };
    const url = { partner_url: "https://127.0.0.1:1", partner_cert: "x" };
    const federation = establishFederation({ id, org, partner_org_id: partner, ...url, signed }, now);
    unit.insert(federations, id, { ...federation, outbound_certificate: null, last_heard_at: null });
    return made;
  });
  return { id, caller: rig.with({ cert: issued.certificate + issued.issuing_ca, key: issued.private_key }) };
}

describe("every guarded route and every kind of caller", () => {
  let rig: Rig;
  let targets: Targets;
  const live: { name: string; caller: Caller; subject: { type: string; roles: AdminRole[] } }[] = [];
  beforeAll(async () => {
    rig = await openRig({ organizations: ["acme", "walker"] });
    targets = await makeTargets(rig);
    const root = rig.admin("walker");
    for (const role of adminRoles) {
      live.push({ name: `${role} by certificate`, caller: rig.admin("walker", role), subject: { type: "admin", roles: [role] } });
    }
    const { body: service } = await root("POST", "/api/v1/identities/services", { name: "mailer", auth_method: "cert" });
    const { certificate, private_key, ca_chain } = service.credentials;
    const mailer = rig.with({ cert: certificate + ca_chain[0], key: private_key });
    live.push({ name: "service", caller: mailer, subject: { type: "service", roles: [] } });
    const { body: issued } = await root("POST", "/api/v1/certificates/issue", { common_name: "sensor", ttl: "720h" });
    await root("POST", "/api/v1/identities/devices", {
      device_name: "sensor",
      device_type: "probe",
      cert_serial: issued.serial_number,
      cert_expiry: issued.expiration,
    });
    const sensor = rig.with({ cert: issued.certificate + issued.issuing_ca, key: issued.private_key });
    live.push({ name: "device", caller: sensor, subject: { type: "device", roles: [] } });
    const partner = await partnerOf(rig, "walker", "partner.example");
    live.push({ name: "partner", caller: partner.caller, subject: { type: "partner", roles: [] } });
    const { body: asked } = await sensor("POST", "/api/v1/emergency-access/request", { reason: "fire" });
    for (const role of ["super_admin", "security_admin"] as const) {
      await rig.admin("walker", role)("POST", `/api/v1/emergency-access/${asked.id}/approve`);
    }
    const { body: opened } = await sensor("GET", `/api/v1/emergency-access/${asked.id}`);
    const authorization = `Bearer ${opened.token}`;
    const broken: Caller = (method, path, body) => rig.anonymous(method, path, body, { authorization });
    live.push({ name: "emergency", caller: broken, subject: { type: "emergency", roles: ["super_admin"] } });
  });
  afterAll(() => rig.close());

  it("refuses exactly what the table refuses, and answers nothing of another organisation", async () => {
    for (const { name, caller, subject } of live) {
      for (const entry of guardedRoutes) {
        const [id, route] = entry;
        // It ends the federation that the walk still needs.
        if (id === "peerRevocation") continue;
        const answer = await callRoute(caller, entry, targets);
        const allowed = tableAllows({ scopes: [], permissions: [], ...subject }, route.action ?? "");
        expect([name, id, refusedBy(answer, route.action)], answer.text).toEqual([name, id, !allowed]);
        expect(answer.status, `${name} ${id} ${answer.text}`).toBeLessThan(500);
        if (allowed && /:(id|crk_id)/.test(route.path)) {
          expect([400, 403, 404], `${name} ${id} ${answer.text}`).toContain(answer.status);
        }
      }
    }
  });
});

describe("every guarded route and everybody whose credential is over", () => {
  let rig: Rig;
  let targets: Targets;
  const dead: { name: string; caller: Caller; answer: readonly [number, string, string?] }[] = [];
  beforeAll(async () => {
    rig = await openRig();
    targets = await makeTargets(rig);
    const acme = rig.admin("acme");
    const add = (name: string, caller: Caller, ...answer: readonly [number, string, string?]) =>
      dead.push({ name, caller, answer });
    const idOf = (role: AdminRole): string => rig.dev.organizations["acme"]?.admins[role].id ?? "";

    const token = rig.issuer.token({ sub: "late", org: "acme", roles: ["super_admin"] }, rig.clock.now() - hour);
    const late: Caller = (method, path, body) => rig.anonymous(method, path, body, { authorization: `Bearer ${token}` });
    add("an expired token", late, 401, "TOKEN_EXPIRED", "token expired");
    const forged = `${token.slice(0, -8)}AAAAAAAA`;
    const forger: Caller = (method, path, body) => rig.anonymous(method, path, body, { authorization: `Bearer ${forged}` });
    add("a forged token", forger, 401, "INVALID_TOKEN", "invalid token");

    const operator = rig.dev.organizations["acme"]?.admins.operations_admin;
    expect((await acme("POST", `/api/v1/identities/admins/${operator?.id}/certificate/renew`, {})).status).toBe(200);
    add("a revoked certificate", rig.admin("acme", "operations_admin"), 401, "CERT_UNTRUSTED", "untrusted certificate");

    expect((await acme("PUT", `/api/v1/identities/admins/${idOf("auditor")}`, { active: false })).status).toBe(200);
    add("a disabled admin's certificate", rig.admin("acme", "auditor"), 401, "CERT_UNTRUSTED", "untrusted certificate");
    add("a disabled admin's token", rig.bearer({ sub: idOf("auditor"), org: "acme", roles: ["super_admin"] }), 403, "FORBIDDEN");

    const user = { provider: "idp_a", subject: "gone", email: "gone@acme.example", name: "Gone", groups: [] };
    const { body: known } = await acme("POST", "/api/v1/identities/users/sso", user);
    await acme("DELETE", `/api/v1/identities/users/${known.id}`);
    add("a removed user's token", rig.bearer({ sub: "gone", org: "acme", roles: ["super_admin"] }), 403, "FORBIDDEN");

    const identities = "/api/v1/identities/services";
    const { body: service } = await acme("POST", identities, { name: "former", auth_method: "role_credential" });
    await acme("DELETE", `${identities}/${service.id}`);
    const secret = `Bearer sens_${service.credentials.role_id}.${service.credentials.secret_id}`;
    const former: Caller = (method, path, body) => rig.anonymous(method, path, body, { authorization: secret });
    add("a removed service's credential", former, 401, "INVALID_TOKEN", "invalid token");

    const { body: sensor } = await acme("POST", "/api/v1/certificates/issue", { common_name: "sensor", ttl: "720h" });
    await acme("POST", "/api/v1/identities/devices", {
      device_name: "sensor",
      device_type: "probe",
      cert_serial: sensor.serial_number,
      cert_expiry: new Date(rig.clock.now() + hour).toISOString(),
    });
    const expired = rig.with({ cert: sensor.certificate + sensor.issuing_ca, key: sensor.private_key });
    add("an expired device", expired, 403, "FORBIDDEN");

    const needy = rig.bearer({ sub: "in need", org: "acme" });
    const emergency = "/api/v1/emergency-access";
    const { body: asked } = await needy("POST", `${emergency}/request`, { reason: "fire" });
    for (const approver of [acme, rig.admin("acme", "security_admin")])
      await approver("POST", `${emergency}/${asked.id}/approve`);
    const { body: opened } = await needy("GET", `${emergency}/${asked.id}`);
    expect((await needy("POST", `${emergency}/${asked.id}/complete`)).status).toBe(200);
    const authorization = `Bearer ${opened.token}`;
    const spent: Caller = (method, path, body) => rig.anonymous(method, path, body, { authorization });
    add("a completed emergency", spent, 401, "INVALID_TOKEN", "invalid token");

    const partner = await partnerOf(rig, "acme", "former.example");
    const { services } = rig.gateway;
    await services.transact(systemCall("system:test", "acme", rig.clock.now()), async (unit) => {
      const federation = await unit.get(federations, partner.id);
      if (federation === undefined) throw new Error("no federation");
      unit.put(federations, partner.id, { ...federation, status: "revoked" });
    });
    add("a partner whose federation ended", partner.caller, 403, "FORBIDDEN");

    const issued = await services.transact(systemCall("system:test", "acme", rig.clock.now()), (unit) =>
      services.pki.issueWithKey(unit, {
        org: "acme",
        commonName: "old",
        subject: { type: "admin", id: idOf("super_admin") },
        ttl: hour,
      }),
    );
    const old = rig.with({ cert: issued.certificate + issued.issuing_ca, key: issued.private_key });
    add("an expired certificate", old, 401, "CERT_EXPIRED", "certificate expired");
    add("nobody", rig.anonymous, 401, "MTLS_REQUIRED", "certificate required");
  });
  afterAll(() => rig.close());

  it("refuses all of them on all routes, with one answer each, and changes nothing", async () => {
    const start = rig.clock.now();
    const head = (await rig.store.changes(0, 1_000_000)).at(-1)?.seq ?? 0;
    for (const { name, caller, answer } of dead) {
      // TLS goes by the host's clock, the gateway by its own.
      rig.clock.set(name.startsWith("an expired ") && !name.endsWith("token") ? start + 2 * hour : start);
      for (const entry of guardedRoutes) {
        const { status, body } = await callRoute(caller, entry, targets);
        const told = answer.length === 3 ? [body.error.code, body.error.message] : [body.error.code];
        expect([name, entry[0], status, ...told]).toEqual([name, entry[0], ...answer]);
      }
    }
    const written = new Set((await rig.store.changes(head, 1_000_000)).map(({ coll }) => coll));
    expect([...written].filter((coll) => coll !== "audit")).toEqual([]);
  });
});
