import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emergencyInputs } from "../../src/arbitraries/index.ts";
import { type EmergencyAccess, emergencyStatus, requestEmergency, stepEmergency } from "../../src/keys/index.ts";

const start = Date.UTC(2026, 0, 2);
const hour = 3_600_000;
describe("break-glass request", () => {
  it("is approved only by two other persons or the root key, decided once, and yields one token", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(emergencyInputs, fc.integer({ min: 0, max: 8 * hour })), { maxLength: 20 }), (steps) => {
        let access: EmergencyAccess = requestEmergency({ id: "e", org: "acme", reason: "fire", by: "ada" }, start);
        let now = start;
        let tokens = 0;
        let voices = new Set<string>();
        let verified = false;
        for (const [next, wait] of steps) {
          now += wait;
          const before = emergencyStatus(access, now);
          try {
            const { state, effects } = stepEmergency(access, next, now);
            if (next.kind === "approve") voices.add(next.by);
            if (next.kind === "void_approvals" && before === "pending")
              voices = new Set([...voices].filter((v) => v !== next.by));
            if (next.kind === "verify") verified = true;
            tokens += effects.filter((effect) => effect.kind === "issue_token").length;
            access = state;
          } catch (error) {
            expect(isCoded(error)).toBe(true);
          }
          const after = emergencyStatus(access, now);
          if (after === "approved") expect(verified || (voices.size >= 2 && !voices.has("ada"))).toBe(true);
          if (["denied", "completed", "expired"].includes(before)) expect(after).toBe(before);
          expect(tokens).toBeLessThanOrEqual(1);
          expect(access.approved_by).not.toContain("ada");
          expect(new Set(access.approved_by).size).toBe(access.approved_by.length);
        }
      }),
    );
  });

  it("a request expires after 24 h, its token after 1 h", () => {
    const pending = requestEmergency({ id: "e", org: "acme", reason: "fire", by: "ada" }, start);
    expect(emergencyStatus(pending, start + 24 * hour - 1)).toBe("pending");
    expect(emergencyStatus(pending, start + 24 * hour)).toBe("expired");
    const approved = stepEmergency(pending, { kind: "verify" }, start).state;
    expect(emergencyStatus(approved, start + hour - 1)).toBe("approved");
    expect(emergencyStatus(approved, start + hour)).toBe("expired");
    expect(stepEmergency(approved, { kind: "complete" }, start + 1).effects).toEqual([{ kind: "revoke_token" }]);
  });
});
