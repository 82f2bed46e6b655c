import { createPrivateKey, X509Certificate } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authenticatorApp } from "./authenticator-app.ts";
import { registered } from "./registered.ts";
import { openRig, type Rig } from "./rig.ts";

describe("identities", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());
  const idOf = (role: "super_admin" | "security_admin" | "operations_admin" | "auditor", org = "acme"): string =>
    rig.dev.organizations[org]?.admins[role].id ?? "";

  it("disabling an admin ends access on the very next request, and the last super admin stays", async () => {
    const acme = rig.admin("acme");
    const auditor = rig.admin("acme", "auditor");
    expect((await auditor("GET", "/api/v1/audit")).status).toBe(200);
    const disabled = await acme("PUT", `/api/v1/identities/admins/${idOf("auditor")}`, { active: false });
    expect(disabled.body).toMatchObject({ active: false, enrollment_status: "disabled" });
    const refused = await auditor("GET", "/api/v1/audit");
    expect([401, 403]).toContain(refused.status);
    const last = await acme("PUT", `/api/v1/identities/admins/${idOf("super_admin")}`, { role: "auditor" });
    expect([last.status, last.body.error.code]).toEqual([409, "LAST_ADMIN"]);
    const enabled = await acme("PUT", `/api/v1/identities/admins/${idOf("auditor")}`, { active: true });
    expect(enabled.body).toMatchObject({ active: true, enrollment_status: "pending" });
    expect(enabled.body.enrollment_token).toMatch(/^senr_/);
    expect([401, 403]).toContain((await auditor("GET", "/api/v1/audit")).status);
  });

  it("two super admins who disable each other at the same moment do not both succeed", async () => {
    const globex = rig.admin("globex");
    const promoted = await globex("PUT", `/api/v1/identities/admins/${idOf("security_admin", "globex")}`, {
      role: "super_admin",
    });
    expect(promoted.status, promoted.text).toBe(200);
    const other = rig.admin("globex", "security_admin");
    const answers = await Promise.all([
      globex("PUT", `/api/v1/identities/admins/${idOf("security_admin", "globex")}`, { active: false }),
      other("PUT", `/api/v1/identities/admins/${idOf("super_admin", "globex")}`, { active: false }),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const winner = answers[0].status === 200 ? globex : other;
    const { body } = await winner("GET", "/api/v1/identities/admins?limit=1000");
    const supers = body.admins.filter(
      (a: { role: string; enrollment_status: string }) => a.role === "super_admin" && a.enrollment_status === "active",
    );
    expect(supers).toHaveLength(1);
  });

  it("a created admin enrols once with its token; e-mails are unique; deletion ends it", async () => {
    const acme = rig.admin("acme");
    const created = await acme("POST", "/api/v1/identities/admins", { email: "new@acme.example", name: "New", role: "auditor" });
    expect(created.status, created.text).toBe(201);
    const again = await acme("POST", "/api/v1/identities/admins", { email: "NEW@acme.example", name: "New", role: "auditor" });
    expect([again.status, again.body.error.code]).toEqual([409, "CONFLICT"]);
    expect((await acme("GET", `/api/v1/identities/admins/${created.body.id}`)).body).not.toHaveProperty("enrollment_token");
    const setup = `/api/v1/enrollment/admins/${created.body.id}/setup`;
    expect((await rig.anonymous("GET", setup)).body).not.toHaveProperty("email");
    const first = await rig.anonymous("GET", `${setup}?token=${created.body.enrollment_token}`);
    expect(first.body).toMatchObject({ email: "new@acme.example", provisioning_url: expect.stringMatching(/^otpauth:/) });
    const second = await rig.anonymous("GET", `${setup}?token=${created.body.enrollment_token}`);
    expect(second.body).not.toHaveProperty("provisioning_url");
    expect((await acme("DELETE", `/api/v1/identities/admins/${created.body.id}`)).status).toBe(204);
    const gone = await rig.anonymous("POST", `/api/v1/enrollment/admins/${created.body.id}`, {
      enrollment_token: created.body.enrollment_token,
      csr: "x",
    });
    expect(gone.status).toBe(401);
  });

  it("a second factor counts only after a verified code, a code works once, five failures lock it", async () => {
    const operator = rig.admin("acme", "operations_admin");
    const base = `/api/v1/identities/admins/${idOf("operations_admin")}`;
    const foreign = await rig.admin("acme")("POST", `${base}/mfa/enable`);
    expect(foreign.status).toBe(403);
    const { body } = await operator("POST", `${base}/mfa/enable`);
    expect((await operator("GET", base)).body.mfa_enabled).toBe(false);
    const code = authenticatorApp(body.provisioning_url, () => rig.clock.now());
    const first = await operator("POST", `${base}/mfa/verify`, { totp_code: code() });
    expect(first.body).toMatchObject({ verified: true });
    expect(first.body.recovery_codes).toHaveLength(10);
    expect((await operator("GET", base)).body.mfa_enabled).toBe(true);
    const replayed = await operator("POST", `${base}/mfa/verify`, { totp_code: code() });
    expect([replayed.status, replayed.body.error.code]).toEqual([401, "MFA_INVALID"]);
    expect((await operator("POST", `${base}/mfa/enable`)).status).toBe(409);
    const [recovery] = first.body.recovery_codes;
    expect((await operator("POST", `${base}/mfa/verify`, { code: recovery })).body).toEqual({ verified: true });
    expect((await operator("POST", `${base}/mfa/verify`, { code: recovery })).status).toBe(401);
    const wrong = code(1) === "000000" ? "000001" : "000000";
    for (let i = 0; i < 4; i++) expect((await operator("POST", `${base}/mfa/verify`, { totp_code: wrong })).status).toBe(401);
    expect((await operator("POST", `${base}/mfa/verify`, { totp_code: code(1) })).status).toBe(429);
  });

  it("a renewed certificate carries the same key, and the old serial stops working", async () => {
    const role = "security_admin";
    const admin = rig.dev.organizations["acme"]?.admins[role];
    const security = rig.admin("acme", role);
    const renewed = await security("POST", `/api/v1/identities/admins/${idOf(role)}/certificate/renew`, {});
    expect(renewed.status, renewed.text).toBe(200);
    const fresh = new X509Certificate(renewed.body.certificate);
    expect(fresh.checkPrivateKey(createPrivateKey(admin?.private_key ?? ""))).toBe(true);
    const old = await security("GET", "/api/v1/identities/groups");
    expect([old.status, old.body.error.code]).toEqual([401, "CERT_UNTRUSTED"]);
    const now = rig.with({ cert: renewed.body.certificate + renewed.body.ca_chain[0], key: admin?.private_key ?? "" });
    expect((await now("GET", "/api/v1/identities/groups")).status).toBe(200);
  });

  it("users come from a configured provider with group mapping; a removed user's tokens are refused", async () => {
    const acme = rig.admin("acme");
    const group = await acme("POST", "/api/v1/identities/groups", { name: "analysts" });
    expect(group.status, group.text).toBe(201);
    const body = { provider: "idp_a", subject: "sub-1", email: "u@acme.example", name: "U", groups: ["analysts", "elsewhere"] };
    const unknown = await acme("POST", "/api/v1/identities/users/sso", { ...body, provider: "idp_z" });
    expect([unknown.status, unknown.body.error.details.field]).toEqual([400, "provider"]);
    const user = await acme("POST", "/api/v1/identities/users/sso", body);
    expect(user.status, user.text).toBe(201);
    expect((await acme("POST", "/api/v1/identities/users/sso", body)).status).toBe(409);
    expect((await acme("GET", `/api/v1/identities/groups/${group.body.id}`)).body.members).toEqual([
      { identity_id: user.body.id, identity_type: "user" },
    ]);
    const bearer = rig.bearer({ sub: "sub-1", org: "acme" });
    expect((await bearer("GET", "/api/v1/activity")).body.actor).toBe(user.body.id);
    expect((await acme("DELETE", `/api/v1/identities/users/${user.body.id}`)).status).toBe(204);
    expect((await acme("GET", `/api/v1/identities/users/${user.body.id}`)).status).toBe(404);
    expect((await bearer("GET", "/api/v1/activity")).status).toBe(403);
    expect((await acme("GET", `/api/v1/identities/groups/${group.body.id}`)).body.members).toEqual([]);
  });

  it("group membership and join requests: nobody approves their own, a decision stands", async () => {
    const acme = rig.admin("acme");
    const { body: group } = await acme("POST", "/api/v1/identities/groups", { name: "board", vault_policies: ["p"] });
    const base = `/api/v1/identities/groups/${group.id}`;
    const person = rig.bearer({ sub: "pat", org: "acme" });
    const asked = await person("POST", `${base}/join-requests`, { reason: "please" });
    expect(asked.status, asked.text).toBe(201);
    expect((await person("POST", `${base}/join-requests`, {})).status).toBe(409);
    expect((await person("POST", `${base}/join-requests/${asked.body.id}/approve`)).status).toBe(403);
    expect((await acme("GET", `${base}/join-requests`)).body).toMatchObject({ count: 1, total: 1 });
    const approved = await acme("POST", `${base}/join-requests/${asked.body.id}/approve`);
    expect(approved.body).toMatchObject({ status: "approved", requester_id: "pat" });
    expect((await acme("POST", `${base}/join-requests/${asked.body.id}/deny`)).status).toBe(409);
    expect((await acme("GET", base)).body.members).toEqual([{ identity_id: "pat", identity_type: "user" }]);
    expect((await acme("DELETE", `${base}/members/pat`)).status).toBe(204);
    expect((await acme("DELETE", `${base}/members/pat`)).status).toBe(404);
    const own = await acme("POST", `${base}/join-requests`, {});
    expect((await acme("POST", `${base}/join-requests/${own.body.id}/approve`)).status).toBe(403);
    expect((await rig.admin("globex", "auditor")("GET", base)).status).toBe(404);
  });

  it("nothing is given to whom the organisation has no record of, or removed", async () => {
    const acme = rig.admin("acme");
    const { id: removed } = await registered(rig, acme, { sub: "removed", org: "acme" });
    expect((await acme("DELETE", `/api/v1/identities/users/${removed}`)).status).toBe(204);
    const { body: group } = await acme("POST", "/api/v1/identities/groups", { name: "for the known" });
    const { body: role } = await acme("POST", "/api/v1/identities/roles", {
      name: "for the known",
      permissions: [{ resource: "device", action: "read" }],
    });
    const { body: workspace } = await acme("POST", "/api/v1/workspaces", { name: "for the known" });
    const foreign = rig.dev.organizations["globex"]?.admins.auditor.id;
    for (const path of [
      `identities/groups/${group.id}/members`,
      `identities/roles/${role.id}/assign`,
      `workspaces/${workspace.id}/admissions`,
    ]) {
      for (const identity_type of ["user", "admin", "service", "device"]) {
        for (const identity_id of ["mistyped", removed, foreign]) {
          const refused = await acme("POST", `/api/v1/${path}`, { identity_id, identity_type });
          expect([refused.status, refused.body.error.details.field], `${path} ${identity_type}`).toEqual([400, "identity_id"]);
        }
      }
    }
  });

  it("a custom role really feeds authorisation, is never one's own doing, and never gives more than the giver has", async () => {
    const acme = rig.admin("acme");
    const { id: robin, call: person } = await registered(rig, acme, { sub: "robin", org: "acme" });
    expect((await person("GET", "/api/v1/identities/devices")).status).toBe(403);
    const { body: role } = await acme("POST", "/api/v1/identities/roles", {
      name: "device reader",
      permissions: [{ resource: "device", actions: ["read"] }],
    });
    expect(role.permissions).toEqual([{ resource: "device", action: "read" }]);
    for (const permission of [
      { resource: "nonsense", action: "fly" },
      { resource: "device", action: "fly" },
      { resource: "*", action: "fly" },
    ]) {
      const mistyped = await rig.admin("acme")("POST", "/api/v1/identities/roles", {
        name: "mistyped",
        permissions: [permission],
      });
      expect([mistyped.status, mistyped.body.error.details.field]).toEqual([400, "permissions[0]"]);
    }
    const assign = { identity_id: robin, identity_type: "user", assigned_by: "somebody else" };
    expect((await acme("POST", `/api/v1/identities/roles/${role.id}/assign`, assign)).status).toBe(204);
    expect((await person("GET", "/api/v1/identities/devices")).status).toBe(200);
    expect((await person("GET", "/api/v1/certificates")).status).toBe(403);
    const read = await acme("GET", `/api/v1/identities/roles/${role.id}`);
    expect(read.body.assignments).toEqual([{ identity_id: robin, identity_type: "user", assigned_by: idOf("super_admin") }]);
    const self = await acme("POST", `/api/v1/identities/roles/${role.id}/assign`, {
      identity_id: idOf("super_admin"),
      identity_type: "admin",
    });
    expect([self.status, self.body.error.code]).toEqual([403, "FORBIDDEN"]);
    expect((await acme("DELETE", `/api/v1/identities/roles/${role.id}/assignments/${robin}`)).status).toBe(204);
    expect((await person("GET", "/api/v1/identities/devices")).status).toBe(403);
  });

  it("an issued certificate enrols a device that acts by it until it is revoked", async () => {
    const acme = rig.admin("acme");
    const reserved = await acme("POST", "/api/v1/certificates/issue", { common_name: "evil.internal.local" });
    expect([reserved.status, reserved.body.error.details.field]).toEqual([400, "common_name"]);
    const { body: issued } = await acme("POST", "/api/v1/certificates/issue", {
      common_name: "sensor-1",
      alt_names: ["sensor-1.example", "10.0.0.7"],
      ttl: "720h",
    });
    expect(issued).toMatchObject({ status: "active", common_name: "sensor-1", private_key_type: "ec" });
    const caller = rig.with({ cert: issued.certificate + issued.issuing_ca, key: issued.private_key });
    expect((await caller("GET", "/api/v1/activity")).status).toBe(401);
    const enrolled = await acme("POST", "/api/v1/identities/devices", {
      device_name: "sensor",
      device_type: "probe",
      cert_serial: issued.serial_number,
      cert_expiry: issued.expiration,
    });
    expect(enrolled.status, enrolled.text).toBe(201);
    expect((await caller("GET", "/api/v1/activity")).body.actor).toBe(enrolled.body.id);
    const twice = await acme("POST", "/api/v1/identities/devices", {
      device_name: "copy",
      cert_serial: issued.serial_number.replaceAll(":", ""),
      cert_expiry: issued.expiration,
    });
    expect(twice.status).toBe(409);
    expect((await acme("POST", `/api/v1/identities/devices/${enrolled.body.id}/revoke`)).body.status).toBe("revoked");
    expect((await caller("GET", "/api/v1/activity")).status).toBe(401);
    const crl = await rig.anonymous("GET", "/api/v1/crl/acme");
    expect(crl.headers.get("content-type")).toContain("application/pkix-crl");
    expect((await acme("GET", `/api/v1/certificates/${issued.serial_number}`)).body.status).toBe("revoked");
    expect((await acme("POST", "/api/v1/certificates/revoke", { serial_number: issued.serial_number })).status).toBe(204);
    expect((await acme("GET", "/api/v1/certificates/ca-chain")).body.ca_chain.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    expect((await rig.admin("globex", "auditor")("GET", `/api/v1/certificates/${issued.serial_number}`)).status).toBe(404);
  });

  it("tidying drops what ended a safety buffer ago and nothing else", async () => {
    const acme = rig.admin("acme");
    const before = (await acme("GET", "/api/v1/certificates?limit=1000")).body.total;
    await acme("POST", "/api/v1/certificates/issue", { common_name: "short", ttl: "1s" });
    rig.clock.set(rig.clock.now() + 3_600_000);
    expect((await acme("POST", "/api/v1/certificates/tidy", {})).body.message).toMatch(/^0 certificates/);
    expect((await acme("POST", "/api/v1/certificates/tidy", { safety_buffer: "30m" })).body.message).toMatch(/^1 certificate /);
    expect((await acme("GET", "/api/v1/certificates?limit=1000")).body.total).toBe(before);
  });
});
