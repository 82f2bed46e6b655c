/** Makes every property replayable: the seed is printed with a failure, and `FC_SEED=n` replays it; `FC_RUNS=n` deepens a run. */
import fc from "fast-check";

const seed = process.env["FC_SEED"];
const runs = process.env["FC_RUNS"];
fc.configureGlobal({
  ...(seed === undefined ? {} : { seed: Number(seed) }),
  ...(runs === undefined ? {} : { numRuns: Number(runs) }),
});
