import { isCoded } from "@seneschal/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Ceremony, ceremonyStatus, startCeremony, stepCeremony } from "../../src/keys/index.ts";

const now = Date.UTC(2026, 0, 2);
const pending = (required = 3, lifetime = 1000): Ceremony =>
  startCeremony(
    {
      id: "c1",
      org: "acme",
      crk_id: "k1",
      operation: "sign",
      threshold: required,
      total_shares: 5,
      required_shares: required,
      by: "ada",
      data: "AA==",
    },
    now,
    lifetime,
  );
const code = (run: () => unknown): string => {
  try {
    run();
    return "ok";
  } catch (error) {
    return isCoded(error) ? error.code : "not coded";
  }
};

describe("ceremony", () => {
  it("a share given twice does not count twice", () => {
    const once = stepCeremony(pending(), { kind: "share", index: 2, by: "bob" }, now).state;
    expect(code(() => stepCeremony(once, { kind: "share", index: 2, by: "eve" }, now))).toBe("CONFLICT");
    expect(once.submitted_indexes).toEqual([2]);
  });

  it("completes with exactly the required shares and a witness who took no part", () => {
    let ceremony = pending(2);
    ceremony = stepCeremony(ceremony, { kind: "share", index: 4, by: "bob" }, now).state;
    expect(code(() => stepCeremony(ceremony, { kind: "complete", witness: "wit", by: "ada" }, now))).toBe(
      "CRK_THRESHOLD_NOT_MET",
    );
    ceremony = stepCeremony(ceremony, { kind: "share", index: 1, by: "eve" }, now).state;
    expect(code(() => stepCeremony(ceremony, { kind: "complete", witness: "bob", by: "ada" }, now))).toBe("FORBIDDEN");
    expect(code(() => stepCeremony(ceremony, { kind: "complete", witness: "ada", by: "ada" }, now))).toBe("FORBIDDEN");
    const done = stepCeremony(ceremony, { kind: "complete", witness: "wit", by: "ada" }, now);
    expect(done.state).toMatchObject({ status: "completed", witness: "wit", submitted_indexes: [1, 4] });
    expect(done.effects).toEqual([{ kind: "erase_shares" }]);
  });

  it("expires by itself and takes nothing afterwards", () => {
    const ceremony = pending(2, 1000);
    expect(ceremonyStatus(ceremony, now + 999)).toBe("pending");
    expect(ceremonyStatus(ceremony, now + 1000)).toBe("expired");
    expect(code(() => stepCeremony(ceremony, { kind: "share", index: 1, by: "bob" }, now + 1000))).toBe("STATE_CONFLICT");
  });

  it("ends at most once, whatever is tried in whatever order (model)", () => {
    const input = fc.oneof(
      fc.record({
        kind: fc.constant("share" as const),
        index: fc.integer({ min: 1, max: 4 }),
        by: fc.constantFrom("bob", "eve"),
      }),
      fc.record({ kind: fc.constant("complete" as const), witness: fc.constantFrom("bob", "wit"), by: fc.constant("ada") }),
      fc.constant({ kind: "cancel" as const }),
    );
    fc.assert(
      fc.property(fc.array(input, { maxLength: 20 }), (inputs) => {
        let ceremony = pending(2);
        const model = { shares: new Set<number>(), by: new Set<string>(), over: false };
        for (const step of inputs) {
          const legal =
            !model.over &&
            (step.kind === "cancel" ||
              (step.kind === "share" && !model.shares.has(step.index)) ||
              (step.kind === "complete" && model.shares.size >= 2 && !model.by.has(step.witness)));
          const result = code(() => {
            const next = stepCeremony(ceremony, step, now);
            ceremony = next.state;
          });
          expect(result === "ok").toBe(legal);
          if (!legal) continue;
          if (step.kind === "share") {
            model.shares.add(step.index);
            model.by.add(step.by);
          } else model.over = true;
        }
        expect(ceremony.submitted_indexes).toEqual([...model.shares].sort((a, b) => a - b));
      }),
    );
  });
});
