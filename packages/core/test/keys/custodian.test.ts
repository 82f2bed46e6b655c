import { people } from "@seneschal/core/arbitraries";
import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CONFIRMATIONS,
  type CustodyCeremony,
  confirmCustodian,
  custodianTable,
  custodyCeremonyStatus,
  type EnrolledCustodian,
  enrollCustodian,
  isSamePerson,
  type Person,
  requireCustodyTerm,
  requireOpenCeremony,
  requireRelayed,
  revokeCustodian,
} from "../../src/keys/index.ts";

const now = Date.UTC(2026, 0, 2);
const FINGERPRINT = "ab".repeat(32);
const enrolled = enrollCustodian(
  { id: "c", org_id: "acme", identity_id: "a", identity_type: "admin", name: "Ada", fingerprint: FINGERPRINT },
  now,
);
const refused = (run: () => unknown): readonly unknown[] => {
  try {
    run();
    return [];
  } catch (error) {
    return isCoded(error) ? [error.code, error.details["field"]] : ["not coded"];
  }
};

describe("a custodian's keys", () => {
  it("count only when as many different persons as it takes, none of them the holder, have confirmed the right fingerprint", () => {
    const attempts = fc.array(
      fc.oneof(
        fc.record({ by: people, fingerprint: fc.constantFrom(FINGERPRINT, FINGERPRINT, "cd".repeat(32)) }),
        fc.constant("revoke" as const),
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(people, attempts, (holder, history) => {
        let custodian: EnrolledCustodian = enrolled;
        const confirmed: Person[] = [];
        let revoked = false;
        for (const attempt of history) {
          const before = custodian;
          try {
            if (attempt === "revoke") {
              custodian = revokeCustodian(custodian, "officer", now);
              revoked = true;
            } else {
              custodian = confirmCustodian(custodian, { ...attempt, holder, before: confirmed }, now);
              expect(attempt.fingerprint).toBe(FINGERPRINT);
              confirmed.push(attempt.by);
            }
          } catch (error) {
            expect(isCoded(error)).toBe(true);
            expect(custodian).toBe(before);
          }
          const persons = [holder, ...confirmed];
          const different = persons.every((one, i) => persons.slice(0, i).every((other) => !isSamePerson(one, other)));
          expect(different).toBe(true);
          expect(custodian.status === "active").toBe(!revoked && confirmed.length >= CONFIRMATIONS);
          if (revoked) expect(custodian.status).toBe("revoked");
        }
      }),
    );
  });

  it("never count again once they are revoked", () => {
    expect(Object.values(custodianTable.revoked)).toEqual([{ refuse: "STATE_CONFLICT" }, { refuse: "STATE_CONFLICT" }]);
  });
});

describe("a ceremony that a gateway relays", () => {
  const ceremony: CustodyCeremony = {
    id: "x",
    org_id: "acme",
    ceremony: "c",
    kind: "generate",
    status: "open",
    threshold: 2,
    total_shares: 3,
    participants: [],
    entries: 1,
    head: "",
    crk_id: null,
    crk_version: null,
    started_by: "a",
    created_at: "",
    updated_at: "",
    expires_at: new Date(now + 1000).toISOString(),
  };

  it("takes an entry from its author alone, by a clock that is off by five minutes at most", () => {
    const at = now / 1000;
    expect(refused(() => requireRelayed({ author: "a", at }, "b", now))).toEqual(["FORBIDDEN", undefined]);
    for (const off of [-300, 0, 300]) expect(refused(() => requireRelayed({ author: "a", at: at + off }, "a", now))).toEqual([]);
    for (const off of [-301, 301]) {
      expect(refused(() => requireRelayed({ author: "a", at: at + off }, "a", now))).toEqual(["VALIDATION_ERROR", "entry.at"]);
    }
  });

  it("takes none once its end has come, whatever is stored, and is given thirty days at most", () => {
    expect(refused(() => requireOpenCeremony(ceremony, now))).toEqual([]);
    expect(custodyCeremonyStatus(ceremony, now + 1000)).toBe("expired");
    expect(refused(() => requireOpenCeremony(ceremony, now + 1000))).toEqual(["STATE_CONFLICT", undefined]);
    expect(custodyCeremonyStatus({ ...ceremony, status: "active" }, now + 1000)).toBe("active");
    const seconds = now / 1000;
    expect(refused(() => requireCustodyTerm(seconds, now))).toEqual(["VALIDATION_ERROR", "entry.act.expires_at"]);
    expect(requireCustodyTerm(seconds + 30 * 86_400, now)).toBe(new Date(now + 30 * 86_400_000).toISOString());
    expect(refused(() => requireCustodyTerm(seconds + 30 * 86_400 + 1, now))[0]).toBe("VALIDATION_ERROR");
  });
});
