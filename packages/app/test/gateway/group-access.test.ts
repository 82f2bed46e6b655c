import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registered } from "./registered.ts";
import { type Caller, openRig, type Rig } from "./rig.ts";

describe("membership of a group decides", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  /** A group with a confidential workspace bound to it, and what somebody may do there. */
  const bound = async (name: string) => {
    const acme = rig.admin("acme");
    const { body: group } = await acme("POST", "/api/v1/identities/groups", { name });
    const made = await acme("POST", "/api/v1/workspaces", { name: `of ${name}`, group_id: group.id });
    expect(made.status, made.text).toBe(201);
    const path = `/api/v1/workspaces/${made.body.id}`;
    const encrypts = async (caller: Caller): Promise<readonly [number, string | undefined]> => {
      const { status, body } = await caller("POST", `${path}/encrypt`, { plaintext: "aGk=" });
      return [status, body.error?.code];
    };
    return { group: `/api/v1/identities/groups/${group.id}`, encrypts };
  };
  const admitted = [200, undefined] as const;
  const refused = [403, "NOT_ADMITTED"] as const;

  it("an approved join request admits to what the group is bound to, a pending or denied one does not, leaving ends it", async () => {
    const acme = rig.admin("acme");
    const { group, encrypts } = await bound("readers");
    const pat = rig.bearer({ sub: "pat", org: "acme" });
    const asked = await pat("POST", `${group}/join-requests`, {});
    expect(await encrypts(pat)).toEqual(refused);
    expect((await acme("POST", `${group}/join-requests/${asked.body.id}/deny`)).status).toBe(200);
    expect(await encrypts(pat)).toEqual(refused);
    const again = await pat("POST", `${group}/join-requests`, {});
    expect((await acme("POST", `${group}/join-requests/${again.body.id}/approve`)).status).toBe(200);
    expect(await encrypts(pat)).toEqual(admitted);
    expect((await acme("DELETE", `${group}/members/pat`)).status).toBe(204);
    expect(await encrypts(pat)).toEqual(refused);
  });

  it("no way of asking makes access by group outlive the membership, and what is made SECRET is no longer open by it", async () => {
    const acme = rig.admin("acme");
    const { body: group } = await acme("POST", "/api/v1/identities/groups", { name: "passers-by" });
    const { body: workspace } = await acme("POST", "/api/v1/workspaces", { name: "passing", group_id: group.id });
    const path = `/api/v1/workspaces/${workspace.id}`;
    const members = `/api/v1/identities/groups/${group.id}/members`;
    const may = async (caller: Caller) => (await caller("POST", `${path}/encrypt`, { plaintext: "aGk=" })).status;

    const inside = await registered(rig, acme, { org: "acme", sub: "inside" });
    const member = { identity_id: inside.id, identity_type: "user" };
    expect((await acme("POST", members, member)).status).toBe(204);
    const asked = await inside.call("POST", `${path}/request-access`, { reason: "mine" });
    expect(asked.body, asked.text).toMatchObject({ status: "approved", reviewed_by: "system:group" });
    const admission = (await acme("GET", `${path}/admissions/${inside.id}`)).body;
    expect(admission).toMatchObject({ status: "active", via_group: group.id });
    expect(await may(inside.call)).toBe(200);
    // Let in by itself alone, not by a decision: a SECRET workspace does not take it for one.
    expect((await acme("PUT", path, { classification: "SECRET" })).status).toBe(200);
    expect(await may(inside.call)).toBe(403);
    expect((await acme("POST", `${path}/admissions`, member)).status).toBe(201);
    expect(await may(inside.call)).toBe(200);
    expect((await acme("DELETE", `${members}/${inside.id}`)).status).toBe(204);
    expect(await may(inside.call)).toBe(403);

    const { body: other } = await acme("POST", "/api/v1/workspaces", { name: "passing too", group_id: group.id });
    const there = `/api/v1/workspaces/${other.id}`;
    const enters = async (caller: Caller) => (await caller("POST", `${there}/encrypt`, { plaintext: "aGk=" })).status;
    for (const person of [inside, await registered(rig, acme, { org: "acme", sub: "outside" })]) {
      const wish = await person.call("POST", `${there}/request-access`, { reason: "please" });
      expect(wish.body.status, wish.text).toBe("pending");
      const requests = `/api/v1/identities/groups/${group.id}/join-requests`;
      expect((await acme("POST", `${requests}/${wish.body.id}/approve`)).status).toBe(200);
      expect(await enters(person.call)).toBe(200);
      const given = (await acme("GET", `${there}/admissions/${person.id}`)).body;
      expect(given).toMatchObject({ status: "active", via_group: group.id });
      expect((await acme("DELETE", `${members}/${person.id}`)).status).toBe(204);
      expect(await enters(person.call)).toBe(403);
      expect((await acme("GET", `${there}/admissions/${person.id}`)).body.status).toBe("revoked");
    }
  });

  it("a group of the identity provider admits as one's own does; the same group of nobody's provider does not", async () => {
    const acme = rig.admin("acme");
    const { encrypts } = await bound("analysts");
    const person = async (sub: string, groups: readonly string[]): Promise<Caller> => {
      const body = { provider: "idp_a", subject: sub, email: `${sub}@acme.example`, name: sub, groups };
      expect((await acme("POST", "/api/v1/identities/users/sso", body)).status).toBe(201);
      return rig.bearer({ sub, org: "acme" });
    };
    expect(await encrypts(await person("ann", ["analysts"]))).toEqual(admitted);
    expect(await encrypts(await person("ben", ["others"]))).toEqual(refused);
    expect((await encrypts(rig.bearer({ sub: "ann", org: "globex" })))[0]).toBe(404);
  });

  it("a role that may do everything with workspaces gives no data: only admission does", async () => {
    const acme = rig.admin("acme");
    const { encrypts } = await bound("keepers");
    const permissions = [{ resource: "workspace", action: "*" }];
    const role = await acme("POST", "/api/v1/identities/roles", { name: "workspace keeper", permissions });
    const body = { provider: "idp_a", subject: "kim", email: "kim@acme.example", name: "Kim", groups: [] };
    const { body: user } = await acme("POST", "/api/v1/identities/users/sso", body);
    const assigned = await acme("POST", `/api/v1/identities/roles/${role.body.id}/assign`, {
      identity_id: user.id,
      identity_type: "user",
    });
    expect(assigned.status, assigned.text).toBe(204);
    expect(await encrypts(rig.bearer({ sub: "kim", org: "acme" }))).toEqual(refused);
  });
});
