import { type AuditGap, claimGaps, coversGap, gapLine, parseGapLine, type SignedGap } from "@seneschal/crypto/audit-log";
import fc from "fast-check";
import { expect, test } from "vitest";

const numbersOf = ({ first, last }: AuditGap): number[] => Array.from({ length: last - first + 1 }, (_, at) => first + at);
const gap = fc
  .tuple(fc.integer({ min: 1, max: 30 }), fc.nat(5))
  .map(([first, more]): AuditGap => ({ first, last: first + more }));
/** Gaps of a log: apart from each other, in order. */
const apart = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.nat(4), fc.nat(5)), { maxLength: 6 }).map((steps) => {
  const gaps: (SignedGap & { readonly claimed: number })[] = [];
  let at = 0;
  for (const [away, more, claimed] of steps) {
    const first = at + away + 1;
    gaps.push({ first, last: first + more, claimed: Math.min(claimed, more + 1) });
    at = first + more;
  }
  return gaps;
});

test("a gap is covered when each of its numbers is of an accepted one, and only then", () =>
  fc.assert(
    fc.property(fc.array(gap, { maxLength: 6 }), gap, (some, wanted) => {
      const accepted = some.toSorted((a, b) => a.first - b.first);
      const known = new Set(accepted.flatMap(numbersOf));
      expect(coversGap(accepted, wanted)).toBe(numbersOf(wanted).every((number) => known.has(number)));
    }),
  ));

test("what a stream misses is accounted for by unclaimed numbers between its neighbours alone, each once, the earliest first", () =>
  fc.assert(
    fc.property(apart, fc.nat(12), fc.nat(20), fc.nat(30), (whole, missing, after, more) => {
      const before = after + 1 + more;
      const between = ({ first, last }: AuditGap) => first > after && last < before;
      const free = (one: SignedGap) => (between(one) ? numbersOf(one).length - (one.claimed ?? 0) : 0);
      const claimed = claimGaps(whole, missing, { after, before });
      const room = whole.reduce((sum, one) => sum + free(one), 0);
      if (missing > room) {
        expect(claimed).toBeUndefined();
        return;
      }
      let left = missing;
      expect(claimed).toEqual(
        whole.map((one) => {
          const taken = Math.min(left, free(one));
          left -= taken;
          return { ...one, claimed: one.claimed + taken };
        }),
      );
      for (const one of claimed ?? []) expect(one.claimed).toBeLessThanOrEqual(numbersOf(one).length);
    }),
  ));

test("the line of a gap says it, and nothing else is one", () => {
  fc.assert(
    fc.property(gap, fc.option(fc.nat(), { nil: undefined }), (one, claimed) => {
      const signed = { ...one, ...(claimed === undefined ? {} : { claimed }) };
      expect(parseGapLine(gapLine(signed))).toEqual(signed);
    }),
  );
  for (const line of ["", "gap", "gap 0 1", "gap 1", "gap 01 2", "gap 1 2 ", "gap 1 2 01", "gap 1 2 3 4", " gap 1 2", "gap -1 2"])
    expect(() => parseGapLine(line), line).toThrow(RangeError);
});
