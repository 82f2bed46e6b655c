import { isCoded } from "@seneschal/kernel";
import { describe, expect, it } from "vitest";
import {
  enrollDevice,
  freshMfa,
  isActiveDevice,
  isRotationDue,
  type Message,
  mfaFailureLimit,
  nextDelivery,
  nextRotation,
  requireRestorable,
  requireRotationAge,
  revokeDevice,
  startBackup,
  stepBackup,
  stepMessage,
  verifyMfa,
} from "../../src/keys/index.ts";

const now = Date.UTC(2026, 0, 2);
const at = (ms: number) => new Date(ms).toISOString();
const hour = 3_600_000;
const code = (run: () => unknown): string => {
  try {
    run();
    return "ok";
  } catch (error) {
    return isCoded(error) ? error.code : "not coded";
  }
};

describe("device", () => {
  const facts = { id: "d", org: "acme", device_name: "hsm", device_type: "server", cert_serial: "0a" };

  it("acts until its certificate ends or it is revoked, with its certificate, for good", () => {
    expect(code(() => enrollDevice({ ...facts, cert_expiry: at(now) }, now))).toBe("VALIDATION_ERROR");
    const device = enrollDevice({ ...facts, cert_expiry: at(now + hour) }, now);
    expect(isActiveDevice(device, now)).toBe(true);
    expect(isActiveDevice(device, now + hour)).toBe(false);
    const revoked = revokeDevice(device, now + 1);
    expect(revoked.effects).toEqual([{ kind: "revoke_certificate", serial: "0a" }]);
    expect(isActiveDevice(revoked.state, now + 2)).toBe(false);
    expect(code(() => revokeDevice(revoked.state, now + 2))).toBe("STATE_CONFLICT");
  });
});

describe("message", () => {
  const sent: Message = {
    id: "m",
    org_id: "acme",
    direction: "sent",
    conversation_id: null,
    sender_org_id: "acme",
    sender_id: "ada",
    recipient_org_id: "globex",
    recipient_id: "bob",
    subject: "s",
    body: "AA==",
    status: "pending",
    expires_at: at(now + hour),
    delivered_at: null,
    read_at: null,
    error_detail: null,
    attempts: 0,
    created_at: at(now),
    updated_at: at(now),
  };

  it("is tried again, later and later, until it expires; then it has failed", () => {
    const missed = stepMessage(sent, { kind: "miss", detail: "down" }, now + 1);
    expect(missed).toMatchObject({ status: "pending", attempts: 1, error_detail: "down" });
    expect(nextDelivery(sent)).toBe(now);
    expect(nextDelivery(missed)).toBe(now + 1 + 5000);
    expect(nextDelivery({ ...missed, attempts: 30 })).toBe(now + 1 + 15 * 60_000);
    expect(stepMessage(missed, { kind: "miss", detail: "down" }, now + hour).status).toBe("failed");
  });

  it("is delivered once, and the recipient's first reading is the one that counts", () => {
    const delivered = stepMessage(sent, { kind: "deliver" }, now + 1);
    expect(stepMessage(delivered, { kind: "deliver" }, now + 2)).toBe(delivered);
    const received: Message = { ...sent, direction: "received", status: "delivered" };
    const read = stepMessage(received, { kind: "read" }, now + 3);
    expect(read).toMatchObject({ status: "read", read_at: at(now + 3) });
    expect(stepMessage(read, { kind: "read" }, now + 9)).toBe(read);
    expect(stepMessage(sent, { kind: "read" }, now)).toBe(sent);
  });
});

describe("backup", () => {
  it("restores only when completed, into its own organisation or a clean instance", () => {
    const pending = startBackup({ id: "b", org: "acme", by: "ada" }, now);
    expect(code(() => stepBackup(pending, { kind: "restore" }, now))).toBe("STATE_CONFLICT");
    const completed = stepBackup(pending, { kind: "complete", size: 3, checksum: "x" }, now);
    expect(stepBackup(completed, { kind: "restore" }, now + 1)).toMatchObject({ status: "completed", restored_at: at(now + 1) });
    expect(code(() => requireRestorable("acme", "acme", false))).toBe("ok");
    expect(code(() => requireRestorable("acme", "globex", true))).toBe("ok");
    expect(code(() => requireRestorable("acme", "globex", false))).toBe("RESTORE_FORBIDDEN");
  });
});

describe("rotation policy", () => {
  const policy = {
    id: "p",
    org_id: "acme",
    workspace_id: "w",
    max_age: hour,
    enabled: true,
    created_at: at(now),
    updated_at: at(now),
  };

  it("counts the age of the data key, between 1 h and 3650 d, while enabled", () => {
    expect(nextRotation(policy, at(now))).toBe(at(now + hour));
    expect(isRotationDue(policy, at(now), now + hour - 1)).toBe(false);
    expect(isRotationDue(policy, at(now), now + hour)).toBe(true);
    expect(nextRotation({ ...policy, enabled: false }, at(now))).toBeNull();
    expect(isRotationDue({ ...policy, enabled: false }, at(now), now + 9 * hour)).toBe(false);
    expect(code(() => requireRotationAge(hour - 1))).toBe("VALIDATION_ERROR");
    expect(code(() => requireRotationAge(3650 * 24 * hour + 1))).toBe("VALIDATION_ERROR");
    expect(code(() => requireRotationAge(hour))).toBe("ok");
  });
});

describe("second factor", () => {
  it("counts only after a verified code, refuses replay, and locks after five failures in a row", () => {
    expect(freshMfa.verified).toBe(false);
    const first = verifyMfa(freshMfa, 100, now);
    expect(first).toMatchObject({ accepted: true, mfa: { verified: true, last_step: 100 } });
    expect(verifyMfa(first.mfa, 100, now).accepted).toBe(false);
    expect(verifyMfa(first.mfa, 99, now).accepted).toBe(false);
    let mfa = first.mfa;
    for (let i = 0; i < mfaFailureLimit; i++) mfa = verifyMfa(mfa, undefined, now).mfa;
    expect(code(() => verifyMfa(mfa, 101, now))).toBe("RATE_LIMITED");
    expect(verifyMfa(mfa, 101, now + 15 * 60_000).accepted).toBe(true);
  });
});
