import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, type Caller, openRig, type Rig } from "./rig.ts";
import { type RootKey, rootKey } from "./root-key.ts";

const told = (answer: Answer): readonly [number, string] => [answer.status, answer.body?.error?.code];

describe("one person under several accounts is one person", () => {
  let rig: Rig;
  let key: RootKey;
  beforeAll(async () => {
    rig = await openRig();
    key = await rootKey(rig.admin("acme"));
  });
  afterAll(() => rig.close());

  const ada = (): Caller => rig.admin("acme");
  const adaRecord = () => {
    const admin = rig.dev.organizations["acme"]?.admins.super_admin;
    if (admin === undefined) throw new Error("no admin");
    return admin;
  };
  const token = (sub: string, email?: string): Caller =>
    rig.bearer({ sub, org: "acme", roles: ["super_admin"], ...(email === undefined ? {} : { email, email_verified: true }) });
  const user = async (subject: string, email: string): Promise<string> => {
    const { body, text, status } = await ada()("POST", "/api/v1/identities/users/sso", {
      provider: "idp_a",
      subject,
      email,
      name: subject,
      groups: [],
    });
    expect(status, text).toBe(201);
    return body.id;
  };

  describe("emergency access", () => {
    const base = "/api/v1/emergency-access";
    let needy = 0;
    const ask = async (
      by = rig.bearer({ sub: `needy-${++needy}`, org: "acme", email: `n${needy}@acme.example`, email_verified: true }),
    ) => (await by("POST", `${base}/request`, { reason: "fire" })).body.id as string;
    const approve = (by: Caller, id: string): Promise<Answer> => by("POST", `${base}/${id}/approve`);
    const stays = async (id: string): Promise<void> => {
      const { body } = await ada()("GET", `${base}/${id}`);
      expect([body.status, body.approved_by.length]).toEqual(["pending", 1]);
    };

    it("a certificate and a token of another subject are one voice, in either order", async () => {
      const one = await ask();
      expect((await approve(ada(), one)).status).toBe(200);
      expect(told(await approve(token("ada-at-the-idp"), one))).toEqual([409, "CONFLICT"]);
      expect(told(await approve(token("ada-at-the-idp", adaRecord().email.toUpperCase()), one))).toEqual([409, "CONFLICT"]);
      await stays(one);
      const other = await ask();
      expect((await approve(token("ada-at-the-idp"), other)).status).toBe(200);
      expect(told(await approve(ada(), other))).toEqual([409, "CONFLICT"]);
      await stays(other);
    });

    it("a user record with the admin's address is the admin; one with another address is somebody else", async () => {
      await user("ada-registered", adaRecord().email);
      const id = await ask();
      expect((await approve(ada(), id)).status).toBe(200);
      expect(told(await approve(token("ada-registered"), id))).toEqual([409, "CONFLICT"]);
      await stays(id);
      await user("bob-registered", "bob@acme.example");
      expect((await approve(token("bob-registered"), id)).body.status).toBe("approved");
    });

    it("registering a subject between two approvals makes no second person of it", async () => {
      const id = await ask();
      expect((await approve(token("turncoat"), id)).status).toBe(200);
      await user("turncoat", "turncoat@acme.example");
      expect(told(await approve(token("turncoat"), id))).toEqual([409, "CONFLICT"]);
      await stays(id);
    });

    it("who asked under one account decides under no other", async () => {
      for (const requester of [
        token("ada-registered"),
        token("x", adaRecord().email),
        rig.bearer({ sub: adaRecord().id, org: "acme" }),
      ]) {
        const id = await ask(requester);
        for (const verb of ["approve", "deny"]) {
          expect(told(await ada()("POST", `${base}/${id}/${verb}`))).toEqual([403, "FORBIDDEN"]);
        }
        const signature = await key.sign("emergency.verify", id, {});
        expect(told(await ada()("POST", `${base}/${id}/verify`, { signature }))).toEqual([403, "FORBIDDEN"]);
      }
    });

    it("who is removed has approved nothing", async () => {
      const id = await ask();
      const left = await user("leaver", "leaver@acme.example");
      expect((await approve(token("leaver"), id)).status).toBe(200);
      await ada()("DELETE", `/api/v1/identities/users/${left}`);
      expect((await ada()("GET", `${base}/${id}`)).body.approved_by).toEqual([]);
    });
  });

  it("a witness is neither the caller nor a submitter under another account", async () => {
    const { body: ceremony } = await ada()("POST", "/api/v1/crk/ceremony/start", { operation: "reconstruct", threshold: 2 });
    const path = `/api/v1/crk/ceremony/${ceremony.id}`;
    const auditor = rig.dev.organizations["acme"]?.admins.auditor.email ?? "";
    await user("custodian", auditor);
    const submitter = token("custodian", auditor);
    expect((await submitter("POST", `${path}/share`, key.shares[0])).status).toBe(204);
    expect((await ada()("POST", `${path}/share`, key.shares[1])).status).toBe(204);
    const complete = (by: Caller, role: "super_admin" | "auditor" | "security_admin"): Promise<Answer> =>
      by("POST", `${path}/complete`, { witness: rig.dev.organizations["acme"]?.admins[role].id });
    const caller = token("ada-registered");
    expect(told(await complete(caller, "auditor"))).toEqual([403, "FORBIDDEN"]);
    expect(told(await complete(caller, "super_admin"))).toEqual([403, "FORBIDDEN"]);
    const caught = token("sec", rig.dev.organizations["acme"]?.admins.security_admin.email);
    expect(told(await complete(caught, "security_admin"))).toEqual([403, "FORBIDDEN"]);
    expect((await complete(caller, "security_admin")).status).toBe(200);
  });

  it("nobody recovers their own account through another one", async () => {
    const base = "/api/v1/account-recovery";
    const body = { admin_id: adaRecord().id, recovery_type: "lost_credentials", reason: "me again" };
    const disguised = token("ada-registered");
    expect(told(await disguised("POST", `${base}/initiate`, body))).toEqual([403, "FORBIDDEN"]);
    const opened = await rig.admin("acme", "security_admin")("POST", `${base}/initiate`, body);
    expect(opened.status, opened.text).toBe(201);
    const path = `${base}/${opened.body.id}`;
    expect(told(await disguised("POST", `${path}/share`, key.shares[0]))).toEqual([403, "FORBIDDEN"]);
    expect(told(await disguised("POST", `${path}/complete`))).toEqual([403, "FORBIDDEN"]);
  });

  it("nobody lets themselves in: join requests and roles", async () => {
    const { body: group } = await ada()("POST", "/api/v1/identities/groups", { name: "treasury" });
    const path = `/api/v1/identities/groups/${group.id}/join-requests`;
    const { body: request } = await token("ada-registered")("POST", path, { reason: "me" });
    expect(told(await ada()("POST", `${path}/${request.id}/approve`))).toEqual([403, "FORBIDDEN"]);
    expect((await rig.admin("acme", "security_admin")("POST", `${path}/${request.id}/approve`)).status).toBe(200);

    const permissions = [{ resource: "workspace", action: "create" }];
    const { body: role } = await ada()("POST", "/api/v1/identities/roles", { name: "maker", permissions });
    const assigned = await token("ada-registered")("POST", `/api/v1/identities/roles/${role.id}/assign`, {
      identity_id: adaRecord().id,
      identity_type: "admin",
    });
    expect(told(assigned)).toEqual([403, "FORBIDDEN"]);
  });
});
