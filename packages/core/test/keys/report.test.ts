import { isAboutPerson, isKeyUse, reportFacts, reportPeriod, reportTypes, timestamp } from "@seneschal/core/keys";
import { isCoded, type Json } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";

const now = Date.UTC(2026, 5, 1);
const time = fc.integer({ min: 0, max: now }).map(timestamp);
const maybe = fc.option(time, { nil: undefined });
const type = fc.constantFrom(...reportTypes);

test("a report is about a period that ends now unless another end is named, and never one that ends before it begins; about a person it begins with the log", () => {
  fc.assert(
    fc.property(type, maybe, maybe, (of, since, until) => {
      try {
        const period = reportPeriod({ type: of, since, until }, now);
        expect(period.until).toBe(until ?? timestamp(now));
        if (since !== undefined) expect(period.since).toBe(since);
        else if (of === "gdpr-dsar") expect(period.since).toBe(timestamp(0));
        else expect(Date.parse(period.until) - Date.parse(period.since)).toBe(30 * 86_400_000);
        if (of !== "gdpr-dsar") expect(period.since <= period.until).toBe(true);
      } catch (error) {
        if (!isCoded(error, "VALIDATION_ERROR")) throw error;
        expect([of !== "gdpr-dsar", (since ?? "") > (until ?? timestamp(now))]).toEqual([true, true]);
      }
    }),
  );
});

test("a report says that part of its period is archived when it is, and says nothing of what was archived before", () => {
  fc.assert(
    fc.property(type, maybe, time, time, (of, since, until, archivedUntil) => {
      const [first, last] = since !== undefined && since > until ? [until, since] : [since, until];
      const period = reportPeriod({ type: of, since: first, until: last }, now);
      const archived = { through: 7, until: archivedUntil };
      const facts = { id: "r", type: of, org_id: "acme", generated_by: "ada", period, log_size: 9 };
      const made = reportFacts({ ...facts, archived }, now);
      expect(made).toEqual({ ...facts, generated_at: timestamp(now), ...(archivedUntil >= period.since && { archived }) });
      expect(reportFacts(facts, now)).not.toHaveProperty("archived");
    }),
  );
});

test("an event is about a person who did it or whose name stands anywhere in it as a whole, and about nobody else", () => {
  const ids = new Set(["ada", "ada@acme.example"]);
  const metadata = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
  const without = metadata.filter((value) => ![...ids].some((id) => JSON.stringify(value).includes(JSON.stringify(id))));
  fc.assert(
    fc.property(without, fc.constantFrom(...ids), fc.array(fc.constantFrom("list", "member", "deep")), (value, id, path) => {
      expect(isAboutPerson({ actor: "bob", metadata: value }, ids)).toBe(false);
      expect(isAboutPerson({ actor: id, metadata: value }, ids)).toBe(true);
      expect(isAboutPerson({ actor: "bob", metadata: { note: `of ${id}` } }, ids)).toBe(false);
      const held = path.reduce<Json>((inner, kind) => (kind === "list" ? [value, inner] : { value, [kind]: inner }), id);
      expect(isAboutPerson({ actor: "bob", metadata: held }, ids)).toBe(true);
    }),
  );
});

test("only what was encrypted or decrypted is a use of a key", () => {
  for (const event_type of ["encrypt", "decrypt", "key.rotate", "audit.export"])
    for (const result of ["success", "error", "denied"])
      expect(isKeyUse({ event_type, result })).toBe(result === "success" && ["encrypt", "decrypt"].includes(event_type));
});
