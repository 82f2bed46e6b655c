import {
  type AwaitedCopies,
  awaitAgain,
  awaitCopies,
  awaitDescriptions,
  awaitExistingVersion,
  destinationKey,
  type ObjectVersion,
  settleCopy,
  type WaitingCopy,
} from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";
import { objectVersions, replicationRules, versionings } from "../../src/arbitraries/index.ts";

const start = Date.UTC(2026, 0, 1);
const step = fc.oneof(
  fc.record({ do: fc.constant("rules" as const), rules: replicationRules }),
  fc.record({ do: fc.constantFrom("describe" as const, "existing" as const, "restore" as const) }),
  fc.record({
    do: fc.constant("settle" as const),
    index: fc.nat(1),
    state: fc.constantFrom("COMPLETED" as const, "FAILED" as const, "UNDESCRIBED" as const, undefined),
  }),
);
/** Mostly one that is copied at all. */
const versions = fc.tuple(objectVersions(start), fc.boolean()).map(
  ([{ replica, ...version }, copied]): ObjectVersion => ({
    ...version,
    ...(copied && replica !== undefined && { replica }),
  }),
);
const keyOf = ({ destination, into }: WaitingCopy) => destinationKey({ name: destination, bucket: into });

test("whatever becomes of a version and of the rules of its bucket: it says PENDING exactly where something is written down, and what was refused waits again by a rule about what was there alone", () => {
  fc.assert(
    fc.property(
      fc.oneof({ weight: 5, arbitrary: fc.constant("Enabled" as const) }, versionings),
      replicationRules,
      versions,
      fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.boolean()),
      fc.array(step, { maxLength: 12, size: "max" }),
      (versioning, first, made, expiry, history) => {
        let rules = first;
        const bucket = () => ({ ...(versioning && { versioning }), replication: { rules } });
        const waiting = new Map<string, WaitingCopy>();
        let version: ObjectVersion = made;
        const take = (next: AwaitedCopies) => {
          for (const copy of next.copies) {
            const known = waiting.get(keyOf(copy));
            waiting.set(keyOf(copy), known === undefined ? copy : { ...known, described: true });
          }
          version = next.version;
        };
        take(awaitCopies(bucket(), version, start, expiry));
        if (versioning !== "Enabled" || expiry || made.replica) expect(waiting.size).toBe(0);
        for (const s of history) {
          const before = version.replication ?? {};
          if (s.do === "rules") rules = s.rules;
          else if (s.do === "settle") {
            const one = [...waiting.values()][s.index];
            if (one === undefined) continue;
            waiting.delete(keyOf(one));
            version = settleCopy(version, { name: one.destination, bucket: one.into }, s.state);
            expect(version.replication?.[keyOf(one)]).toBe(s.state);
          } else if (s.do === "describe") {
            take(awaitDescriptions(bucket(), version, start));
            for (const [name, state] of Object.entries(before)) {
              const now = version.replication?.[name];
              const ruled = rules.some(({ enabled, destination }) => enabled && destinationKey(destination) === name);
              const changes = ruled && state !== "FAILED" && !made.delete_marker;
              expect(now).toBe(changes ? "PENDING" : state);
              if (changes) expect(waiting.get(name)?.described).toBe(true);
              // What is there is not sent again.
              if (changes && state !== "PENDING") expect(waiting.get(name)?.sent).toBe(true);
            }
            expect(Object.keys(version.replication ?? {})).toEqual(Object.keys(before));
          } else if (s.do === "existing") {
            const next = awaitExistingVersion(bucket(), version, start);
            // Nothing is written down over what waits.
            for (const copy of next.copies) {
              expect(waiting.has(keyOf(copy))).toBe(false);
              expect(copy.sent === true).toBe(before[keyOf(copy)] === "UNDESCRIBED");
              expect(["COMPLETED", "PENDING"]).not.toContain(before[keyOf(copy)]);
            }
            take(next);
          } else {
            const again = awaitAgain(bucket(), version, start);
            for (const copy of again) expect(waiting.has(keyOf(copy))).toBe(true);
            const ruled = new Set(rules.map(({ destination }) => destinationKey(destination)));
            expect(new Set(again.map(keyOf))).toEqual(new Set([...waiting.keys()].filter((name) => ruled.has(name))));
          }
          const pending = Object.entries(version.replication ?? {}).filter(([, state]) => state === "PENDING");
          expect(new Set(pending.map(([name]) => name))).toEqual(new Set(waiting.keys()));
        }
      },
    ),
  );
});
