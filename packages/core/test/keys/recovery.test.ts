import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Holder, initiateRecovery, type RecoveryType, recoveryStatus, stepRecovery } from "../../src/keys/index.ts";

const now = Date.UTC(2026, 0, 2);
const somebody = (identity_id: string): Holder => ({
  identity_id,
  identity_type: "user",
  name: identity_id,
  emails: [`${identity_id}@acme.example`],
});
const active = ["c1", "c2", "c3", "c4", "c5"];
const open = (recovery_type: RecoveryType = "lost_credentials") =>
  initiateRecovery(
    {
      id: "r",
      org: "acme",
      admin_id: "bob",
      recovery_type,
      reason: "",
      crk_id: "k",
      crk_epoch: 1,
      shares_needed: 3,
      by: "ada",
      holders: [],
    },
    now,
  );
const code = (run: () => unknown): string => {
  try {
    run();
    return "ok";
  } catch (error) {
    return isCoded(error) ? error.code : "not coded";
  }
};

describe("account recovery", () => {
  it("completes only with the threshold of distinct shares, and counting calls is no recovery", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 12 }), (indexes) => {
        let recovery = open();
        for (const index of indexes) {
          try {
            recovery = stepRecovery(recovery, { kind: "share", index, holder: somebody(`c${index}`) }, now).state;
          } catch (error) {
            expect(isCoded(error, "CONFLICT", "STATE_CONFLICT")).toBe(true);
          }
        }
        const enough = new Set(indexes).size >= 3;
        expect(recovery.status).toBe(enough ? "shares_collected" : "pending");
        expect(code(() => stepRecovery(recovery, { kind: "complete", active }, now))).toBe(
          enough ? "ok" : "CRK_THRESHOLD_NOT_MET",
        );
      }),
    );
  });

  it("erases the shares however it ends, and does what its type says", () => {
    const collected = (type: RecoveryType) =>
      [1, 2, 3].reduce(
        (state, index) => stepRecovery(state, { kind: "share", index, holder: somebody(`c${index}`) }, now).state,
        open(type),
      );
    expect(stepRecovery(collected("lost_credentials"), { kind: "complete", active }, now).effects).toEqual([
      { kind: "erase_shares" },
      { kind: "reset_credentials", admin_id: "bob" },
    ]);
    expect(stepRecovery(collected("locked_account"), { kind: "complete", active }, now).effects).toEqual([
      { kind: "erase_shares" },
      { kind: "clear_lock", admin_id: "bob" },
    ]);
    for (const kind of ["fail", "expire"] as const) {
      expect(stepRecovery(open(), { kind }, now).effects).toEqual([{ kind: "erase_shares" }]);
    }
  });

  it("is not opened by the one it is for, and expires after a day", () => {
    expect(
      code(() =>
        initiateRecovery(
          {
            id: "r",
            org: "acme",
            admin_id: "ada",
            recovery_type: "locked_account",
            reason: "",
            crk_id: "k",
            crk_epoch: 1,
            shares_needed: 2,
            by: "ada",
            holders: [],
          },
          now,
        ),
      ),
    ).toBe("FORBIDDEN");
    expect(recoveryStatus(open(), now + 24 * 3_600_000)).toBe("expired");
    expect(code(() => stepRecovery(open(), { kind: "share", index: 1, holder: somebody("c1") }, now + 24 * 3_600_000))).toBe(
      "STATE_CONFLICT",
    );
  });
});
