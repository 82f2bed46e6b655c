import { isCoded } from "@seneschal/kernel";
import { describe, expect, it } from "vitest";
import {
  admit,
  ask,
  createAdmin,
  createCrk,
  decideJoinRequest,
  invitationStatus,
  invite,
  isOrganizationId,
  isUuid,
  requireInvited,
  revokeAdmission,
  stepAdmin,
  stepCrk,
  stepInvitation,
  uuid,
} from "../../src/keys/index.ts";

const now = Date.UTC(2026, 0, 2);
const attempt = (run: () => unknown): string => {
  try {
    run();
    return "ok";
  } catch (error) {
    return isCoded(error) ? error.code : "not coded";
  }
};

describe("invitation", () => {
  const invitation = invite({ id: "i", workspace_id: "w", org: "globex", by: "ada" }, now, 1000);

  it("is answered once, in time, by the invited organisation", () => {
    const accepted = stepInvitation(invitation, "accept", now + 1);
    expect(accepted).toMatchObject({ status: "accepted", responded_at: new Date(now + 1).toISOString() });
    expect(attempt(() => stepInvitation(accepted, "decline", now + 2))).toBe("STATE_CONFLICT");
    expect(attempt(() => stepInvitation(invitation, "accept", now + 1000))).toBe("INVITATION_EXPIRED");
    expect(invitationStatus(invitation, now + 1000)).toBe("expired");
    expect(attempt(() => requireInvited(invitation, "initech"))).toBe("FORBIDDEN");
  });
});

describe("admission", () => {
  const admission = admit({ id: "a", workspace_id: "w", org: "globex", identity_id: "u", identity_type: "user", by: "x" }, now);

  it("is revoked by its own organisation or the owner, for good", () => {
    const by = (org: string, ownsWorkspace = false) => ({ id: "y", org, ownsWorkspace });
    expect(attempt(() => revokeAdmission(admission, by("initech"), now))).toBe("FORBIDDEN");
    expect(attempt(() => revokeAdmission(admission, by("acme", true), now))).toBe("ok");
    const revoked = revokeAdmission(admission, by("globex"), now);
    expect(attempt(() => revokeAdmission(revoked, by("globex"), now))).toBe("STATE_CONFLICT");
  });
});

describe("join request", () => {
  const request = ask(
    { id: "r", org: "acme", workspace_id: null, group_id: "g", requester_id: "u", requester_type: "user", reason: "" },
    now,
  );

  it("nobody decides their own, and a decision stands", () => {
    expect(attempt(() => decideJoinRequest(request, { kind: "approve", by: "u" }, now))).toBe("FORBIDDEN");
    const denied = decideJoinRequest(request, { kind: "deny", by: "x" }, now);
    expect(attempt(() => decideJoinRequest(denied, { kind: "approve", by: "x" }, now))).toBe("STATE_CONFLICT");
  });
});

describe("customer root key", () => {
  it("keeps its public key through a rotation and raises the epoch", () => {
    const crk = createCrk({ id: "k", org: "acme", public_key: "pk", threshold: 3, total_shares: 5, custodians: [] }, now);
    const rotating = stepCrk(crk, { kind: "start_rotation" }, now);
    expect(attempt(() => stepCrk(rotating, { kind: "start_rotation" }, now))).toBe("STATE_CONFLICT");
    const rotated = stepCrk(rotating, { kind: "finish_rotation", threshold: 4, total_shares: 7, custodians: [] }, now + 5);
    expect(rotated).toMatchObject({ public_key: "pk", version: 2, threshold: 4, total_shares: 7, status: "active" });
  });
});

describe("admin", () => {
  const enrolled = stepAdmin(
    createAdmin({ id: "a", org: "acme", email: "a@x", name: "A", role: "super_admin", by: null, bootstrap: true }, now).state,
    { kind: "enroll", serial: "01", cn: "a", expiry: new Date(now).toISOString() },
    1,
    now,
  ).state;

  it("the last active super admin cannot be disabled, demoted or deleted", () => {
    for (const input of [{ kind: "disable" }, { kind: "delete" }, { kind: "edit", role: "auditor" }] as const) {
      expect(attempt(() => stepAdmin(enrolled, input, 1, now))).toBe("LAST_ADMIN");
      expect(attempt(() => stepAdmin(enrolled, input, 2, now))).toBe("ok");
    }
  });

  it("disabling takes every right away, enabling starts a new enrolment", () => {
    const disabled = stepAdmin(enrolled, { kind: "disable" }, 2, now);
    expect(disabled.effects).toEqual([
      { kind: "revoke_certificate", serial: "01" },
      { kind: "void_tokens" },
      { kind: "void_approvals" },
    ]);
    const enabled = stepAdmin(disabled.state, { kind: "enable" }, 1, now);
    expect(enabled.state).toMatchObject({ enrollment_status: "pending", cert_serial: null });
    expect(enabled.effects).toEqual([{ kind: "issue_enrollment_token" }]);
  });
});

describe("ids", () => {
  it("UUIDs are version 7 and sort by time", () => {
    const random = (n: number) => new Uint8Array(n).fill(0xff);
    const ids = [1, 2, 1000, now].map((at) => uuid(at, random));
    expect(ids.every(isUuid)).toBe(true);
    expect([...ids].sort()).toEqual(ids);
    expect(ids[3]?.[14]).toBe("7");
  });

  it("a UUID is that of the example of RFC 9562, appendix A.6, for its time and bits", () => {
    const random = () => Uint8Array.of(0xac, 0xc3, 0x58, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f);
    expect(uuid(Date.parse("2022-02-22T19:22:22Z"), random)).toBe("017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    expect(uuid(0.5, random)).toMatch(/^00000000-0000-7cc3/);
  });

  it("organisation ids are opaque: 1 to 128 printable characters without a slash", () => {
    for (const good of ["acme", "ACME Ltd.", "日本", "a".repeat(128), "a:b|c"]) expect(isOrganizationId(good), good).toBe(true);
    for (const bad of ["", "a/b", "a\nb", "\u0000", "a".repeat(129)]) expect(isOrganizationId(bad), bad).toBe(false);
  });
});
