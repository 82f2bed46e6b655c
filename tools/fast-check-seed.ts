/**
 * Makes every property replayable. A run takes the same seed every time, so that a red build is about the change and not about
 * luck; `FC_SEED=random` explores, as deep runs do (`FC_RUNS=n` sets how many cases a property judges, and explores unless a seed is
 * given). A failure prints its seed, and `FC_SEED=n` replays it.
 */
import fc from "fast-check";

const FIXED = 20_260_101;
const { FC_SEED: seed, FC_RUNS: runs } = process.env;
const explores = seed === "random" || (seed === undefined && runs !== undefined);
fc.configureGlobal({
  ...(explores ? {} : { seed: seed === undefined ? FIXED : Number(seed) }),
  ...(runs === undefined ? {} : { numRuns: Number(runs) }),
});
