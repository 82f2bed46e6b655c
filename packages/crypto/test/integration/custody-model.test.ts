/** Fresh runs of `models/custody/ceremony.qnt`, played with the library's clients and relays. `MODEL_RUNS` sets how many. */
import { expect, test } from "vitest";
import { freshRuns, simulate } from "../../../../tools/models.ts";
import { replayCeremony } from "../custody/replay-ceremony.ts";

test("clients, relays and strangers do in every fresh run what the model of the ceremony says, step by step", {
  timeout: 7_200_000,
}, () => {
  const count = freshRuns(50);
  const { holds, runs, report } = simulate("ceremony", { samples: count, keep: count });
  expect(holds, report).toBe(true);
  expect(runs).toHaveLength(count);
  for (const run of runs) replayCeremony(run);
});
