import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { people } from "../../src/arbitraries/index.ts";
import {
  accessRefusal,
  areTwoPeople,
  type Factor,
  freshMfa,
  judgeFactor,
  lifetimes,
  mfaFailureLimit,
  requireCertifiableName,
  requireNewVoice,
} from "../../src/keys/index.ts";

const now = Date.UTC(2026, 0, 2);
const codeOf = (call: () => unknown): string | undefined => {
  try {
    call();
    return undefined;
  } catch (error) {
    if (isCoded(error)) return error.code;
    throw error;
  }
};

test("whatever codes come: each time step and each recovery code counts once, none before the factor is on, and wrong ones in a row lock it", () => {
  const codes = fc.array(
    fc.record({
      hash: fc.constantFrom("one", "two", "none"),
      step: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
      wait: fc.constantFrom(0, 1000, lifetimes.mfaLock),
    }),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(fc.boolean(), codes, (on, given) => {
      let factor: Factor = { ...freshMfa, verified: on, recovery_hashes: on ? ["one", "two"] : [] };
      const used = new Set<string>();
      let at = now;
      let wrong = 0;
      for (const { wait, ...code } of given) {
        at += wait;
        const before = factor;
        const locked = before.locked_until !== null && Date.parse(before.locked_until) > at;
        let judged: ReturnType<typeof judgeFactor> | undefined;
        const refused = codeOf(() => {
          judged = judgeFactor(before, code, at);
        });
        expect(refused).toBe(locked ? "RATE_LIMITED" : undefined);
        if (judged === undefined) continue;
        factor = judged.factor;
        expect(judged.turnedOn).toBe(judged.accepted && !before.verified);
        expect(factor.last_step).toBeGreaterThanOrEqual(before.last_step);
        wrong = judged.accepted ? 0 : wrong + 1;
        expect(wrong).toBeLessThanOrEqual(mfaFailureLimit);
        if (wrong === mfaFailureLimit) {
          expect(factor.locked_until).not.toBeNull();
          wrong = 0;
        }
        if (!judged.accepted) {
          expect(factor.recovery_hashes).toEqual(before.recovery_hashes);
          continue;
        }
        const recovered = before.verified && before.recovery_hashes.includes(code.hash);
        const name = recovered ? code.hash : `step ${code.step}`;
        expect(used.has(name)).toBe(false);
        used.add(name);
        expect(factor.recovery_hashes.includes(code.hash)).toBe(false);
        if (recovered) expect(factor.last_step).toBe(before.last_step);
      }
    }),
  );
});

test("one person is one voice: an approval counts only of somebody who is known to be another than everyone before", () => {
  fc.assert(
    fc.property(people, fc.array(people, { maxLength: 4 }), (caller, approvers) => {
      const another = approvers.every((approver) => areTwoPeople(caller, approver));
      expect(codeOf(() => requireNewVoice(caller, approvers))).toBe(another ? undefined : "CONFLICT");
      expect(codeOf(() => requireNewVoice(caller, [...approvers, caller]))).toBe("CONFLICT");
    }),
  );
});

test("a refusal keeps its code, says of a policy which reason it had, and of a workspace that is not there nothing", () => {
  const codes = fc.constantFrom("NOT_FOUND", "NOT_ADMITTED", "POLICY_VIOLATION", "WORKSPACE_ARCHIVED", "WORKSPACE_EXPIRED");
  fc.assert(
    fc.property(codes, fc.string({ minLength: 1 }), (code, reason) => {
      const { error, event } = accessRefusal({ code, reason });
      expect(error.code).toBe(code);
      if (code === "NOT_FOUND") expect(error.message).toBe("workspace not found");
      if (code === "POLICY_VIOLATION") expect(error.details).toEqual({ deny_reason: reason });
      expect(event).toBe({ POLICY_VIOLATION: "policy.violation", NOT_ADMITTED: "workspace.admission.denied" }[code as string]);
    }),
  );
});

test("names that mean something to the gateway itself are nobody's, however they are spelled and whoever was given them", () => {
  const name = fc.constantFrom("internal.local", "billing.internal.local", "federation.globex", "federation.x.y");
  fc.assert(
    fc.property(
      name,
      fc.boolean(),
      fc.boolean(),
      fc.constantFrom("client" as const, "server" as const),
      (plain, upper, dot, usage) => {
        const spelled = (upper ? plain.toUpperCase() : plain) + (dot ? "." : "");
        const given = { own: [], given: { acme: [plain, ".local", ".globex"] } };
        const asked = { org: "acme", usage, name: spelled, field: "common_name" };
        expect(codeOf(() => requireCertifiableName(given, asked))).toBe("VALIDATION_ERROR");
      },
    ),
  );
});
