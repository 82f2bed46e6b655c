import {
  checkRetentionChange,
  holdsAsMuch,
  type Retention,
  type RetentionChange,
  retentionModes,
  retentionOfReplica,
} from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";

const retention = fc.record({ mode: fc.constantFrom(...retentionModes), until: fc.nat(5) });
const now = fc.nat(5);
const whose = fc.constantFrom<RetentionChange>("holder", "bypass", "replica");
const changes = (before: Retention | undefined, after: Retention | undefined, at: number, by: RetentionChange): boolean => {
  try {
    checkRetentionChange(before, after, at, by);
    return true;
  } catch {
    return false;
  }
};
/** Whether a version is held at a time, against a caller. */
const held = ({ mode, until }: Retention, at: number, bypass: boolean) => until > at && !(bypass && mode === "GOVERNANCE");

test("a retention that holds as much as another one holds whenever that does, against whom that does", () => {
  fc.assert(
    fc.property(retention, retention, (one, other) => {
      const times = [0, 1, 2, 3, 4, 5];
      const covers = times.every((at) => [true, false].every((bypass) => !held(other, at, bypass) || held(one, at, bypass)));
      if (holdsAsMuch(one, other)) expect(covers).toBe(true);
    }),
  );
});

test("nobody ends a running COMPLIANCE sooner or makes it less; only who bypasses does so to GOVERNANCE; who copies, and who holds, make nothing less", () => {
  fc.assert(
    fc.property(retention, fc.option(retention, { nil: undefined }), now, whose, (before, after, at, by) => {
      const weaker = after === undefined || !holdsAsMuch(after, before);
      const may = changes(before, after, at, by);
      if (before.until <= at) expect(may).toBe(true);
      else if (weaker) expect(may).toBe(by === "bypass" && before.mode === "GOVERNANCE");
      else if (after.mode === before.mode || by !== "holder") expect(may).toBe(true);
      else expect(may).toBe(false);
    }),
  );
});

test("what becomes of a copy's retention holds as much as it did there and as the version's does here, and the copy's server lets it through; else it is refused", () => {
  fc.assert(
    fc.property(fc.option(retention, { nil: undefined }), retention, now, (there, wanted, at) => {
      const change = retentionOfReplica(there, wanted, at);
      const after = change === "put" ? wanted : there;
      const runs = there !== undefined && there.until > at;
      if (change === "refused") {
        expect(runs && !holdsAsMuch(wanted, there) && !holdsAsMuch(there, wanted)).toBe(true);
        return;
      }
      expect(after !== undefined && holdsAsMuch(after, wanted)).toBe(true);
      if (runs) expect(after !== undefined && holdsAsMuch(after, there)).toBe(true);
      if (change === "put") expect(changes(there, wanted, at, "replica")).toBe(true);
    }),
  );
});
