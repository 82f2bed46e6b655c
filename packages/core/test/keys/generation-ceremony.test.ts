import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultKdf, type Holder, startGeneration, stepGeneration } from "../../src/keys/index.ts";

const now = Date.UTC(2026, 0, 2);
const start = (total: number, threshold: number) =>
  startGeneration({ id: "g1", org: "acme", by: "ada", total_shares: total, threshold, custodians: [] }, now);
const somebody = (identity_id: string): Holder => ({
  identity_id,
  identity_type: "user",
  name: identity_id,
  emails: [`${identity_id}@acme.example`],
});
const seed = (index: number, who = `c${index}`) => ({
  kind: "seed" as const,
  holder: somebody(who),
  entry: { index, custodian_name: `c${index}`, salt: "AAAA", kdf_params: defaultKdf },
});
const attempt = (run: () => unknown): string => {
  try {
    run();
    return "ok";
  } catch (error) {
    return isCoded(error) ? error.code : "not coded";
  }
};

describe("generation ceremony", () => {
  it("is seeded exactly when every index has its seed, in any order", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([1, 2, 3, 4, 5], { minLength: 5 }), (order) => {
        let ceremony = start(5, 3);
        for (const [i, index] of order.entries()) {
          ceremony = stepGeneration(ceremony, seed(index), now).state;
          expect(ceremony.status).toBe(i === 4 ? "seeded" : "pending");
        }
        expect(ceremony.seed_entries.map((entry) => entry.index)).toEqual([1, 2, 3, 4, 5]);
      }),
    );
  });

  it("takes an index once and only within its range", () => {
    const one = stepGeneration(start(3, 2), seed(1), now).state;
    expect(attempt(() => stepGeneration(one, seed(1), now))).toBe("CONFLICT");
    expect(attempt(() => stepGeneration(one, seed(4), now))).toBe("VALIDATION_ERROR");
    expect(attempt(() => stepGeneration(one, seed(0), now))).toBe("VALIDATION_ERROR");
  });

  it("completes once, only when seeded, and always erases the keys when it ends", () => {
    let ceremony = stepGeneration(start(2, 2), seed(1), now).state;
    expect(attempt(() => stepGeneration(ceremony, { kind: "complete", crk_id: "k", active: ["c1", "c2"] }, now))).toBe(
      "STATE_CONFLICT",
    );
    expect(stepGeneration(ceremony, { kind: "cancel" }, now).effects).toEqual([{ kind: "erase_keys" }]);
    ceremony = stepGeneration(ceremony, seed(2), now).state;
    const done = stepGeneration(ceremony, { kind: "complete", crk_id: "k", active: ["c1", "c2"] }, now);
    expect(done.effects).toEqual([{ kind: "erase_keys" }]);
    for (const input of [
      { kind: "complete", crk_id: "k", active: ["c1", "c2"] },
      { kind: "cancel" },
      { kind: "expire" },
    ] as const) {
      expect(attempt(() => stepGeneration(done.state, input, now))).toBe("STATE_CONFLICT");
    }
  });

  it("refuses thresholds that are no threshold", () => {
    for (const [total, threshold] of [
      [5, 1],
      [5, 6],
      [5, 0],
      [256, 3],
    ] as const) {
      expect(attempt(() => start(total, threshold))).toBe("INVALID_THRESHOLD");
    }
  });
});
