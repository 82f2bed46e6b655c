import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRig, type Rig } from "./rig.ts";

describe("lists", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  it("page through an organisation's workspaces once each; 50 are a page, and 100 events", async () => {
    const acme = rig.admin("acme");
    for (let i = 0; i < 101; i++) expect((await acme("POST", "/api/v1/workspaces", { name: `w${i}` })).status).toBe(201);
    const names = (body: { workspaces: { name: string }[] }) => body.workspaces.map(({ name }) => name);
    const first = (await acme("GET", "/api/v1/workspaces")).body;
    expect([first.count, first.total]).toEqual([50, 101]);
    const rest = (await acme("GET", "/api/v1/workspaces?limit=60&offset=50")).body;
    expect(rest.count).toBe(51);
    expect(new Set([...names(first), ...names(rest)]).size).toBe(101);
    expect((await rig.admin("globex")("GET", "/api/v1/workspaces")).body).toEqual({ workspaces: [], count: 0, total: 0 });
    for (const feed of ["audit", "activity"]) expect((await acme("GET", `/api/v1/${feed}`)).body.count, feed).toBe(100);
  });

  it("an inbox shows the newest 50 unless asked for more", async () => {
    const id = rig.dev.organizations["acme"]?.admins.auditor.id;
    const self = rig.admin("acme", "auditor");
    const letter = { recipient_org_id: "acme", recipient_id: id, subject: "s", body: "eA==" };
    for (let i = 0; i < 51; i++) expect((await self("POST", "/api/v1/messages", letter)).status).toBe(201);
    expect((await self("GET", "/api/v1/messages")).body.messages).toHaveLength(50);
    expect((await self("GET", "/api/v1/messages?limit=51")).body.messages).toHaveLength(51);
  });

  it("show what was made of users, services, groups, roles and devices, and nothing to others", async () => {
    const acme = rig.admin("acme");
    const path = (kind: string) => `/api/v1/identities/${kind}`;
    const made: Record<string, object> = {
      "users/sso": { provider: "idp_a", subject: "s", email: "s@acme.example", name: "S", groups: [] },
      services: { name: "billing", description: "", auth_method: "role_credential" },
      groups: { name: "board", description: "", vault_policies: [] },
      roles: { name: "reader", permissions: [{ resource: "device", action: "read" }] },
    };
    for (const [kind, body] of Object.entries(made)) {
      const created = await acme("POST", path(kind), body);
      expect(created.status, created.text).toBe(201);
      const plural = kind.split("/")[0] ?? "";
      const listed = (await acme("GET", path(plural))).body;
      expect([listed.count, listed.total]).toEqual([1, 1]);
      expect(listed[plural][0].id).toBe(created.body.id);
      expect((await rig.admin("globex")("GET", path(plural))).body[plural]).toEqual([]);
    }
    const issued = (await acme("POST", "/api/v1/certificates/issue", { common_name: "pump", ttl: "24h" })).body;
    const device = await acme("POST", path("devices"), {
      device_name: "pump",
      device_type: "iot",
      cert_serial: issued.serial_number,
      cert_expiry: issued.expiration,
    });
    expect(device.status, device.text).toBe(201);
    expect((await acme("GET", path("devices"))).body.devices).toMatchObject([{ id: device.body.id }]);
    expect((await acme("GET", path(`devices/${device.body.id}`))).body).toMatchObject({ cert_serial: issued.serial_number });
    expect((await rig.admin("globex")("GET", path(`devices/${device.body.id}`))).status).toBe(404);
  });

  it("a group changes its name and takes members of its organisation, each once", async () => {
    const acme = rig.admin("acme");
    const { body: group } = await acme("POST", "/api/v1/identities/groups", { name: "old", vault_policies: ["p"] });
    const path = `/api/v1/identities/groups/${group.id}`;
    expect((await acme("PUT", path, { name: "new" })).body).toMatchObject({ name: "new", vault_policies: ["p"] });
    const member = { identity_id: rig.dev.organizations["acme"]?.admins.auditor.id, identity_type: "admin" };
    expect((await acme("POST", `${path}/members`, member)).status).toBeLessThan(300);
    expect((await acme("POST", `${path}/members`, member)).status).toBe(409);
    const foreign = { identity_id: rig.dev.organizations["globex"]?.admins.auditor.id, identity_type: "admin" };
    expect((await acme("POST", `${path}/members`, foreign)).status).toBe(400);
    expect((await acme("GET", path)).body.members).toEqual([member]);
  });
});
