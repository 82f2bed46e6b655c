import fc from "fast-check";
import { expect, test } from "vitest";
import { AuditTally, activityColumns, activityOf, isKeyUse, LastUses, seesActivityOf, timestamp } from "../../src/keys/index.ts";

const actors = fc.constantFrom("ada", "bob", "cy", "eve");
const events = fc.array(
  fc.record({
    id: fc.uuid(),
    timestamp: fc.integer({ min: 0, max: 1e12 }).map(timestamp),
    event_type: fc.constantFrom("encrypt", "decrypt", "key.rotate", "policy.update"),
    actor: actors,
    result: fc.constantFrom("success" as const, "error" as const, "denied" as const),
    workspace: fc.constantFrom("", "w1"),
  }),
  { maxLength: 60 },
);

test("figures count every event once by its result and once by its type, in whatever order, and actors as far as they are remembered", () => {
  fc.assert(
    fc.property(events, fc.integer({ min: 0, max: 5 }), (all, remembered) => {
      const tally = new AuditTally(remembered);
      for (const event of all) tally.count(event);
      const { total_events, success_count, error_count, denied_count, events_by_type } = tally.figures();
      expect(total_events).toBe(all.length);
      expect(success_count + error_count + denied_count).toBe(all.length);
      expect(denied_count).toBe(all.filter(({ result }) => result === "denied").length);
      for (const [type, count] of Object.entries(events_by_type))
        expect(count).toBe(all.filter(({ event_type }) => event_type === type).length);
      const different = new Set(all.map(({ actor }) => actor)).size;
      expect(tally.actors).toBe(different <= remembered ? different : undefined);
      const backwards = new AuditTally(remembered);
      for (const event of [...all].reverse()) backwards.count(event);
      expect(JSON.stringify(backwards.figures())).toBe(JSON.stringify(tally.figures()));
    }),
  );
});

test("who used a key last is read off the newest use of each, and no older event is looked at than it takes", () => {
  fc.assert(
    fc.property(events, fc.uniqueArray(actors), (all, people) => {
      const newestFirst = [...all].sort((a, b) => (a.timestamp < b.timestamp ? 1 : -1));
      const uses = new LastUses(people);
      const looked = newestFirst.findIndex((event) => uses.see(event));
      for (const person of people) {
        const newest = newestFirst.find((event) => isKeyUse(event) && event.actor === person);
        expect(uses.of(person)).toBe(newest?.timestamp ?? null);
      }
      const used = newestFirst.filter((event) => isKeyUse(event) && people.includes(event.actor));
      if (looked > 0 && people.length > 0) expect(used).toContain(newestFirst[looked]);
    }),
  );
});

test("only who may read the audit log sees the activity of others, and no service does", () => {
  const roles = fc.subarray(["super_admin", "security_admin", "auditor", "key_admin", "member"]);
  fc.assert(
    fc.property(roles, fc.constantFrom("admin", "user", "service", "device"), (held, type) => {
      const office = held.some((role) => ["super_admin", "security_admin", "auditor"].includes(role));
      expect(seesActivityOf({ id: "ada", type, roles: held })).toBe(office && type !== "service" ? undefined : "ada");
    }),
  );
});

test("an activity has the columns of its export, and says who, what, where and with what result", () => {
  fc.assert(
    fc.property(events, (all) => {
      for (const event of all) {
        const activity = activityOf(event);
        expect(Object.keys(activity)).toEqual([...activityColumns]);
        for (const part of [event.actor, event.event_type, event.workspace, event.result])
          expect(activity.summary).toContain(part);
      }
    }),
  );
});
