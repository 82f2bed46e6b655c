import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { admissionCounts, byMembership, classifications, requireGivesWay, requireMember } from "../../src/keys/index.ts";

const codeOf = (call: () => unknown): string | undefined => {
  try {
    call();
    return undefined;
  } catch (error) {
    if (isCoded(error)) return error.code;
    throw error;
  }
};
const known = fc.option(
  fc
    .record({ granted_by: fc.constantFrom(byMembership, "ada"), via_group: fc.constantFrom(null, "g1", undefined) })
    .map(({ granted_by, via_group }) => ({ granted_by, ...(via_group !== undefined && { via_group }) })),
  { nil: undefined },
);

test("what nobody decided gives way to every decision; what somebody gave by itself to none, and what came through a group to a grant alone", () => {
  fc.assert(
    fc.property(known, fc.constantFrom("grant" as const, "request" as const), (admission, to) => {
      const code = codeOf(() => requireGivesWay(admission, to));
      if (admission === undefined || admission.granted_by === byMembership) return void expect(code).toBeUndefined();
      const byItself = (admission.via_group ?? null) === null;
      expect(code).toBe(to === "grant" && !byItself ? undefined : "CONFLICT");
      // What counts whatever becomes of groups is never replaced.
      if (admissionCounts(admission, { bound: undefined, member: false })) expect(code).toBe("CONFLICT");
    }),
  );
});

test("only a SECRET workspace with a group of the organisation asks whether somebody is in it", () => {
  fc.assert(
    fc.property(fc.constantFrom(...classifications), fc.boolean(), fc.boolean(), (classification, bound, member) => {
      const refused = classification === "SECRET" && bound && !member;
      expect(codeOf(() => requireMember(classification, { bound, member }))).toBe(refused ? "NOT_ADMITTED" : undefined);
    }),
  );
});
