import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, type Caller, openRig, type Rig } from "./rig.ts";
import { type RootKey, rootKey } from "./root-key.ts";

const base = "/api/v1/emergency-access";
const hour = 3_600_000;
const told = (answer: Answer): readonly [number, string] => [answer.status, answer.body?.error?.code];

describe("emergency access", () => {
  let rig: Rig;
  let key: RootKey;
  beforeAll(async () => {
    rig = await openRig();
    key = await rootKey(rig.admin("acme"));
  });
  afterAll(() => rig.close());

  let people = 0;
  const person = (): Caller => rig.bearer({ sub: `person-${++people}`, org: "acme" });
  const ask = async (by: Caller): Promise<string> => {
    const { status, body, text } = await by("POST", `${base}/request`, { reason: "the vault is on fire" });
    expect(status, text).toBe(201);
    return body.id;
  };
  const approveTwice = async (id: string): Promise<Answer> => {
    expect((await rig.admin("acme")("POST", `${base}/${id}/approve`)).status).toBe(200);
    return rig.admin("acme", "security_admin")("POST", `${base}/${id}/approve`, { reason: "agreed" });
  };
  const holder = async (by: Caller): Promise<{ readonly id: string; readonly token: string; readonly use: Caller }> => {
    const id = await ask(by);
    await approveTwice(id);
    const { body } = await by("GET", `${base}/${id}`);
    return { id, token: body.token, use: bearer(body.token) };
  };
  const bearer =
    (token: string, over: Caller = rig.anonymous): Caller =>
    (method, path, body) =>
      over(method, path, body, { authorization: `Bearer ${token}` });
  const events = async (type: string, id: string): Promise<{ metadata: Record<string, unknown> }[]> => {
    const { body } = await rig.admin("acme")("GET", `/api/v1/audit?event_type=${type}&limit=1000`);
    return body.events.filter((event: { metadata: { emergency_id?: string } }) => event.metadata.emergency_id === id);
  };

  it("two distinct persons approve; the requester alone fetches the token, once; it acts as super admin", async () => {
    const requester = person();
    const id = await ask(requester);
    const first = await rig.admin("acme")("POST", `${base}/${id}/approve`);
    expect(first.body).toMatchObject({ status: "pending", required_approvals: 2, token_expiry: null });
    expect(told(await rig.admin("acme")("POST", `${base}/${id}/approve`))).toEqual([409, "CONFLICT"]);
    expect((await requester("GET", `${base}/${id}`)).body).not.toHaveProperty("token");
    const second = await rig.admin("acme", "security_admin")("POST", `${base}/${id}/approve`);
    expect(second.body).toMatchObject({ status: "approved" });
    expect(second.text).not.toContain("sene_");
    expect((await rig.admin("acme")("GET", `${base}/${id}`)).body).not.toHaveProperty("token");

    const { token } = (await requester("GET", `${base}/${id}`)).body;
    expect(token).toMatch(/^sene_[A-Za-z0-9_-]{43}$/);
    expect((await requester("GET", `${base}/${id}`)).body).not.toHaveProperty("token");
    const stored = await rig.store.get("emergency_access", id);
    expect(JSON.stringify(stored)).not.toContain(token);

    const use = bearer(token);
    const created = await use("POST", "/api/v1/workspaces", { name: `rescue ${id}` });
    expect(created.status, created.text).toBe(201);
    expect((await requester("POST", "/api/v1/workspaces", { name: "without" })).status).toBe(403);
    expect(await events("emergency.access", id)).toEqual(
      expect.arrayContaining([expect.objectContaining({ metadata: { emergency_id: id, route: "createWorkspace" } })]),
    );
  });

  it("a requester has one open request: another waits until it is denied, completed or expired, however many are sent at once", async () => {
    const [requester, admin] = [person(), rig.admin("acme")];
    const again = () => requester("POST", `${base}/request`, { reason: "and another" });
    const open = async (): Promise<string> => {
      const answers = await Promise.all(Array.from({ length: 4 }, again));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409]);
      const { id } = answers.find(({ status }) => status === 201)?.body ?? {};
      const refused = await again();
      expect([...told(refused), refused.body.error.details]).toEqual([409, "CONFLICT", { id, status: "pending" }]);
      return id;
    };
    await admin("POST", `${base}/${await open()}/deny`);
    const granted = await open();
    await approveTwice(granted);
    expect((await again()).body.error.details).toEqual({ id: granted, status: "approved" });
    expect((await requester("POST", `${base}/${granted}/complete`)).status).toBe(200);
    await open();
    const start = rig.clock.now();
    rig.clock.set(start + 24 * hour);
    await open();
    expect((await person()("POST", `${base}/request`, { reason: "another's" })).status).toBe(201);
    rig.clock.set(start);
  });

  it("a token stays away from root keys, recovery, restore, admins and other requests", async () => {
    const { use } = await holder(person());
    const other = await ask(person());
    for (const [method, path, body] of [
      ["POST", "/api/v1/crk/generate", { total_shares: 3, threshold: 2 }],
      ["POST", "/api/v1/crk/sign", { shares: key.shares.slice(0, 2), public_key: key.publicKey, data: "AAAA" }],
      ["POST", "/api/v1/identities/admins", { email: "eve@acme.example", name: "Eve", role: "super_admin" }],
      ["POST", `${base}/${other}/approve`, {}],
      ["POST", `${base}/${other}/deny`, {}],
    ] as const) {
      expect([path, ...told(await use(method, path, body))]).toEqual([path, 403, "FORBIDDEN"]);
    }
  });

  it("nobody decides their own request, whatever their role, and one refusal ends it", async () => {
    const own = await ask(rig.admin("acme"));
    for (const verb of ["approve", "deny"]) {
      expect(told(await rig.admin("acme")("POST", `${base}/${own}/${verb}`))).toEqual([403, "FORBIDDEN"]);
    }
    for (const role of ["operations_admin", "auditor"] as const) {
      expect((await rig.admin("acme", role)("POST", `${base}/${own}/approve`)).status).toBe(403);
    }
    const denied = await rig.admin("acme", "security_admin")("POST", `${base}/${own}/deny`, { reason: "no" });
    expect(denied.body).toMatchObject({ status: "denied", denied_by: rig.dev.organizations["acme"]?.admins.security_admin.id });
    expect(told(await rig.admin("acme", "security_admin")("POST", `${base}/${own}/approve`))).toEqual([409, "STATE_CONFLICT"]);
    expect((await rig.admin("acme")("GET", `${base}/${own}`)).body).not.toHaveProperty("token");
  });

  it("completion ends the token on the very next request, by the requester or a super admin and nobody else", async () => {
    const requester = person();
    const { id, use } = await holder(requester);
    expect((await use("GET", "/api/v1/identities/groups")).status).toBe(200);
    expect((await person()("POST", `${base}/${id}/complete`)).status).toBe(404);
    expect((await rig.admin("acme", "auditor")("POST", `${base}/${id}/complete`)).status).toBe(403);
    expect((await use("POST", `${base}/${id}/complete`)).body).toMatchObject({ status: "completed" });
    expect(told(await use("GET", "/api/v1/identities/groups"))).toEqual([401, "INVALID_TOKEN"]);
    expect(told(await requester("POST", `${base}/${id}/complete`))).toEqual([409, "STATE_CONFLICT"]);
    expect((await requester("GET", `${base}/${id}`)).body).not.toHaveProperty("token");
  });

  it("the root key's signature stands for all approvals, once, and only while the request is pending", async () => {
    const requester = person();
    const id = await ask(requester);
    const admin = rig.admin("acme");
    expect(told(await admin("POST", `${base}/${id}/verify`, {}))).toEqual([400, "SIGNATURE_REQUIRED"]);
    const other = await ask(person());
    const forOther = await key.sign("emergency.verify", other, {});
    expect(told(await admin("POST", `${base}/${id}/verify`, { signature: forOther }))).toEqual([403, "SIGNATURE_INVALID"]);
    const signature = await key.sign("emergency.verify", id, {});
    expect((await admin("POST", `${base}/${id}/verify`, { signature })).status).toBe(204);
    expect((await requester("GET", `${base}/${id}`)).body.token).toMatch(/^sene_/);
    expect(told(await admin("POST", `${base}/${id}/verify`, { signature }))).toEqual([409, "SIGNATURE_REPLAYED"]);

    await admin("POST", `${base}/${other}/deny`);
    expect(told(await admin("POST", `${base}/${other}/verify`, { signature: forOther }))).toEqual([409, "STATE_CONFLICT"]);
    expect((await admin("GET", `${base}/${other}`)).body.status).toBe("denied");
  });

  it("another organisation sees nothing, and its word for the organisation counts for nothing", async () => {
    const id = await ask(person());
    const globex = rig.admin("globex");
    expect((await globex("GET", `${base}/${id}`)).status).toBe(404);
    for (const verb of ["approve", "deny", "complete"]) {
      expect((await globex("POST", `${base}/${id}/${verb}`)).status).toBe(404);
    }
    expect(told(await globex("GET", `${base}?org_id=acme`))).toEqual([403, "FORBIDDEN"]);
    expect(told(await globex("POST", `${base}/request`, { org_id: "acme", reason: "x" }))).toEqual([403, "FORBIDDEN"]);
  });

  it("those who may not read all see their own requests only", async () => {
    const ada = person();
    const id = await ask(ada);
    await ask(person());
    const seen = (await ada("GET", base)).body;
    expect(seen).toMatchObject({ count: 1, total: 1, requests: [{ id }] });
    expect((await rig.admin("acme", "auditor")("GET", `${base}?limit=1`)).body.total).toBeGreaterThan(1);
    expect((await person()("GET", `${base}/${id}`)).status).toBe(404);
  });

  it("a token that was stolen does not work beside somebody else's certificate, and is dead once its owner is disabled", async () => {
    const admin = rig.admin("acme");
    const role = "operations_admin";
    const operator = rig.admin("acme", role);
    const { token } = await holder(operator);
    const stolen = bearer(token, rig.admin("globex"));
    expect(told(await stolen("GET", "/api/v1/identities/groups"))).toEqual([401, "INVALID_TOKEN"]);
    const withCertificate = bearer(token, operator);
    expect((await withCertificate("GET", "/api/v1/audit")).status).toBe(200);
    const operatorId = rig.dev.organizations["acme"]?.admins[role].id ?? "";
    expect((await admin("PUT", `/api/v1/identities/admins/${operatorId}`, { active: false })).status).toBe(200);
    expect(told(await bearer(token)("GET", "/api/v1/audit"))).toEqual([401, "INVALID_TOKEN"]);
  });

  it("what is undecided expires after a day, a token after an hour; the sweep writes it down", async () => {
    const requester = person();
    const { id, token } = await holder(requester);
    const undecided = await ask(person());
    const start = rig.clock.now();
    rig.clock.set(start + hour);
    expect(told(await bearer(token)("GET", "/api/v1/activity"))).toEqual([401, "INVALID_TOKEN"]);
    await rig.gateway.sweep(rig.clock.now());
    expect((await events("emergency.complete", id))[0]?.metadata).toMatchObject({ status: "expired", was: "approved" });
    expect((await rig.store.get("emergency_access", id))?.doc).toMatchObject({ status: "expired", token_hash: null });
    rig.clock.set(start + 24 * hour);
    const late = await rig.admin("acme")("GET", `${base}/${undecided}`);
    expect(late.body.status).toBe("expired");
    expect(told(await rig.admin("acme")("POST", `${base}/${undecided}/approve`))).toEqual([409, "STATE_CONFLICT"]);
    await rig.gateway.sweep(rig.clock.now());
    expect((await rig.store.get("emergency_access", undecided))?.doc["status"]).toBe("expired");
    rig.clock.set(start);
  });

  it("disabling an approver takes back an approval that has decided nothing yet", async () => {
    const admin = rig.admin("acme");
    const approver = rig.dev.organizations["acme"]?.admins.security_admin.id;
    const id = await ask(person());
    const approved = await rig.admin("acme", "security_admin")("POST", `${base}/${id}/approve`);
    expect(approved.body.approved_by).toEqual([approver]);
    await admin("PUT", `/api/v1/identities/admins/${approver}`, { active: false });
    expect((await admin("GET", `${base}/${id}`)).body.approved_by).toEqual([]);
  });
});
