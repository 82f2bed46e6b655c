import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Ceremony, ceremonyStatus, type Holder, startCeremony, stepCeremony } from "../../src/keys/index.ts";

const now = Date.UTC(2026, 0, 2);
const somebody = (identity_id: string): Holder => ({
  identity_id,
  identity_type: "user",
  name: identity_id,
  emails: [`${identity_id}@acme.example`],
});
const active = ["bob", "eve", "zoe"];
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
      holders: [],
      custodians: [],
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
    const once = stepCeremony(pending(), { kind: "share", index: 2, holder: somebody("bob") }, now).state;
    expect(code(() => stepCeremony(once, { kind: "share", index: 2, holder: somebody("eve") }, now))).toBe("CONFLICT");
    expect(once.submitted_indexes).toEqual([2]);
  });

  it("completes with exactly the required shares and a witness who took no part", () => {
    let ceremony = pending(2);
    ceremony = stepCeremony(ceremony, { kind: "share", index: 4, holder: somebody("bob") }, now).state;
    expect(code(() => stepCeremony(ceremony, { kind: "complete", witness: "wit", by: "ada", active }, now))).toBe(
      "CRK_THRESHOLD_NOT_MET",
    );
    ceremony = stepCeremony(ceremony, { kind: "share", index: 1, holder: somebody("eve") }, now).state;
    expect(code(() => stepCeremony(ceremony, { kind: "complete", witness: "bob", by: "ada", active }, now))).toBe("FORBIDDEN");
    expect(code(() => stepCeremony(ceremony, { kind: "complete", witness: "ada", by: "ada", active }, now))).toBe("FORBIDDEN");
    const done = stepCeremony(ceremony, { kind: "complete", witness: "wit", by: "ada", active }, now);
    expect(done.state).toMatchObject({ status: "completed", witness: "wit", submitted_indexes: [1, 4] });
    expect(done.effects).toEqual([{ kind: "erase_shares" }]);
  });

  it("comes to nothing once somebody who brought a share has left", () => {
    let ceremony = pending(2);
    for (const [index, who] of [
      [1, "bob"],
      [2, "eve"],
    ] as const) {
      ceremony = stepCeremony(ceremony, { kind: "share", index, holder: somebody(who) }, now).state;
    }
    const complete = (present: readonly string[]) =>
      code(() => stepCeremony(ceremony, { kind: "complete", witness: "wit", by: "ada", active: present }, now));
    expect(complete(["bob"])).toBe("STATE_CONFLICT");
    expect(complete(["bob", "eve"])).toBe("ok");
  });

  it("expires by itself and takes nothing afterwards", () => {
    const ceremony = pending(2, 1000);
    expect(ceremonyStatus(ceremony, now + 999)).toBe("pending");
    expect(ceremonyStatus(ceremony, now + 1000)).toBe("expired");
    expect(code(() => stepCeremony(ceremony, { kind: "share", index: 1, holder: somebody("bob") }, now + 1000))).toBe(
      "STATE_CONFLICT",
    );
  });

  it("ends at most once, whatever is tried in whatever order (model)", () => {
    const input = fc.oneof(
      fc.record({
        kind: fc.constant("share" as const),
        index: fc.integer({ min: 1, max: 4 }),
        holder: fc.constantFrom("bob", "eve", "zoe").map(somebody),
      }),
      fc.record({
        kind: fc.constant("complete" as const),
        witness: fc.constantFrom("bob", "wit"),
        by: fc.constant("ada"),
        active: fc.constant(active),
      }),
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
              (step.kind === "share" && !model.shares.has(step.index) && !model.by.has(step.holder.identity_id)) ||
              (step.kind === "complete" && model.shares.size >= 2 && !model.by.has(step.witness)));
          const result = code(() => {
            const next = stepCeremony(ceremony, step, now);
            ceremony = next.state;
          });
          expect(result === "ok").toBe(legal);
          if (!legal) continue;
          if (step.kind === "share") {
            model.shares.add(step.index);
            model.by.add(step.holder.identity_id);
          } else model.over = true;
        }
        expect(ceremony.submitted_indexes).toEqual([...model.shares].sort((a, b) => a - b));
      }),
    );
  });
});
