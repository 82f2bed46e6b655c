import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registered } from "./registered.ts";
import { type Caller, openRig, type Rig } from "./rig.ts";

describe("what an emergency token made", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  const base = "/api/v1/emergency-access";
  const glass = async (): Promise<{ readonly id: string; readonly by: Caller; readonly person: Caller }> => {
    const person = rig.bearer({ sub: "night-shift", org: "acme" });
    const { body: asked } = await person("POST", `${base}/request`, { reason: "the castle burns" });
    for (const role of ["super_admin", "security_admin"] as const) {
      expect((await rig.admin("acme", role)("POST", `${base}/${asked.id}/approve`)).status).toBe(200);
    }
    const { token } = (await person("GET", `${base}/${asked.id}`)).body;
    const by: Caller = (method, path, body) => rig.anonymous(method, path, body, { authorization: `Bearer ${token}` });
    return { id: asked.id, by, person };
  };

  it("is listed with the request, whole, and ended by one call after it is over; what people made stays", async () => {
    const acme = rig.admin("acme");
    const accomplice = await registered(rig, acme, { org: "acme", sub: "accomplice" });
    const { body: ours } = await acme("POST", "/api/v1/identities/services", { name: "ours", auth_method: "role_credential" });
    const { body: theirs } = await acme("POST", "/api/v1/workspaces", { name: "theirs" });
    const { id, by, person } = await glass();
    const before = (await rig.store.changes(0, 1_000_000)).at(-1)?.seq ?? 0;
    const make = async (path: string, body: object) => {
      const made = await by("POST", `/api/v1/${path}`, body);
      expect(made.status, `${path} ${made.text}`).toBeLessThan(300);
      return made.body;
    };
    const member = { identity_id: accomplice.id, identity_type: "user" };
    const service = await make("identities/services", { name: "back-door", auth_method: "role_credential" });
    const certificate = await make("certificates/issue", { common_name: "sensor" });
    const enrolled = await make("certificates/issue", { common_name: "camera" });
    const device = await make("identities/devices", {
      device_name: "camera",
      device_type: "c",
      cert_serial: enrolled.serial_number,
      cert_expiry: enrolled.expiration,
    });
    const role = await make("identities/roles", { name: "everything", permissions: [{ resource: "*", action: "*" }] });
    await make(`identities/roles/${role.id}/assign`, member);
    const group = await make("identities/groups", { name: "friends" });
    await make(`identities/groups/${group.id}/members`, member);
    await make(`workspaces/${theirs.id}/admissions`, member);
    const wish = { provider: "idp_a", subject: "sleeper", email: "sleeper@x.example", name: "Sleeper", groups: [] };
    const user = await make("identities/users/sso", wish);
    const workspace = await make("workspaces", { name: "hoard" });
    await make(`identities/services/${ours.id}/rotate`, {});

    const written = (await rig.store.changes(before, 1_000_000)).map(({ coll, id: key }) => `${coll}/${key}`);
    const { acts } = (await person("GET", `${base}/${id}`)).body;
    const listed = new Set(acts.map((act: { resource_id: string }) => act.resource_id));
    // Keys of a workspace come and go with it; counters and remembered answers open nothing.
    const inner = /^(emergency_acts|workspace_seats|dek_uses|idempotency|checkpoints|audit|organization|authorities)/;
    for (const key of written) {
      if (inner.test(key)) continue;
      expect(listed, key).toContain(key.slice(key.indexOf("/") + 1));
    }
    const kinds = acts.filter((act: { act: string }) => act.act === "made").map((act: { kind: string }) => act.kind);
    expect(new Set(kinds)).toEqual(
      new Set([
        "service",
        "certificate",
        "device",
        "role",
        "role-assignment",
        "group",
        "group-member",
        "admission",
        "user",
        "workspace",
      ]),
    );
    expect(acts).toContainEqual(
      expect.objectContaining({ act: "changed", kind: "service", resource_id: ours.id, revocable: false }),
    );

    expect((await accomplice.call("POST", `/api/v1/workspaces/${theirs.id}/encrypt`, { plaintext: "eA==" })).status).toBe(200);
    expect((await accomplice.call("GET", "/api/v1/identities/admins")).status).toBe(200);
    const secret = service.credentials;
    const door: Caller = (method, path, body) =>
      rig.anonymous(method, path, body, { authorization: `Bearer sens_${secret.role_id}.${secret.secret_id}` });
    expect((await door("GET", "/api/v1/organizations")).status).toBe(200);

    expect((await person("POST", `${base}/${id}/complete`)).status).toBe(200);
    for (const refused of [by, person, accomplice.call, rig.admin("acme", "auditor")]) {
      expect([401, 403]).toContain((await refused("POST", `${base}/${id}/revoke`)).status);
    }
    expect((await rig.admin("globex")("POST", `${base}/${id}/revoke`)).status).toBe(404);
    const revoked = await acme("POST", `${base}/${id}/revoke`, { reason: "nothing burnt" });
    expect(revoked.body, revoked.text).toEqual({ ended: kinds.length - 1 });
    expect((await acme("POST", `${base}/${id}/revoke`)).body).toEqual({ ended: 0 });

    expect((await accomplice.call("POST", `/api/v1/workspaces/${theirs.id}/encrypt`, { plaintext: "eA==" })).status).toBe(403);
    expect((await accomplice.call("GET", "/api/v1/identities/admins")).status).toBe(403);
    expect((await door("GET", "/api/v1/organizations")).status).toBe(401);
    for (const path of [
      `identities/services/${service.id}`,
      `identities/roles/${role.id}`,
      `identities/groups/${group.id}`,
      `identities/users/${user.id}`,
    ]) {
      expect([path, (await acme("GET", `/api/v1/${path}`)).status]).toEqual([path, 404]);
    }
    for (const { serial_number } of [certificate, enrolled]) {
      expect((await acme("GET", `/api/v1/certificates/${serial_number}`)).body.status).toBe("revoked");
    }
    expect((await acme("GET", `/api/v1/identities/devices/${device.id}`)).body.status).toBe("revoked");
    for (const stays of [`identities/services/${ours.id}`, `workspaces/${theirs.id}`, `workspaces/${workspace.id}`]) {
      expect((await acme("GET", `/api/v1/${stays}`)).status).toBe(200);
    }
    const after = (await acme("GET", `${base}/${id}`)).body.acts;
    for (const act of after) {
      const ended = act.act === "made" && act.kind !== "workspace";
      expect(act.ended_at !== null, JSON.stringify(act)).toBe(ended);
      expect(act.revocable).toBe(false);
    }
  });
});
