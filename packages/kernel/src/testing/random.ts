import type { Random } from "../ports/random.ts";
import type { SuiteRunner } from "./suite.ts";

/** The laws of the Random port. Unpredictability itself no test can show; repetition and short answers it can. */
export function randomSuite(runner: SuiteRunner, random: Random): void {
  runner.test("a call gives exactly as many bytes as asked for", async () => {
    for (const length of [0, 1, 12, 32, 1000]) runner.equal(random(length).length, length);
  });
  runner.test("arrays are fresh: zeroing one leaves the others alone, and each owns its whole buffer", async () => {
    const first = random(32);
    const second = random(32);
    first.fill(0);
    runner.equal(
      second.some((byte) => byte !== 0),
      true,
    );
    runner.equal(second.buffer.byteLength, 32);
  });
  runner.test("two draws differ, and every byte value occurs", async () => {
    const draws = new Set([String(random(32)), String(random(32))]);
    runner.equal(draws.size, 2);
    runner.equal(new Set(random(16_384)).size, 256);
  });
}
