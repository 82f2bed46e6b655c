import { awaitedParticipants, type CeremonyParticipant, custodyCeremonyKinds } from "@seneschal/core/keys";
import { describe, expect, test } from "vitest";

const part = (role: CeremonyParticipant["role"], seat: number): CeremonyParticipant => {
  const name = `${role} ${seat}`;
  return { role, seat, enrollment_id: name, identity_id: name, fingerprint: name };
};
const seats = [1, 2, 3].map((seat) => part("custodian", seat));
const others = [part("witness", 0), part("starter", 0)];
const awaited = (kind: (typeof custodyCeremonyKinds)[number], total_shares: number, done: readonly number[]) =>
  awaitedParticipants({ kind, total_shares, participants: [...seats, ...others] }, done);

describe("a ceremony cannot come to its end without", () => {
  test.each(custodyCeremonyKinds)("any of its people before they have dealt, in a %s", (kind) => {
    expect(awaited(kind, 3, [])).toEqual([...seats, ...others]);
  });

  test.each(["generate", "refresh"] as const)("any of its people at all, in a %s", (kind) => {
    expect(awaited(kind, 3, [1, 2, 3])).toEqual([...seats, ...others]);
  });

  test("those who are given a share, the witness and the starter, where others only dealt", () => {
    expect(awaited("reshare", 2, [2, 3])).toEqual([...seats.slice(0, 2), ...others]);
    expect(awaited("repair", 5, [2, 3])).toEqual([...seats.slice(0, 1), ...others]);
  });
});
