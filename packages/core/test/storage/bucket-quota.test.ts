import { checkBucketQuota } from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";

const figure = fc.integer({ min: 0, max: 100 });
const usage = fc.record({ bytes: figure, objects: figure });
const change = fc.record({ bytes: fc.integer({ min: -50, max: 50 }), objects: fc.integer({ min: -2, max: 2 }) });
const quota = fc.record({ max_bytes: figure, max_objects: figure }, { requiredKeys: [] });

test("a change is refused exactly when a figure that it raises would be beyond its limit", () => {
  fc.assert(
    fc.property(quota, usage, change, (limits, used, by) => {
      const beyond = (["bytes", "objects"] as const).some((name) => {
        const limit = limits[`max_${name}`];
        return limit !== undefined && by[name] > 0 && used[name] + by[name] > limit;
      });
      let refused: string | undefined;
      try {
        checkBucketQuota(limits, used, by);
      } catch (error) {
        refused = (error as { code: string }).code;
      }
      expect(refused).toBe(beyond ? "QuotaExceeded" : undefined);
    }),
  );
});
