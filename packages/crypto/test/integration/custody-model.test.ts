/** Fresh runs of `models/custody/ceremony.qnt`, played with the library's clients and relays. `MODEL_RUNS` sets how many. */
import { expect, test } from "vitest";
import { freshRuns, simulate } from "../../../../tools/models.ts";
import { replayCeremony } from "../custody/replay-ceremony.ts";

test.each(["ceremony", "handover"] as const)(
  "clients, relays and strangers do in every fresh run what the model %s says, step by step",
  {
    timeout: 7_200_000,
  },
  (name) => {
    const count = freshRuns(50);
    const { holds, runs, report } = simulate(name, { samples: count, keep: count });
    expect(holds, report).toBe(true);
    expect(runs).toHaveLength(count);
    for (const run of runs) replayCeremony(run);
  },
);
