import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mfaFactors } from "../../src/gateway/people/collections.ts";
import { authenticatorApp } from "./authenticator-app.ts";
import { type Answer, type Caller, openRig, type Rig } from "./rig.ts";

const hour = 3_600_000;
const told = (answer: Answer): readonly [number, string | undefined] => [answer.status, answer.body?.error?.code];

describe("who was shut out stays out", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig({
      settings: {
        sso: {
          providers: [
            { id: "idp_a", groups: { "cn=treasury": "treasury" } },
            { id: "idp_b", groups: { T: "treasury", A: "audit room" } },
            { id: "idp_c" },
          ],
        },
      },
    });
  });
  afterAll(() => rig.close());
  const acme = (): Caller => rig.admin("acme");
  const adminOf = (role: "super_admin" | "security_admin" | "operations_admin" | "auditor", org = "acme") => {
    const admin = rig.dev.organizations[org]?.admins[role];
    if (admin === undefined) throw new Error(`no ${role}`);
    return admin;
  };
  const device = async (expiry: string) => {
    const { body: issued } = await acme()("POST", "/api/v1/certificates/issue", { common_name: "sensor", ttl: "720h" });
    const { body } = await acme()("POST", "/api/v1/identities/devices", {
      device_name: "sensor",
      device_type: "probe",
      cert_serial: issued.serial_number,
      cert_expiry: expiry,
    });
    const caller = rig.with({ cert: issued.certificate + issued.issuing_ca, key: issued.private_key });
    return { id: body.id as string, serial: issued.serial_number as string, caller };
  };

  it("a disabled admin has no way in: not by certificate, id, address or pending enrolment, from the next request on", async () => {
    const { id, email } = adminOf("auditor", "globex");
    const globex = rig.admin("globex");
    const roles = ["super_admin"];
    const ways: readonly Caller[] = [
      rig.admin("globex", "auditor"),
      rig.bearer({ sub: id, org: "globex", roles }),
      rig.bearer({ sub: "somebody", email: email.toUpperCase(), org: "globex", roles }),
    ];
    for (const way of ways) expect((await way("GET", "/api/v1/audit")).status).toBe(200);
    const subject = { provider: "idp_a", subject: "his-login", email, name: "X", groups: [] };
    await globex("POST", "/api/v1/identities/users/sso", subject);
    const registered = rig.bearer({ sub: "his-login", org: "globex", roles });
    expect((await registered("GET", "/api/v1/audit")).status).toBe(200);
    await globex("PUT", `/api/v1/identities/admins/${id}`, { active: false });
    const [certificate, ...tokens] = await Promise.all([...ways, registered].map((way) => way("GET", "/api/v1/audit")));
    expect(told(certificate as Answer)).toEqual([401, "CERT_UNTRUSTED"]);
    for (const token of tokens) expect(told(token)).toEqual([403, "FORBIDDEN"]);
    const { body: enabled } = await globex("PUT", `/api/v1/identities/admins/${id}`, { active: true });
    await globex("PUT", `/api/v1/identities/admins/${id}`, { active: false });
    const enrol = await rig.anonymous("POST", `/api/v1/enrollment/admins/${id}`, {
      enrollment_token: enabled.enrollment_token,
      csr: "x",
    });
    expect(told(enrol)).toEqual([401, "UNAUTHORIZED"]);
    const namesake = rig.bearer({ sub: "other", email, org: "acme", roles });
    expect((await namesake("GET", "/api/v1/audit")).status).toBe(200);
  });

  it("a device is refused at the expiry that it was enrolled with, though its certificate is good for longer", async () => {
    const { id, caller } = await device(new Date(rig.clock.now() + hour).toISOString());
    expect((await caller("GET", "/api/v1/activity")).body.actor).toBe(id);
    rig.clock.advance(hour - 1);
    expect((await caller("GET", "/api/v1/activity")).status).toBe(200);
    rig.clock.advance(1);
    expect(told(await caller("GET", "/api/v1/activity"))).toEqual([403, "FORBIDDEN"]);
    const past = new Date(rig.clock.now() - 1).toISOString();
    const { body: issued } = await acme()("POST", "/api/v1/certificates/issue", { common_name: "late" });
    const late = await acme()("POST", "/api/v1/identities/devices", {
      device_name: "late",
      cert_serial: issued.serial_number,
      cert_expiry: past,
    });
    expect([late.status, late.body.error.details.field]).toEqual([400, "cert_expiry"]);
    rig.clock.advance(-hour);
  });

  it("a serial that is revoked is refused on the next request of its open connection, and enrols nothing again", async () => {
    const expiry = new Date(rig.clock.now() + 24 * hour).toISOString();
    const { serial, caller } = await device(expiry);
    expect((await caller("GET", "/api/v1/activity")).status).toBe(200);
    const spelled = serial.replaceAll(":", "").toUpperCase();
    expect((await acme()("POST", "/api/v1/certificates/revoke", { serial_number: spelled })).status).toBe(204);
    expect(told(await caller("GET", "/api/v1/activity"))).toEqual([401, "CERT_UNTRUSTED"]);
    const again = await acme()("POST", "/api/v1/identities/devices", {
      device_name: "again",
      cert_serial: serial,
      cert_expiry: expiry,
    });
    expect(again.status).toBe(409);
    for (const serial_of_nobody of ["aa:bb", "00"]) {
      const unknown = await acme()("POST", "/api/v1/identities/devices", {
        device_name: "unknown",
        cert_serial: serial_of_nobody,
        cert_expiry: expiry,
      });
      expect([unknown.status, unknown.body.error.details.field]).toEqual([400, "cert_serial"]);
    }
    const foreign = await rig.admin("globex")("POST", "/api/v1/certificates/revoke", {
      serial_number: adminOf("auditor").serial_number,
    });
    expect(foreign.status).toBe(404);
    expect((await rig.admin("acme", "auditor")("GET", "/api/v1/audit")).status).toBe(200);
  });

  it("a code of the second factor is good once: not again at the same moment, nor an older one after it", async () => {
    const owner = rig.admin("acme", "security_admin");
    const base = `/api/v1/identities/admins/${adminOf("security_admin").id}`;
    const { body } = await owner("POST", `${base}/mfa/enable`);
    const code = authenticatorApp(body.provisioning_url, () => rig.clock.now());
    const verify = (totp_code: string): Promise<Answer> => owner("POST", `${base}/mfa/verify`, { totp_code });
    expect((await verify(code(2))).status).toBe(401);
    expect((await owner("GET", base)).body.mfa_enabled).toBe(false);
    const race = await Promise.all(Array.from({ length: 4 }, () => verify(code())));
    expect(race.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    const codes = race.find(({ status }) => status === 200)?.body.recovery_codes as string[];
    expect((await verify(code(1))).status).toBe(200);
    expect((await verify(code())).status).toBe(401);
    const [recovery = ""] = codes;
    const spent = await Promise.all([recovery, recovery].map((one) => owner("POST", `${base}/mfa/verify`, { code: one })));
    expect(spent.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect(new Set(codes).size).toBe(10);
    const kept = JSON.stringify((await rig.store.get(mfaFactors.name, adminOf("security_admin").id))?.doc ?? {});
    for (const one of codes) expect(kept).not.toContain(one);
  });

  it("each configured provider maps its own groups, and a subject that was removed at one provider is removed", async () => {
    const { body: treasury } = await acme()("POST", "/api/v1/identities/groups", { name: "treasury" });
    const { body: audit } = await acme()("POST", "/api/v1/identities/groups", { name: "audit room" });
    const come = async (provider: string, subject: string, groups: readonly string[]) => {
      const body = { provider, subject, email: `${subject}@acme.example`, name: subject, groups };
      return (await acme()("POST", "/api/v1/identities/users/sso", body)).body.id as string;
    };
    const a = await come("idp_a", "ann", ["cn=treasury", "T"]);
    const b = await come("idp_b", "ben", ["T", "A", "cn=treasury"]);
    const c = await come("idp_c", "cyd", ["T", "A", "audit room"]);
    const members = async (id: string) =>
      (await acme()("GET", `/api/v1/identities/groups/${id}`)).body.members.map((m: { identity_id: string }) => m.identity_id);
    expect((await members(treasury.id)).sort()).toEqual([a, b].sort());
    expect((await members(audit.id)).sort()).toEqual([b, c].sort());
    await come("idp_b", "ann", []);
    const ann = rig.bearer({ sub: "ann", org: "acme" });
    expect((await ann("GET", "/api/v1/activity")).status).toBe(200);
    await acme()("DELETE", `/api/v1/identities/users/${a}`);
    expect(told(await ann("GET", "/api/v1/activity"))).toEqual([403, "FORBIDDEN"]);
    expect(await members(treasury.id)).toEqual([b]);
  });
});
