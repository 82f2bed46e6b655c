/** Fresh runs of the models of `models/custody/`, played through the gateway's routes. `MODEL_RUNS` sets how many of each. */
import { expect, test } from "vitest";
import { freshRuns, type ModelName, type Run, simulate } from "../../../../tools/models.ts";
import { modelGateways } from "../gateway/models/model-gateway.ts";
import { replayRelay } from "../gateway/models/replay-relay.ts";
import { replaySeats } from "../gateway/models/replay-seats.ts";
import { replaySession } from "../gateway/models/replay-session.ts";

const open = modelGateways();
type Place = Awaited<ReturnType<typeof open>>;

test.each<readonly [ModelName, number, (place: Place, run: Run) => Promise<void>]>([
  ["seats", 100, replaySeats],
  ["session", 50, replaySession],
  ["relay", 25, replayRelay],
])("in every fresh run of the model %s the routes say what it says", { timeout: 7_200_000 }, async (name, usual, replay) => {
  const count = freshRuns(usual);
  const { holds, runs, report } = simulate(name, { samples: count, keep: count });
  expect(holds, report).toBe(true);
  expect(runs).toHaveLength(count);
  for (const run of runs) await replay(await open(), run);
});
