import { describe, expect, it } from "vitest";
import { adminRoles, authorizationMatrix, authorize, type Subject } from "../../src/keys/index.ts";

const subject = (type: string, role?: string, extra: Partial<Subject> = {}): Subject => ({
  type,
  roles: role === undefined ? [] : [role],
  scopes: [],
  permissions: [],
  ...extra,
});
const actions = Object.keys(authorizationMatrix);

describe("authorisation matrix", () => {
  it("denies what it does not know", () => {
    for (const action of ["", "constructor", "__proto__", "workspace:steal", "*:*"]) {
      expect(authorize(subject("admin", "super_admin"), action).allowed).toBe(false);
    }
  });

  it("an unknown role or type opens nothing", () => {
    for (const action of actions) {
      expect(authorize(subject("anonymous", "root"), action).allowed).toBe(false);
      expect(authorize(subject("", ""), action).allowed).toBe(false);
    }
  });

  it("partner calls are for partners, and partners have nothing else", () => {
    const partnerCalls = ["federation:peer", "message:deliver"];
    for (const action of actions) {
      expect(authorize(subject("partner", "super_admin"), action).allowed, action).toBe(partnerCalls.includes(action));
    }
    for (const action of partnerCalls) {
      for (const role of adminRoles) expect(authorize(subject("admin", role), action).allowed, action).toBe(false);
    }
  });

  it("auditors change nothing", () => {
    const allowed = actions.filter((action) => authorize(subject("user", "auditor"), action).allowed);
    const writes = allowed.filter(
      (action) => !/:(read|report|evaluate|validate|verify|ca-chain|own|submit|read-share)$/.test(action),
    );
    // Data access depends on an admission, the rest is open to every identity and narrowed to its own affairs.
    expect(writes.sort()).toEqual([
      "emergency:complete",
      "emergency:request",
      "join-request:create",
      "workspace:decrypt",
      "workspace:encrypt",
      "workspace:request-access",
    ]);
  });

  it("a service has data access through admissions and what custom roles add, even if it claims a role", () => {
    const bare = actions.filter((action) => authorize(subject("service", "super_admin"), action).allowed);
    expect(bare.sort()).toEqual([
      "activity:read",
      "certificate:ca-chain",
      "message:own",
      "organization:read",
      "workspace:decrypt",
      "workspace:encrypt",
      "workspace:read",
    ]);
    const custom = subject("service", undefined, { permissions: [{ resource: "policy", action: "*" }] });
    expect(authorize(custom, "policy:write").allowed).toBe(true);
    expect(authorize(custom, "federation:read").allowed).toBe(false);
  });

  it("custom roles never reach what the matrix does not open to them", () => {
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
      expect(authorize(everything, action).allowed, action).toBe(false);
    }
  });

  it("scopes only narrow", () => {
    const narrow = (scopes: string[]) => subject("admin", "super_admin", { scopes });
    expect(authorize(narrow(["openid", "profile"]), "crk:sign").allowed).toBe(true);
    expect(authorize(narrow(["workspace:read"]), "crk:sign").allowed).toBe(false);
    expect(authorize(narrow(["workspace:*"]), "workspace:create").allowed).toBe(true);
    expect(authorize(subject("user", undefined, { scopes: ["crk:sign"] }), "crk:sign").allowed).toBe(false);
  });

  it("an emergency token stays away from keys, recovery, restore and admins", () => {
    for (const action of [
      "crk:sign",
      "crk:generate",
      "crk:ceremony",
      "recovery:manage",
      "backup:restore",
      "admin:write",
      "admin:self",
    ]) {
      expect(authorize(subject("emergency"), action).allowed, action).toBe(false);
    }
    expect(authorize(subject("emergency"), "workspace:create").allowed).toBe(true);
  });
});
