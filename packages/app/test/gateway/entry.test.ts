import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registered } from "./registered.ts";
import { openRig, type Rig } from "./rig.ts";

const bearerOf = (rig: Rig, sub: string) => rig.bearer({ sub, org: "acme" });

describe("coming into a workspace, or not", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  it("a declined invitation opens nothing and cannot be accepted", async () => {
    const globex = rig.admin("globex");
    const { body } = await rig.admin("acme")("POST", "/api/v1/workspaces", { name: "offer", participants: ["globex"] });
    const path = `/api/v1/workspaces/${body.id}`;
    expect((await globex("POST", `${path}/decline-invitation`, { org_id: "acme" })).status).toBe(403);
    expect((await globex("POST", `${path}/decline-invitation`, { org_id: "globex" })).status).toBe(204);
    for (const verb of ["accept-invitation", "decline-invitation"]) {
      expect((await globex("POST", `${path}/${verb}`, { org_id: "globex" })).status).toBe(404);
    }
    expect((await globex("GET", path)).status).toBe(404);
  });

  it("who asks for access waits for somebody else's decision; a denial keeps the door shut, an approval opens it", async () => {
    const acme = rig.admin("acme");
    const { body: group } = await acme("POST", "/api/v1/identities/groups", { name: "readers" });
    const { body } = await acme("POST", "/api/v1/workspaces", {
      name: "asked",
      group_id: group.id,
      classification: "CONFIDENTIAL",
    });
    const path = `/api/v1/workspaces/${body.id}`;
    for (const [sub, verb, admitted] of [
      ["nina", "deny", 0],
      ["otto", "approve", 1],
    ] as const) {
      const person = bearerOf(rig, sub);
      const seal = () => person("POST", `${path}/encrypt`, { plaintext: "eA==" });
      const asked = await person("POST", `${path}/request-access`, { group_id: group.id });
      expect([asked.status, asked.body.status], asked.text).toEqual([200, "pending"]);
      expect((await seal()).status).toBe(403);
      const decided = await acme("POST", `/api/v1/identities/groups/${group.id}/join-requests/${asked.body.id}/${verb}`);
      expect(decided.status, decided.text).toBe(200);
      expect((await seal()).status).toBe(admitted === 1 ? 200 : 403);
      const listed = (await acme("GET", `${path}/admissions`)).body;
      expect(listed.admissions.filter((one: { identity_id: string }) => one.identity_id === sub)).toHaveLength(admitted);
    }
    const nowhere = await acme("POST", `${path}/request-access`, { group_id: body.id });
    expect([nowhere.status, nowhere.body.error.code]).toEqual([400, "NO_BOUND_GROUP"]);
  });

  it("a cancelled password ceremony takes no more seeds", async () => {
    const hooli = rig.bearer({ sub: "root", org: "hooli", roles: ["super_admin"] });
    const { body } = await hooli("POST", "/api/v1/crk/generate-ceremony/start", { total_shares: 3, threshold: 2 });
    const { call: root } = await registered(rig, hooli, { org: "hooli", sub: "root", roles: ["super_admin"] });
    const path = `/api/v1/crk/generate-ceremony/${body.id}`;
    expect((await root("DELETE", path)).status).toBe(204);
    expect((await root("GET", path)).body.status).toBe("cancelled");
    const key = Buffer.alloc(32, 1).toString("base64");
    const seed = { index: 1, custodian_name: "c", derived_key: key, salt: Buffer.alloc(16, 2).toString("base64") };
    expect((await root("POST", `${path}/seed`, seed)).status).toBe(409);
  });

  it("an activity export is the caller's own feed as a file", async () => {
    const own = JSON.parse((await bearerOf(rig, "nina")("POST", "/api/v1/activity/export", { format: "json" })).text);
    expect(own.length).toBeGreaterThan(0);
    expect(new Set(own.map(({ actor }: { actor: string }) => actor))).toEqual(new Set(["nina"]));
    const csv = await rig.admin("acme", "auditor")("POST", "/api/v1/activity/export", { format: "csv" });
    expect(csv.text.split("\r\n")[0]).toBe("id,timestamp,event_type,actor,workspace,result,summary");
    expect(csv.headers.get("content-disposition")).toContain("attachment");
  });
});
