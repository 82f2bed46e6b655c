import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { workspaceInputs } from "../../src/arbitraries/index.ts";
import {
  createWorkspace,
  stepWorkspace,
  type Workspace,
  workspaceOperations,
  workspaceRefusal,
  workspaceStatus,
} from "../../src/keys/index.ts";

const now = Date.UTC(2026, 0, 2);
const iso = (ms: number) => new Date(ms).toISOString();
const fresh = (over: Partial<Workspace> = {}): Workspace => ({
  ...createWorkspace(
    {
      id: "w1",
      org: "acme",
      by: "ada",
      name: "deal",
      classification: "CONFIDENTIAL",
      mode: "standard",
      purpose: "",
      group_id: null,
      crk_protected: false,
    },
    now,
  ).state,
  ...over,
});
const attempt = (run: () => unknown): string => {
  try {
    run();
    return "ok";
  } catch (error) {
    return isCoded(error) ? error.code : "not coded";
  }
};

describe("workspace", () => {
  it("what each status allows is exactly the table of the brief", () => {
    const refused = (status: "active" | "archived" | "expired") =>
      workspaceOperations.filter((operation) => workspaceRefusal(status, operation) !== undefined);
    expect(refused("active")).toEqual([]);
    expect(refused("archived")).toEqual(["update", "encrypt", "rotate", "extend", "invite", "accept", "request_access", "grant"]);
    expect(refused("expired")).toEqual(["update", "encrypt", "decrypt", "rotate", "invite"]);
  });

  it("archiving twice changes nothing the second time, and there is no way back", () => {
    const archived = stepWorkspace(fresh(), { kind: "archive" }, now).state;
    expect(stepWorkspace(archived, { kind: "archive" }, now + 1).state).toBe(archived);
    expect(attempt(() => stepWorkspace(archived, { kind: "extend", expires_at: iso(now + 9e6) }, now))).toBe(
      "WORKSPACE_ARCHIVED",
    );
  });

  it("extension goes forward only, and revives an expired workspace", () => {
    const expiring = fresh({ expires_at: iso(now + 1000) });
    expect(workspaceStatus(expiring, now + 2000)).toBe("expired");
    const revived = stepWorkspace(expiring, { kind: "extend", expires_at: iso(now + 9000) }, now + 2000).state;
    expect(workspaceStatus(revived, now + 2000)).toBe("active");
    expect(attempt(() => stepWorkspace(revived, { kind: "extend", expires_at: iso(now + 8000) }, now))).toBe("VALIDATION_ERROR");
    expect(attempt(() => stepWorkspace(fresh(), { kind: "extend", expires_at: iso(now) }, now))).toBe("VALIDATION_ERROR");
  });

  it("lowering the protection needs a signature, raising it does not", () => {
    const secret = fresh({ classification: "SECRET", mode: "airgap" });
    for (const changes of [{ classification: "CONFIDENTIAL" as const }, { mode: "standard" as const }]) {
      expect(attempt(() => stepWorkspace(secret, { kind: "update", changes, signed: false }, now))).toBe("SIGNATURE_REQUIRED");
      expect(attempt(() => stepWorkspace(secret, { kind: "update", changes, signed: true }, now))).toBe("ok");
    }
    expect(
      attempt(() => stepWorkspace(fresh(), { kind: "update", changes: { classification: "SECRET" }, signed: false }, now)),
    ).toBe("ok");
  });

  it("a removed organisation forces a new key version that it does not get", () => {
    const joined = stepWorkspace(fresh(), { kind: "join", org: "globex", group_id: "g" }, now).state;
    const left = stepWorkspace(joined, { kind: "leave", org: "globex" }, now);
    expect(left.state.dek_version).toBe(2);
    expect(left.state.group_bindings).toEqual({});
    expect(left.effects).toEqual([
      { kind: "drop_deks", org: "globex" },
      { kind: "revoke_admissions", org: "globex" },
      { kind: "mint_dek", version: 2, orgs: ["acme"] },
    ]);
  });

  it("a protected workspace is deleted only when every participant signed", () => {
    const shared = stepWorkspace(fresh({ crk_protected: true }), { kind: "join", org: "globex", group_id: null }, now).state;
    expect(attempt(() => stepWorkspace(shared, { kind: "delete", signed_by: ["acme"] }, now))).toBe("SIGNATURE_REQUIRED");
    expect(stepWorkspace(shared, { kind: "delete", signed_by: ["acme", "globex"] }, now).effects).toContainEqual({
      kind: "destroy",
    });
  });

  it("revision, key version and protection never go back, whatever happens (model)", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(workspaceInputs(now), fc.integer({ min: 0, max: 3000 })), { maxLength: 25 }), (inputs) => {
        let workspace = fresh({ crk_protected: true });
        let at = now;
        for (const [step, later] of inputs) {
          at += later;
          const before = workspace;
          if (attempt(() => (workspace = stepWorkspace(before, step, at).state)) !== "ok") expect(workspace).toBe(before);
          if (workspace !== before) expect(workspace.revision).toBe(before.revision + 1);
          expect(workspace.dek_version).toBeGreaterThanOrEqual(before.dek_version);
          expect(workspace.crk_protected).toBe(true);
          expect(before.status === "archived" && workspace.status !== "archived").toBe(false);
          expect(workspace.participants.filter((p) => p.role === "owner").map((p) => p.org_id)).toEqual(["acme"]);
          expect(new Set(workspace.participants.map((p) => p.org_id)).size).toBe(workspace.participants.length);
        }
      }),
    );
  });
});
