import fc from "fast-check";
import type { JobEvent } from "../jobs/index.ts";

/** Anything that may happen to a job, in any order: many events do not apply to its state, which is the point. */
export const jobEvents: fc.Arbitrary<JobEvent> = fc.oneof<fc.Arbitrary<JobEvent>[]>(
  fc.constant({ kind: "begin" }),
  fc.record({ kind: fc.constant("progress" as const), fraction: fc.double({ min: -1, max: 2, noNaN: true }) }),
  fc.record({
    kind: fc.constant("progress" as const),
    fraction: fc.double({ min: 0, max: 1, noNaN: true }),
    checkpoint: fc.record({ at: fc.nat() }),
  }),
  fc.constant({ kind: "succeed", result: {} }),
  fc.constant({ kind: "fail", code: "x", message: "x" }),
  fc.constant({ kind: "request-cancel" }),
  fc.constant({ kind: "cancelled" }),
);
