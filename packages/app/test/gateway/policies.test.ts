import { gatewayContract } from "@seneschal/contract/gateway";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRig, type Rig } from "./rig.ts";
import { type RootKey, rootKey } from "./root-key.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const rego = (body: string, workspace = "w"): string => `package gateway.workspace["${workspace}"]\n${body}\n`;

describe("policies", () => {
  let rig: Rig;
  let key: RootKey;
  beforeAll(async () => {
    rig = await openRig();
    key = await rootKey(rig.admin("acme"));
  });
  afterAll(() => rig.close());

  const create = async (body: object) => {
    const crk_signature = await key.sign("policy.create", "", body);
    return rig.admin("acme")("POST", "/api/v1/policies", { ...body, crk_signature });
  };
  const workspace = async (name: string): Promise<string> => {
    const { body } = await rig.admin("acme")("POST", "/api/v1/workspaces", { name });
    return body.id;
  };

  it("a policy decides by purpose, role, metadata and time, and its reason is told", async () => {
    const id = await workspace("by-purpose");
    const body = {
      name: "purpose",
      workspace: id,
      rego: rego(
        `default allow := false
         allow if { input.purpose == "merger"; input.role == "user"; input.metadata.region == "eu"; time.clock(time.now_ns())[0] >= 0 }
         deny_reason := "only for the merger" if not allow`,
        id,
      ),
    };
    const created = await create(body);
    expect(created.status, created.text).toBe(201);
    expect(created.body).toMatchObject({ workspace: id, workspace_id: id, version: 1 });
    const ask = (purpose: string) =>
      rig.admin("acme")("POST", "/api/v1/policies/evaluate", {
        actor: "ada",
        role: "user",
        operation: "decrypt",
        workspace: id,
        purpose,
        metadata: { region: "eu" },
      });
    expect((await ask("merger")).body).toMatchObject({ allowed: true, deny_reason: "" });
    const denied = await ask("gossip");
    expect(denied.body).toMatchObject({ allowed: false, deny_reason: "only for the merger" });
    expect(Number.isInteger(denied.body.eval_time_ms)).toBe(true);
  });

  it("without a policy evaluation denies; a policy that fails, is undefined or is no boolean denies with a reason", async () => {
    const acme = rig.admin("acme");
    const none = await workspace("no-policy");
    const ask = (id: string) => acme("POST", "/api/v1/policies/evaluate", { actor: "a", operation: "decrypt", workspace: id });
    expect((await ask(none)).body).toMatchObject({ allowed: false, deny_reason: "no policy applies" });
    const cases = [
      ["p := 1", "policy returned undefined"],
      ['allow := "yes"', "policy returned a non-boolean"],
      ["allow := count(numbers.range(1, 100000000)) > 1", "policy evaluation error"],
      ["allow := false", "denied by policy broken"],
      ['allow := true\ndeny contains "b"\ndeny contains "a"', "a; b"],
    ] as const;
    for (const [source, reason] of cases) {
      const id = await workspace(`broken ${reason}`);
      const created = await create({ name: "broken", workspace: id, rego: rego(source, id) });
      expect(created.status, created.text).toBe(201);
      const { body } = await ask(id);
      expect(body).toMatchObject({ allowed: false, deny_reason: reason });
    }
  });

  it("enforcement follows: a denied operation is refused with the reason and audited, an allowed one works", async () => {
    const acme = rig.admin("acme");
    const id = await workspace("enforced");
    await acme("POST", `/api/v1/workspaces/${id}/admissions`, {
      identity_id: rig.dev.organizations["acme"]?.admins.super_admin.id,
      identity_type: "admin",
    });
    const sealed = await acme("POST", `/api/v1/workspaces/${id}/encrypt`, { plaintext: base64("x") });
    expect(sealed.status, sealed.text).toBe(200);
    await create({
      name: "no-reading",
      workspace: id,
      rego: rego('allow if input.operation != "decrypt"\ndeny_reason := "not here" if not allow', id),
    });
    const refused = await acme("POST", `/api/v1/workspaces/${id}/decrypt`, { ciphertext: sealed.body.ciphertext });
    expect([refused.status, refused.body.error.code]).toEqual([403, "POLICY_VIOLATION"]);
    expect(refused.body.error.details.deny_reason).toBe("not here");
    expect((await acme("POST", `/api/v1/workspaces/${id}/encrypt`, { plaintext: base64("y") })).status).toBe(200);
    const audit = await acme("GET", `/api/v1/audit?workspace=${id}&event_type=policy.violation`);
    expect(audit.body.total).toBe(1);
  });

  it.each([
    ["fails", "allow := x if x := [true, false][_]"],
    ["is over its budget", "allow if count([x | some x in numbers.range(1, 1000000); some y in numbers.range(1, 1000)]) > 0"],
    ["is undefined", "allow if input.nothing"],
    [
      "nests without end",
      `a0 := [1]\n${Array.from({ length: 40 }, (_, i) => `a${i + 1} := [a${i}, a${i}]`).join("\n")}\nallow := a40`,
    ],
  ])(
    "a policy that %s denies every operation of its workspace, is audited, and leaves other workspaces alone",
    async (_what, source) => {
      const acme = rig.admin("acme");
      const admitted = async (name: string): Promise<string> => {
        const id = await workspace(name);
        const { id: identity_id } = rig.dev.organizations["acme"]?.admins.super_admin ?? {};
        await acme("POST", `/api/v1/workspaces/${id}/admissions`, { identity_id, identity_type: "admin" });
        return id;
      };
      const id = await admitted(`failing ${_what}`);
      const other = await admitted(`beside ${_what}`);
      const sealed = await acme("POST", `/api/v1/workspaces/${id}/encrypt`, { plaintext: base64("x") });
      expect(sealed.status, sealed.text).toBe(200);
      expect((await create({ name: "failing", workspace: id, rego: rego(source, id) })).status).toBe(201);
      const refused = [
        await acme("POST", `/api/v1/workspaces/${id}/encrypt`, { plaintext: base64("y") }),
        await acme("POST", `/api/v1/workspaces/${id}/decrypt`, { ciphertext: sealed.body.ciphertext }),
      ];
      for (const { status, body } of refused) {
        expect([status, body.error.code]).toEqual([403, "POLICY_VIOLATION"]);
        expect(body.error.details.deny_reason).not.toBe("");
      }
      const audit = await acme("GET", `/api/v1/audit?workspace=${id}&event_type=policy.violation`);
      expect(audit.body.total).toBe(refused.length);
      expect((await acme("POST", `/api/v1/workspaces/${other}/encrypt`, { plaintext: base64("z") })).status).toBe(200);
    },
  );

  it("a source that does not compile is refused with every place, and the old version stays in force", async () => {
    const acme = rig.admin("acme");
    const id = await workspace("versions");
    const { body: policy } = await create({ name: "v", workspace: id, rego: rego("allow := true", id) });
    const bad = "package x\nallow := y\n";
    const validated = await acme("POST", "/api/v1/policies/validate", { rego: bad });
    expect(validated.body).toMatchObject({ valid: false });
    expect(validated.body.errors[0]).toMatchObject({ row: 2 });
    expect((await acme("POST", "/api/v1/policies/validate", { rego: rego("allow := true") })).body).toEqual({ valid: true });
    const signature = await key.sign("policy.update", policy.id, { rego: bad });
    const refused = await acme("PUT", `/api/v1/policies/${policy.id}`, { rego: bad, signature });
    expect([refused.status, refused.body.error.code]).toEqual([400, "POLICY_INVALID"]);
    expect((await acme("GET", `/api/v1/policies/${policy.id}`)).body).toMatchObject({ version: 1, rego: policy.rego });
    const next = { rego: rego("allow := false", id) };
    const stale = await key.sign("policy.delete", policy.id, {});
    const updated = await acme("PUT", `/api/v1/policies/${policy.id}`, {
      ...next,
      signature: await key.sign("policy.update", policy.id, next),
    });
    expect(updated.body).toMatchObject({ version: 2 });
    // Signed for the version before: whoever signed never saw this one.
    const late = await acme("DELETE", `/api/v1/policies/${policy.id}`, { signature: stale });
    expect([late.status, late.body.error.code]).toEqual([403, "SIGNATURE_INVALID"]);
    const listed = await acme("GET", `/api/v1/policies/workspace/${id}`);
    expect(listed.body).toMatchObject({ count: 1, total: 1 });
    const gone = await acme("DELETE", `/api/v1/policies/${policy.id}`, {
      signature: await key.sign("policy.delete", policy.id, {}),
    });
    expect(gone.status, gone.text).toBe(204);
    expect((await acme("GET", `/api/v1/policies/${policy.id}`)).status).toBe(404);
  });

  it("writes need the root key's signature, names are unique in a workspace, other organisations see nothing", async () => {
    const acme = rig.admin("acme");
    const globex = rig.admin("globex");
    const id = await workspace("guarded");
    const body = { name: "one", workspace: id, rego: rego("allow := true", id) };
    const unsigned = await acme("POST", "/api/v1/policies", body);
    expect([unsigned.status, unsigned.body.error.code]).toEqual([400, "SIGNATURE_REQUIRED"]);
    const { body: policy } = await create(body);
    const twice = await create(body);
    expect([twice.status, twice.body.error.code]).toEqual([409, "CONFLICT"]);
    const reserved = await create({ ...body, name: "two", rego: "package gateway.authz\nallow := true" });
    expect([reserved.status, reserved.body.error.code]).toEqual([400, "POLICY_INVALID"]);
    for (const [method, path, sent] of [
      ["GET", `/api/v1/policies/${policy.id}`, undefined],
      ["PUT", `/api/v1/policies/${policy.id}`, { rego: body.rego, signature: "AA==" }],
      ["DELETE", `/api/v1/policies/${policy.id}`, { signature: "AA==" }],
      ["GET", `/api/v1/policies/workspace/${id}`, undefined],
      ["POST", "/api/v1/policies/evaluate", { actor: "a", operation: "x", workspace: id }],
    ] as const) {
      expect((await globex(method, path, sent)).status, `${method} ${path}`).toBe(404);
    }
  });

  it("a policy's package is its workspace's or a free one, never another workspace's", async () => {
    const [own, other] = [await workspace("own package"), await workspace("other package")];
    for (const [rego, status] of [
      [`package gateway.workspace["${other}"]\nallow := true\n`, 400],
      [`package gateway.workspace["${own}"].deeper\nallow := true\n`, 400],
      ["package gateway.workspace\nallow := true\n", 400],
      [`package gateway.workspace["${own}"]\nallow := true\n`, 201],
    ] as const) {
      const answer = await create({ name: `p${status}`, workspace: own, rego });
      expect([answer.status, rego], answer.text).toEqual([status, rego]);
    }
    const twin = "package shared\nallow := true\n";
    expect((await create({ name: "twin", workspace: own, rego: twin })).status).toBe(201);
    expect((await create({ name: "twin", workspace: other, rego: "package shared\nallow := false\n" })).status).toBe(201);
    const ask = (id: string) =>
      rig.admin("acme")("POST", "/api/v1/policies/evaluate", { actor: "a", operation: "x", workspace: id });
    expect([(await ask(own)).body.allowed, (await ask(other)).body.allowed]).toEqual([true, false]);
  });

  it("every operation of the contract on a workspace is asked of its policies, and a denial is audited and changes nothing", async () => {
    const acme = rig.admin("acme");
    const id = await workspace("every operation");
    const admin = rig.dev.organizations["acme"]?.admins.super_admin.id ?? "";
    await acme("POST", `/api/v1/workspaces/${id}/admissions`, { identity_id: admin, identity_type: "admin" });
    const { ciphertext } = (await acme("POST", `/api/v1/workspaces/${id}/encrypt`, { plaintext: base64("x") })).body;
    await create({
      name: "nothing",
      workspace: id,
      rego: rego('allow := false\ndeny_reason := sprintf("no %s", [input.operation])', id),
    });
    const before = (await acme("GET", `/api/v1/workspaces/${id}`)).body;
    const bodies: Readonly<Record<string, object>> = {
      encrypt: { plaintext: base64("x") },
      decrypt: { ciphertext },
      encryptBatch: { items: [{ plaintext: base64("x") }] },
      decryptBatch: { items: [{ ciphertext }] },
      grantAdmission: { identity_id: rig.dev.organizations["acme"]?.admins.auditor.id, identity_type: "admin" },
    };
    const operations = Object.entries(gatewayContract as Readonly<Record<string, { method: string; path: string }>>).filter(
      ([, { method, path }]) => path.startsWith("/api/v1/workspaces/:id") && method !== "GET",
    );
    expect(operations.length).toBeGreaterThan(15);
    for (const [name, { method, path }] of operations) {
      const answer = await acme(method, path.replace(":id", id).replace(":identity_id", admin), bodies[name] ?? {});
      expect([name, answer.status, answer.body.error.code], answer.text).toEqual([name, 403, "POLICY_VIOLATION"]);
      expect(answer.body.error.details.deny_reason).toMatch(/^no [a-z-]+$/);
    }
    expect((await acme("GET", `/api/v1/workspaces/${id}`)).body).toEqual(before);
    const violations = await acme("GET", `/api/v1/audit?workspace=${id}&event_type=policy.violation&limit=100`);
    expect(violations.body.total).toBe(operations.length);
  });

  it("who is no participant learns nothing of a workspace's policies", async () => {
    const id = await workspace("hidden");
    await create({ name: "nothing", workspace: id, rego: rego("allow := false", id) });
    expect((await rig.admin("globex")("POST", `/api/v1/workspaces/${id}/archive`, {})).status).toBe(404);
  });
});
