import { countedSize, countedSizes, type PartnerUse, requireWithinBudgets } from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";

const figures = { offers: fc.nat(5), workspaces: fc.nat(5), message_bytes: fc.nat(5) };

test("a partner is refused as soon as one of the budgets that are asked about is used up, by the name of that one", () => {
  fc.assert(
    fc.property(fc.record(figures, { requiredKeys: [] }), fc.record(figures), (use, budgets: PartnerUse) => {
      const over = (["offers", "workspaces", "message_bytes"] as const).find((name) => (use[name] ?? -1) >= budgets[name]);
      let refused: unknown;
      try {
        requireWithinBudgets(use, budgets);
      } catch (error) {
        if (!isCoded(error, "RATE_LIMITED")) throw error;
        refused = error.details;
      }
      expect(refused).toEqual(over && { budget: over, limit: budgets[over], retry_after: 900 });
    }),
  );
});

test("a message counts as the smallest size that holds it: never less than it takes, up to the greatest, and at most twice that or the least", () => {
  const least = countedSizes[0] as number;
  const greatest = countedSizes.at(-1) as number;
  fc.assert(
    fc.property(fc.nat(2 * greatest), fc.nat(300), (length, more) => {
      const counted = countedSize({ body: "x".repeat(length), subject: "y".repeat(more) });
      const takes = length + more;
      expect(countedSizes).toContain(counted);
      if (takes <= greatest) expect(counted).toBeGreaterThanOrEqual(takes);
      expect(counted).toBeLessThanOrEqual(Math.max(least, 2 * takes));
    }),
  );
});
