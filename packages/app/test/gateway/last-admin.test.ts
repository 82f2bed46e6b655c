import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { register } from "./registered.ts";
import { type Answer, type Caller, openRig, type Rig } from "./rig.ts";

const told = (answer: Answer): readonly [number, string] => [answer.status, answer.body?.error?.code];

describe("the rights of admins end through who gives them", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());
  const record = (role: "super_admin" | "security_admin" | "operations_admin" | "auditor") => {
    const admin = rig.dev.organizations["acme"]?.admins[role];
    if (admin === undefined) throw new Error("no such admin");
    return admin;
  };

  /** Everybody who has some power and is not the super admin. */
  const powers = async (): Promise<readonly (readonly [string, Caller])[]> => {
    const root = rig.admin("acme");
    const { body: role } = await root("POST", "/api/v1/identities/roles", {
      name: "certifier",
      permissions: [
        { resource: "certificate", action: "write" },
        { resource: "user", action: "write" },
      ],
    });
    const identity_id = await register(root, "certifier");
    await root("POST", `/api/v1/identities/roles/${role.id}/assign`, { identity_id, identity_type: "user" });
    const person = rig.bearer({ sub: "night", org: "acme" });
    const { body: asked } = await person("POST", "/api/v1/emergency-access/request", { reason: "r" });
    for (const by of ["super_admin", "security_admin"] as const) {
      await rig.admin("acme", by)("POST", `/api/v1/emergency-access/${asked.id}/approve`);
    }
    const { body: granted } = await person("GET", `/api/v1/emergency-access/${asked.id}`);
    const glass: Caller = (method, path, body) => rig.anonymous(method, path, body, { authorization: `Bearer ${granted.token}` });
    return [
      ["security_admin", rig.admin("acme", "security_admin")],
      ["operations_admin", rig.admin("acme", "operations_admin")],
      ["a custom role", rig.bearer({ sub: "certifier", org: "acme" })],
      ["an emergency token", glass],
    ];
  };

  it("nobody takes the last super admin out, on any road", async () => {
    const root = rig.admin("acme");
    const { id, serial_number, email } = record("super_admin");
    const self = `/api/v1/identities/admins/${id}`;
    const all = await powers();
    for (const [who, by] of all) {
      const revoked = await by("POST", "/api/v1/certificates/revoke", { serial_number });
      expect([who, ...told(revoked)]).toEqual([who, 403, "FORBIDDEN"]);
      for (const answer of [
        await by("PUT", self, { active: false }),
        await by("PUT", self, { role: "auditor" }),
        await by("DELETE", self),
        await by("POST", `${self}/certificate/renew`, {}),
      ]) {
        expect([who, ...told(answer)]).toEqual([who, 403, "FORBIDDEN"]);
      }
      // The mark that a removed user leaves refuses the tokens of its subject.
      const planted = await by("POST", "/api/v1/identities/users/sso", {
        provider: "idp_a",
        subject: id,
        email: `${who.length}@acme.example`,
        name: "x",
        groups: [],
      });
      expect([who, ...told(planted)]).toEqual([who, 400, "VALIDATION_ERROR"]);
    }
    for (const answer of [
      await root("PUT", self, { active: false }),
      await root("PUT", self, { role: "auditor" }),
      await root("DELETE", self),
    ]) {
      expect(told(answer)).toEqual([409, "LAST_ADMIN"]);
    }
    expect(told(await root("POST", "/api/v1/certificates/revoke", { serial_number }))).toEqual([403, "FORBIDDEN"]);
    const user = await register(root, "the-super-admin-again", email);
    for (const [who, by] of all) {
      expect([who, ...told(await by("DELETE", `/api/v1/identities/users/${user}`))]).toEqual([who, 403, "FORBIDDEN"]);
    }
    expect((await root("GET", self)).body).toMatchObject({ active: true, cert_serial: serial_number });
    expect((await root("DELETE", `/api/v1/identities/users/${user}`)).status).toBe(204);
  });

  it("a certificate of an admin ends with the admin, all of them at once; other certificates end by their serials", async () => {
    const root = rig.admin("acme");
    const operator = rig.admin("acme", "operations_admin");
    const { id, serial_number } = record("auditor");
    expect(told(await operator("POST", "/api/v1/certificates/revoke", { serial_number }))).toEqual([403, "FORBIDDEN"]);
    expect((await rig.admin("acme", "auditor")("GET", "/api/v1/identities/groups")).status).toBe(200);
    const { body: renewed } = await rig.admin("acme", "auditor")("POST", `/api/v1/identities/admins/${id}/certificate/renew`, {});
    // Revoked by its renewal already: nothing is refused, nothing changes.
    expect((await operator("POST", "/api/v1/certificates/revoke", { serial_number })).status).toBe(204);
    expect((await root("PUT", `/api/v1/identities/admins/${id}`, { active: false })).status).toBe(200);
    const { body } = await root("GET", "/api/v1/certificates?limit=1000");
    const theirs = body.certificates.filter((one: { common_name: string }) => one.common_name === record("auditor").email);
    expect(theirs.map((one: { serial_number: string }) => one.serial_number)).toContain(renewed.serial_number);
    for (const one of theirs) expect(one.status).toBe("revoked");
    const { body: issued } = await operator("POST", "/api/v1/certificates/issue", { common_name: "sensor" });
    const ended = await operator("POST", "/api/v1/certificates/revoke", { serial_number: issued.serial_number });
    expect(ended.status).toBe(204);
  });
});
