import { jobEvents } from "@seneschal/core/arbitraries";
import { isOver, newJob, stepJob } from "@seneschal/core/jobs";
import fc from "fast-check";
import { expect, test } from "vitest";

const facts = { id: "j", kind: "count", params: { to: 3 }, created_by: "ada", owner: "o1" };

test("progress never goes back, what is over stays, only what was asked for is cancelled, and a checkpoint is never lost", () => {
  fc.assert(
    fc.property(fc.array(jobEvents, { maxLength: 30 }), (events) => {
      let job = newJob({ ...facts, now: 0 });
      for (const [i, one] of events.entries()) {
        const next = stepJob(job, one, i + 1);
        if (isOver(job)) expect(next).toBeUndefined();
        if (next === undefined) continue;
        expect(next).toMatchObject({ ...facts, created_at: 0 });
        expect(next.progress).toBeGreaterThanOrEqual(job.progress);
        expect(next.progress).toBeLessThanOrEqual(1);
        expect(isOver(next)).toBe(next.finished_at !== null);
        if (next.state === "cancelled") expect(next.cancel_requested).toBe(true);
        if (next.state === "succeeded") expect(job.state).toBe("running");
        if (job.checkpoint !== null) expect(next.checkpoint).not.toBeNull();
        job = next;
      }
    }),
  );
});
