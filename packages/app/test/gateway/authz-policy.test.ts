import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { adminRoles } from "@seneschal/core/keys";
import { beforeAll, describe, expect, it } from "vitest";
import { type Authorisation, type AuthorisationQuestion, openAuthorisation } from "../../src/platform/index.ts";
import { actions, tableAllows } from "./authorisation-table.ts";
import { openRig } from "./rig.ts";

type Subject = AuthorisationQuestion["subject"];

const subject = (type: string, role?: string, extra: Partial<Subject> = {}): Subject => ({
  id: "x",
  type,
  org: "acme",
  roles: role === undefined ? [] : [role],
  scopes: [],
  permissions: [],
  ...extra,
});

const question = (by: Subject, action: string, org = "acme"): AuthorisationQuestion => ({
  subject: by,
  action,
  resource: { type: "", id: "", org, workspace: "" },
  context: { method: "GET", path: "/" },
});

/** Every kind of caller that the table tells apart. */
const subjects: readonly Subject[] = ["admin", "user", "service", "device", "partner", "emergency", "anonymous", ""].flatMap(
  (type) =>
    [undefined, ...adminRoles, "root"].flatMap((role) =>
      [[], ["openid"], ["workspace:*"], ["crk:sign", "audit:read"], ["*:read"], ["a:b:c", ":"]].flatMap((scopes) =>
        [[], [{ resource: "policy", action: "*" }], [{ resource: "*", action: "*" }]].map((permissions) =>
          subject(type, role, { scopes, permissions }),
        ),
      ),
    ),
);

describe("policies/authz/gateway.rego", () => {
  let policy: Authorisation;
  beforeAll(async () => {
    policy = await openAuthorisation({ engine: embeddedPolicyEngine(), service: "gateway", source: undefined });
  });
  const allowed = async (by: Subject, action: string): Promise<boolean> => (await policy.decide(question(by, action), 0)).allowed;
  const allowedOf = async (by: Subject): Promise<string[]> => {
    const verdicts = await Promise.all(actions.map(async (action) => [action, await allowed(by, action)] as const));
    return verdicts.flatMap(([action, yes]) => (yes ? [action] : []));
  };

  it("says what the table says, for every action, every kind of caller, and their own or another organisation", async () => {
    let compared = 0;
    for (const action of [...actions, "workspace:steal", "constructor", "__proto__", "", "*:*"]) {
      for (const by of subjects) {
        for (const org of ["acme", "globex"]) {
          const decision = await policy.decide(question(by, action, org), 0);
          const want = tableAllows(by, action, org !== by.org);
          if (decision.allowed !== want)
            expect({ action, by, org, allowed: decision.allowed }).toEqual({ action, by, org, allowed: want });
          if (!decision.allowed && decision.reason.length < 10) expect.unreachable(`${action}: ${decision.reason}`);
          compared += 1;
        }
      }
    }
    expect(compared).toBeGreaterThan(100_000);
  });

  it("gives partners their own calls, and nothing else", async () => {
    expect(await allowedOf(subject("partner", "super_admin"))).toEqual(["federation:peer", "message:deliver"]);
  });

  it("lets auditors change nothing", async () => {
    const writes = (await allowedOf(subject("user", "auditor"))).filter(
      (action) => !/:(read|report|evaluate|validate|verify|ca-chain|own|submit|read-share)$/.test(action),
    );
    // Data access depends on an admission, the rest is open to every identity and narrowed to its own affairs.
    expect(writes.sort()).toEqual([
      "custody:enroll",
      "custody:revoke",
      "emergency:complete",
      "emergency:request",
      "join-request:create",
      "workspace:decrypt",
      "workspace:encrypt",
      "workspace:request-access",
    ]);
  });

  it("gives a service data access through admissions and what custom roles add, even if it claims a role", async () => {
    expect((await allowedOf(subject("service", "super_admin"))).sort()).toEqual([
      "activity:read",
      "certificate:ca-chain",
      "message:own",
      "organization:read",
      "workspace:decrypt",
      "workspace:encrypt",
      "workspace:read",
    ]);
    const custom = subject("service", undefined, { permissions: [{ resource: "policy", action: "*" }] });
    expect([await allowed(custom, "policy:write"), await allowed(custom, "federation:read")]).toEqual([true, false]);
  });

  it("opens nothing to custom roles that is not marked for them", async () => {
    const everything = subject("user", undefined, { permissions: [{ resource: "*", action: "*" }] });
    for (const action of [
      "crk:sign",
      "crk:generate",
      "admin:write",
      "role:assign",
      "backup:restore",
      "audit:read",
      "message:deliver",
    ]) {
      expect(await allowed(everything, action), action).toBe(false);
    }
  });

  it("keeps emergency tokens away from keys, recovery, restore and admins", async () => {
    for (const action of [
      "crk:sign",
      "crk:generate",
      "crk:ceremony",
      "recovery:manage",
      "backup:restore",
      "admin:write",
      "admin:self",
    ]) {
      expect(await allowed(subject("emergency"), action), action).toBe(false);
    }
    expect(await allowed(subject("emergency"), "workspace:create")).toBe(true);
  });

  it("says why not", async () => {
    const why = async (by: Subject, action: string, org?: string) => {
      const decision = await policy.decide(question(by, action, org), 0);
      return decision.allowed ? "" : decision.reason;
    };
    expect(await why(subject("admin", "super_admin"), "workspace:steal")).toBe("the action is unknown");
    expect(await why(subject("admin", "super_admin"), "audit:read", "globex")).toBe(
      "callers act for their own organisation only",
    );
    expect(await why(subject("admin", "super_admin", { scopes: ["a:b"] }), "audit:read")).toBe("outside the granted scopes");
    expect(await why(subject("admin", "super_admin"), "message:deliver")).toBe("for federated partners only");
    expect(await why(subject("emergency"), "crk:sign")).toBe("not with an emergency token");
    expect(await why(subject("admin", "auditor"), "crk:sign")).toBe("the caller's role does not allow this");
  });
});

describe("a configured authorisation policy", () => {
  const MINE =
    'package gateway.authz\n\nallow if {\n\tinput.action == "audit:read"\n\tinput.context.method == "GET"\n\t"auditor" in input.subject.roles\n}\n\nreason := "auditors read the log, nobody does anything else"\n';

  it("decides in the place of the shipped one", async () => {
    const rig = await openRig({ settings: { authorization_policy: MINE } });
    try {
      const auditor = rig.admin("acme", "auditor");
      expect((await auditor("GET", "/api/v1/audit")).status).toBe(200);
      const refused = await auditor("GET", "/api/v1/workspaces");
      expect([refused.status, refused.body.error.code, refused.body.error.message]).toEqual([
        403,
        "FORBIDDEN",
        "auditors read the log, nobody does anything else",
      ]);
      expect((await rig.admin("acme")("GET", "/api/v1/audit")).status).toBe(403);
      const { body } = await auditor("GET", "/api/v1/audit?event_type=auth.failure");
      expect(body.events.map(({ result }: { result: string }) => result)).toEqual(["denied", "denied"]);
    } finally {
      await rig.close();
    }
  });

  it("denies when it fails, or answers anything but true", async () => {
    const engine = embeddedPolicyEngine();
    for (const [rule, reason] of [
      ["allow := 1 if true\n\nallow := 2 if true", "the authorisation policy failed: eval_conflict_error"],
      ['allow := "yes"', "the authorisation policy does not allow this"],
      ["allow if false", "the authorisation policy does not allow this"],
      ["deny := true", "the authorisation policy does not allow this"],
    ] as const) {
      const policy = await openAuthorisation({ engine, service: "gateway", source: `package gateway.authz\n\n${rule}\n` });
      expect(await policy.decide(question(subject("admin", "super_admin"), "audit:read"), 0), rule).toMatchObject({
        allowed: false,
        reason,
      });
    }
  });

  it("that does not compile, or is of another package, keeps the gateway from starting", async () => {
    for (const authorization_policy of ["package gateway.authz\n\nallow if {\n", "package other\n\nallow := true\n"]) {
      await expect(openRig({ settings: { authorization_policy } })).rejects.toMatchObject({ code: "config_invalid" });
    }
  });
});
