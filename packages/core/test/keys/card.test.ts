import { maxSeenCards, type SeenCard, seeCard } from "@seneschal/core/keys";
import fc from "fast-check";
import { expect, test } from "vitest";

const shown = fc.record({ fingerprint: fc.nat(24).map(String), statement: fc.nat() });

test("the first cards that are stated of a person stay as evidence, each once; any other than the first is told as such, with one that it is not", () => {
  fc.assert(
    fc.property(fc.array(shown, { maxLength: 60 }), (history) => {
      let known: readonly SeenCard<number>[] = [];
      for (const [now, one] of history.entries()) {
        const { keep, result, other } = seeCard(known, one, now);
        const before = known.map(({ fingerprint }) => fingerprint);
        expect(keep === undefined).toBe(before.includes(one.fingerprint));
        expect(result).toBe(keep === undefined ? undefined : before.length === 0 ? "success" : "denied");
        if (other === null) expect(before.filter((fingerprint) => fingerprint !== one.fingerprint)).toEqual([]);
        else expect(known.includes(other) && other.fingerprint !== one.fingerprint).toBe(true);
        expect((keep ?? known).slice(0, known.length)).toEqual(known);
        known = keep ?? known;
        expect(known.length).toBeLessThanOrEqual(maxSeenCards);
        expect(new Set(known.map(({ fingerprint }) => fingerprint)).size).toBe(known.length);
      }
    }),
  );
});
