import { expiringVersions, type ListedVersion, lifecycleDue, uploadExpired } from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";
import { lifecycleRules, objectVersions } from "../../src/arbitraries/index.ts";
import { inFilter } from "../../src/storage/lifecycle.ts";

const day = 10;
const start = 1000;
/** All versions of a key, the latest first; of some the current one is gone. */
const versions: fc.Arbitrary<readonly ListedVersion[]> = fc
  .tuple(fc.array(objectVersions(start), { maxLength: 6 }), fc.boolean())
  .map(([all, current]) =>
    all.map((version, i) => ({
      ...version,
      ordinal: start - i,
      latest: current && i === 0,
      ...(i > 0 && { superseded_at: start - i + 1 }),
    })),
  );
const later = fc.integer({ min: 0, max: 6 * day });

test("of a key the versions expire that its rules name, each judged by its place among the others", () => {
  fc.assert(
    fc.property(lifecycleRules, versions, later, (all, ofKey, after) => {
      const now = start + after;
      const due = new Map(expiringVersions(all, ofKey, now, day).map((one) => [one.version, one.due]));
      const past = ofKey.filter(({ latest }) => !latest);
      for (const [i, version] of ofKey.entries()) {
        const { key, size, tags = [], modified_at: modifiedAt, superseded_at: supersededAt = modifiedAt, latest } = version;
        const newer = latest ? past.length : past.filter((other) => ofKey.indexOf(other) < i).length;
        const facts = { key, size, tags, modifiedAt, marker: version.delete_marker === true, others: newer };
        expect(due.get(version)).toBe(lifecycleDue(all, latest ? facts : { ...facts, supersededAt }, now, day));
        // Nobody's rule ends what is current for good, but a marker that hides nothing.
        if (latest && due.get(version) === "remove") expect([version.delete_marker, past.length]).toEqual([true, 0]);
        if (!latest) expect(due.get(version)).not.toBe("delete");
      }
    }),
  );
});

test("as many versions of the past stay as a rule keeps, however old they are", () => {
  fc.assert(
    fc.property(versions, fc.integer({ min: 0, max: 4 }), (ofKey, newer) => {
      const keeping = { id: "r", enabled: true, filter: {}, form: "filter", noncurrent: { newer } } as const;
      const gone = expiringVersions([keeping], ofKey, start + 1000 * day, day).map(({ version }) => version);
      const past = ofKey.filter(({ latest }) => !latest);
      expect(gone).toEqual(past.slice(newer));
    }),
  );
});

test("what is due stays due: time brings nothing back, and no rule that is off ends anything", () => {
  fc.assert(
    fc.property(lifecycleRules, versions, later, later, (all, ofKey, one, more) => {
      const dueAt = (now: number) => expiringVersions(all, ofKey, now, day).map(({ version }) => version);
      for (const version of dueAt(start + one)) expect(dueAt(start + one + more)).toContain(version);
      const off = all.map((each) => ({ ...each, enabled: false }));
      expect(expiringVersions(off, ofKey, start + one, day)).toEqual([]);
      expect(uploadExpired(off, { key: "a", started_at: start }, start + one, day)).toBe(false);
    }),
  );
});

test("an upload is given up at the midnight behind the days of a rule that is about its key", () => {
  fc.assert(
    fc.property(lifecycleRules, fc.constantFrom("a", "b", "c"), later, (all, key, after) => {
      const expected = all.some(
        ({ enabled, abort, filter }) =>
          enabled && abort !== undefined && inFilter(filter, { key, size: 0, tags: [] }) && after >= abort * day,
      );
      expect(uploadExpired(all, { key, started_at: start }, start + after, day)).toBe(expected);
    }),
  );
});
