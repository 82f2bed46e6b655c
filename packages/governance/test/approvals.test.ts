import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ApprovalRecord,
  approvalStatus,
  decideApproval,
  givenApproval,
  isSameHolder,
  type KeyHolder,
  requestApproval,
  revokeApproval,
} from "../src/index.ts";

const start = Date.UTC(2026, 0, 1);
const WEEK = 7 * 86_400_000;
const person = fc.constantFrom("ada", "bob", "cy");
const keyId = fc.constantFrom("k1", "k2", "k3", "maker");
const holder: fc.Arbitrary<KeyHolder> = fc.record({
  id: keyId,
  person: fc.option(person, { nil: undefined }),
  issuers: fc.uniqueArray(keyId, { maxLength: 2 }).map((ids) => new Set(ids)),
  unrecorded: fc.constantFrom(undefined, undefined, undefined, "old"),
});
const asked = fc.record({ by: person, seconds: fc.integer({ min: 1, max: 1_000_000 }) }).map(({ by, seconds }) =>
  requestApproval(
    {
      id: "p",
      org: "acme",
      request: {
        user_context: { user_id: by, role: "analyst", department: "sales" },
        operation_type: "EXPORT",
        source_resources: ["crm.customers"],
        approval_id: "another",
      },
      reason: "audit",
      duration_seconds: seconds,
      requested_key: "k1",
    },
    start,
  ),
);
const codeOf = (work: () => unknown): string => {
  try {
    work();
    return "";
  } catch (error) {
    if (isCoded(error)) return error.code;
    throw error;
  }
};

test("nobody gives a leave to themselves: not by name, not with a key from the same hand, not with one of which nobody knows whose it is", () => {
  const decision = fc.record({
    approve: fc.boolean(),
    person,
    durationSeconds: fc.option(fc.integer({ min: 1, max: 2_000_000 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(asked, decision, holder, holder, fc.nat(2 * WEEK), (approval, given, decider, asker, later) => {
      const now = start + later;
      let decided: ApprovalRecord | undefined;
      const code = codeOf(() => {
        decided = decideApproval(approval, given, { decider, asker }, now);
      });
      const another = decider.person !== undefined && decider.person !== given.person;
      const own = given.person === approval.requested_by || isSameHolder(decider, asker);
      expect(code).toBe(later >= WEEK ? "conflict" : another || own ? "forbidden" : "");
      if (decided === undefined) return;
      expect([decider.unrecorded, asker.unrecorded, decider.id === asker.id]).toEqual([undefined, undefined, false]);
      expect(decided.decided_by).toBe(given.person);
      expect(decided.duration_seconds).toBe(
        Math.min(approval.duration_seconds, given.durationSeconds ?? approval.duration_seconds),
      );
      expect(decided.request).toBe(approval.request);
      if (given.approve) expect(Date.parse(decided.expires_at)).toBe(now + decided.duration_seconds * 1000);
      expect(givenApproval(decided)?.approvedBy).toBe(given.approve ? given.person : undefined);
    }),
    { numRuns: 500 },
  );
});

test("a leave is decided once and ends once: what is refused, taken back or over stays so, and evaluation sees what was given alone", () => {
  const asker: KeyHolder = { id: "k1", person: undefined, issuers: new Set() };
  const decider: KeyHolder = { id: "k2", person: "dan", issuers: new Set() };
  const steps = fc.array(fc.tuple(fc.constantFrom("approve", "reject", "revoke"), fc.nat(WEEK)), { maxLength: 8 });
  fc.assert(
    fc.property(asked, steps, (first, history) => {
      expect(first.request).not.toHaveProperty("approval_id");
      let approval = first;
      let now = start;
      for (const [what, later] of history) {
        now += later;
        const before = approval;
        const status = approvalStatus(before, now);
        const code = codeOf(() => {
          approval =
            what === "revoke"
              ? revokeApproval(before, now)
              : decideApproval(before, { approve: what === "approve", person: "dan" }, { decider, asker }, now);
        });
        const may = what === "revoke" ? status === "pending" || status === "approved" : status === "pending";
        expect(code).toBe(may ? "" : "conflict");
        if (!may) expect(approval).toBe(before);
        expect(givenApproval(approval) !== undefined).toBe(approval.status === "approved");
      }
    }),
  );
  expect(givenApproval(undefined)).toBeUndefined();
});

test("one person under another spelling is that person, as who asked and as who decides", () => {
  const spelled = fc.constantFrom("ADA", "Ada ", " ada", "ａｄａ", "a\u200bda", "a\u00adda");
  fc.assert(
    fc.property(asked, spelled, (approval, name) => {
      const holders = {
        decider: { id: "k9", person: undefined, issuers: new Set<string>() },
        asker: { id: "k1", person: undefined, issuers: new Set<string>() },
      };
      const decide = () => decideApproval({ ...approval, requested_by: "ada" }, { approve: true, person: name }, holders, start);
      expect(codeOf(decide)).toBe("forbidden");
      const key = { id: "k8", person: name, issuers: new Set(["maker"]) };
      expect(isSameHolder({ id: "k7", person: "ada", issuers: new Set(["maker"]) }, key)).toBe(true);
    }),
  );
});
