import fc from "fast-check";
import { expect, it } from "vitest";
import {
  ceremonyStatus,
  emergencyEnd,
  emergencyStatus,
  generationStatus,
  initiateRecovery,
  isPast,
  lastMoment,
  recoveryStatus,
  requestEmergency,
  startCeremony,
  startGeneration,
  stepCeremony,
  stepEmergency,
  stepGeneration,
  stepRecovery,
  timestamp,
} from "../../src/keys/index.ts";

const begun = { id: "1", org: "acme", by: "ada", crk_id: "k", reason: "", holders: [], custodians: [] };
const moments = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });

/** Whatever ends by itself, begun at a moment: when it ends, its status then, and where its own step leads. */
const endings = (now: number) => {
  const ceremony = startCeremony(
    { ...begun, operation: "sign", threshold: 2, total_shares: 3, required_shares: 2, data: "AA==" },
    now,
  );
  const generation = startGeneration({ ...begun, threshold: 2, total_shares: 3 }, now);
  const recovery = initiateRecovery(
    { ...begun, admin_id: "bob", recovery_type: "lost_credentials", crk_epoch: 1, shares_needed: 2 },
    now,
  );
  const asked = requestEmergency(begun, now);
  const approved = stepEmergency(asked, { kind: "verify" }, now).state;
  const expire = { kind: "expire" } as const;
  return [
    [ceremony.expires_at, (at) => ceremonyStatus(ceremony, at), (at) => stepCeremony(ceremony, expire, at)],
    [generation.expires_at, (at) => generationStatus(generation, at), (at) => stepGeneration(generation, expire, at)],
    [recovery.expires_at, (at) => recoveryStatus(recovery, at), (at) => stepRecovery(recovery, expire, at)],
    ...[asked, approved].map(
      (access) =>
        [
          emergencyEnd(access) ?? "",
          (at: number) => emergencyStatus(access, at),
          (at: number) => stepEmergency(access, expire, at),
        ] as const,
    ),
  ] satisfies readonly (readonly [
    string,
    (at: number) => string,
    (at: number) => { readonly state: { readonly status: string } },
  ])[];
};

it("what time ends is still open at its last moment, over at the next, and steps there to what it then is", () => {
  fc.assert(
    fc.property(moments, (now) => {
      for (const [end, statusAt, expireAt] of endings(now)) {
        const last = lastMoment(end);
        expect(isPast(end, last)).toBe(false);
        expect(isPast(end, last + 1)).toBe(true);
        expect(statusAt(last)).not.toBe("expired");
        expect(statusAt(last + 1)).toBe("expired");
        expect(expireAt(last).state.status).toBe("expired");
        expect(() => expireAt(last + 1)).toThrow();
        expect(timestamp(last + 1)).toBe(end);
      }
    }),
  );
});
