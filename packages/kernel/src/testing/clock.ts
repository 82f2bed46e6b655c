import type { Clock } from "../ports/clock.ts";
import type { SuiteRunner } from "./suite.ts";

/** The laws of the Clock port. */
export function clockSuite(runner: SuiteRunner, clock: Clock): void {
  runner.test("now is an integer of milliseconds since the epoch", async () => {
    runner.equal(Number.isSafeInteger(clock.now()), true);
    runner.equal(clock.now() >= 0, true);
  });
}
