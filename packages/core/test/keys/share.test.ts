import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  confirmShare,
  isSettled,
  judgePush,
  offerShare,
  type Push,
  type Replica,
  requireKeyVersions,
  requireRevision,
  retirePolicies,
  type Share,
  shareStages,
  shareTable,
  stepShare,
} from "../../src/keys/index.ts";

const now = Date.UTC(2026, 0, 2);
const code = (call: () => unknown): string => {
  try {
    call();
  } catch (error) {
    return isCoded(error) ? error.code : "?";
  }
  return "none";
};
const fresh = (invitation_id = "i1"): Share =>
  offerShare({ workspace_id: "w", org_id: "acme", partner_org_id: "globex", federation_id: "f", invitation_id }, now);

describe("a share", () => {
  it("numbers everything that the partner must hear, and what has ended says no more", () => {
    const joined = stepShare(stepShare(fresh(), { kind: "change" }, now), { kind: "join" }, now);
    expect(joined).toMatchObject({ stage: "shared", sequence: 3 });
    const ended = stepShare(joined, { kind: "end" }, now);
    expect(ended).toMatchObject({ stage: "ended", sequence: 4 });
    expect(stepShare(ended, { kind: "change" }, now)).toBe(ended);
    expect(stepShare(ended, { kind: "offer", invitation_id: "i2", federation_id: "g" }, now)).toMatchObject({
      stage: "offered",
      sequence: 5,
      invitation_id: "i2",
      federation_id: "g",
    });
    expect(code(() => stepShare(joined, { kind: "join" }, now))).toBe("STATE_CONFLICT");
    expect(code(() => stepShare(joined, { kind: "offer", invitation_id: "i2", federation_id: "f" }, now))).toBe("STATE_CONFLICT");
    for (const stage of shareStages) expect(Object.keys(shareTable[stage]).sort()).toEqual(["change", "end", "join", "offer"]);
  });

  const told = { revision: 3, state_sha256: "aa", dek_version: 2 };
  const confirm = (share: Share, known: number, sent = share.sequence) => confirmShare(share, known, { sent, told }, now);
  const confirmed = (share: Share, known: number): Share => {
    const outcome = confirm(share, known);
    if (outcome.kind === "refused") throw new Error("refused");
    return outcome.share;
  };

  it("is settled when the partner knows the newest; one that knows more is told again under a greater number", () => {
    const share = stepShare(fresh(), { kind: "change" }, now);
    expect(isSettled(confirmed(share, 1))).toBe(false);
    expect(isSettled(confirmed(share, 2))).toBe(true);
    expect(confirmed(confirmed(share, 2), 1).confirmed).toBe(2);
    const restored = confirmed(share, 40);
    expect([confirm(share, 40).kind, restored.sequence, isSettled(restored)]).toEqual(["ahead", 41, false]);
  });

  it("refuses a confirmation that leaps: no answer uses up the numbers", () => {
    for (const known of [2 ** 48, 2 ** 48 - 1, 1_000_000, 65_539]) {
      expect(confirm(stepShare(fresh(), { kind: "change" }, now), known), String(known)).toEqual({ kind: "refused" });
    }
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 200 }), (claims) => {
        let share = fresh();
        for (const known of claims) {
          const outcome = confirm(share, known);
          if (outcome.kind !== "refused") share = outcome.share;
        }
        expect(share.sequence).toBeLessThan(1 + (claims.length + 1) * 65_538);
        expect(share.confirmed).toBeLessThanOrEqual(share.sequence);
      }),
    );
  });

  it("remembers what stood under the number that was confirmed, until the partner joins anew", () => {
    const shared = stepShare(fresh(), { kind: "join" }, now);
    expect(confirmed(shared, 2).follower).toMatchObject(told);
    const late = confirm(shared, 1, 2);
    expect(late.kind === "refused" ? "" : late.share.follower).toBeUndefined();
    const changed = stepShare(confirmed(shared, 2), { kind: "change" }, now);
    expect(changed.follower).toMatchObject(told);
    const again = stepShare(
      stepShare(changed, { kind: "end" }, now),
      { kind: "offer", invitation_id: "i2", federation_id: "f" },
      now,
    );
    expect(again.follower).toBeUndefined();
  });
});

describe("a push", () => {
  const replica = (given: Partial<Replica> = {}) => ({ stage: "shared" as const, sequence: 5, invitation_id: "i1", ...given });
  const push = (given: Partial<Push> = {}): Push => ({ sequence: 6, stage: "shared", ...given });

  it("makes nobody part of what was not accepted here", () => {
    expect(code(() => judgePush(undefined, push()))).toBe("STATE_CONFLICT");
    for (const stage of ["offered", "declined"] as const) {
      expect(code(() => judgePush(replica({ stage }), push()))).toBe("STATE_CONFLICT");
    }
    expect(judgePush(replica({ stage: "accepted" }), push())).toBe("share");
  });

  it("that is not newer changes nothing, whatever it says", () => {
    for (const stage of shareStages) {
      expect(judgePush(replica(), push({ stage, sequence: 5, invitation_id: "i9" }))).toBe("stale");
    }
    expect(judgePush(undefined, push({ stage: "ended" }))).toBe("stale");
  });

  it("an offer keeps an answer to the same invitation, never takes back what is shared, and another one begins afresh", () => {
    const offer = (invitation_id: string) => push({ stage: "offered", invitation_id });
    expect(judgePush(replica({ stage: "accepted" }), offer("i1"))).toBe("offer");
    expect(code(() => judgePush(replica(), offer("i1")))).toBe("STATE_CONFLICT");
    expect(judgePush(replica(), offer("i2"))).toBe("replace");
    expect(judgePush(undefined, offer("i1"))).toBe("offer");
    expect(judgePush(replica(), push({ stage: "ended" }))).toBe("end");
  });

  it("never lowers, leaves out or forgets a key version", () => {
    requireKeyVersions([], 0, [1, 2], 2);
    requireKeyVersions([1, 2], 2, [1, 2, 3], 3);
    requireKeyVersions([1, 2], 2, [3], 3);
    requireKeyVersions([1], 1, [], 1);
    for (const [known, inForce, pushed, next] of [
      [[1, 2], 2, [1], 1],
      [[1], 1, [3], 3],
      [[1, 2, 3], 2, [1, 2], 2],
      [[], 0, [], 1],
      [[], 0, [0, 1], 2],
      [[], 0, [1, 1.5], 2],
      [[], 0, [1], 8192],
    ] as const) {
      expect(code(() => requireKeyVersions(known, inForce, pushed, next))).toBe("STATE_CONFLICT");
    }
  });

  it("says one thing of one revision, and never an older one", () => {
    const known = { revision: 4, state_sha256: "aa" };
    requireRevision({}, { revision: 1, state_sha256: "aa" });
    requireRevision(known, known);
    requireRevision(known, { revision: 5, state_sha256: "bb" });
    expect(code(() => requireRevision(known, { revision: 4, state_sha256: "bb" }))).toBe("STATE_CONFLICT");
    expect(code(() => requireRevision(known, { revision: 3, state_sha256: "aa" }))).toBe("STATE_CONFLICT");
  });

  it("brings no policy back that was taken away, as far as a thousand are remembered", () => {
    const first = retirePolicies(undefined, [{ id: "a", version: 3 }]);
    expect(retirePolicies(first, [{ id: "a", version: 2 }])).toEqual({ a: 3 });
    const many = Array.from({ length: 1000 }, (_, i) => ({ id: `p${i}`, version: 1 }));
    const later = retirePolicies(first, many);
    expect([Object.keys(later).length, later["a"], later["p999"]]).toEqual([1000, undefined, 1]);
  });
});

/** Owner and partner with a network between them that loses, repeats and reorders. */
describe("owner and partner", () => {
  type Known = Pick<Replica, "stage" | "sequence" | "invitation_id"> | undefined;
  type Said = Push & { readonly at: number };
  const step = fc.oneof(
    fc.record({ kind: fc.constantFrom("change" as const, "end" as const, "invite" as const, "send" as const) }),
    fc.record({ kind: fc.constantFrom("deliver" as const, "lose" as const, "repeat" as const), which: fc.nat(20) }),
    fc.record({ kind: fc.constantFrom("accept" as const, "decline" as const) }),
  );

  it("agree once the network lets everything through, and the partner never goes back on the way", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let share: Share | undefined = fresh();
        let known: Known;
        let invitations = 1;
        const wire: Said[] = [];
        const send = (): void => {
          if (share !== undefined && !isSettled(share)) {
            wire.push({ sequence: share.sequence, stage: share.stage, invitation_id: share.invitation_id, at: share.sequence });
          }
        };
        const confirm = (number: number): void => {
          if (share === undefined) return;
          const outcome = confirmShare(share, number, { sent: share.sequence, told: undefined }, now);
          if (outcome.kind === "refused") throw new Error("refused");
          share = outcome.share;
          if (share.stage === "ended" && isSettled(share)) share = undefined;
        };
        const receive = (sent: Said): void => {
          const before = known?.sequence ?? 0;
          let verdict: ReturnType<typeof judgePush>;
          try {
            verdict = judgePush(known, sent);
          } catch (error) {
            expect(isCoded(error, "STATE_CONFLICT")).toBe(true);
            return;
          }
          if (verdict === "end") known = undefined;
          else if (verdict === "share" && known !== undefined) known = { ...known, stage: "shared", sequence: sent.sequence };
          else if (verdict === "offer" && known !== undefined) known = { ...known, sequence: sent.sequence };
          else if (verdict !== "stale") {
            known = { stage: "offered", sequence: sent.sequence, invitation_id: sent.invitation_id ?? "" };
          }
          if (known !== undefined) expect(known.sequence).toBeGreaterThanOrEqual(before);
          confirm(verdict === "stale" ? (known?.sequence ?? sent.sequence) : sent.sequence);
        };
        /** The answer reaches the owner. */
        const answer = (): void => {
          if (known === undefined || share === undefined || share.invitation_id !== known.invitation_id) return;
          if (known.stage === "accepted" && share.stage === "offered") share = stepShare(share, { kind: "join" }, now);
          if (known.stage === "declined" && share.stage === "offered") share = stepShare(share, { kind: "end" }, now);
        };
        for (const one of steps) {
          if (one.kind === "change" && share !== undefined) share = stepShare(share, { kind: "change" }, now);
          if (one.kind === "end" && share !== undefined) share = stepShare(share, { kind: "end" }, now);
          if (one.kind === "invite" && (share === undefined || share.stage === "ended")) {
            const invitation_id = `i${++invitations}`;
            share =
              share === undefined
                ? fresh(invitation_id)
                : stepShare(share, { kind: "offer", invitation_id, federation_id: "f" }, now);
          }
          if (one.kind === "send") send();
          if ("which" in one && wire.length > 0) {
            const sent = wire[one.which % wire.length] as Said;
            if (one.kind !== "repeat") wire.splice(one.which % wire.length, 1);
            if (one.kind !== "lose") receive(sent);
          }
          if ((one.kind === "accept" || one.kind === "decline") && known?.stage === "offered") {
            known = { ...known, stage: one.kind === "accept" ? "accepted" : "declined" };
            answer();
          }
        }
        for (let i = 0; i < 20 && share !== undefined && !isSettled(share); i++) {
          answer();
          send();
          const last = wire.at(-1);
          if (last !== undefined) receive(last);
        }
        if (share === undefined) expect(known?.stage ?? "none").not.toBe("shared");
        else if (share.stage === "shared") expect(known?.stage).toBe("shared");
        else expect(known?.stage).not.toBe("shared");
      }),
    );
  }, 1_800_000);
});
