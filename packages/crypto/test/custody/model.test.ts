/** The library beside its formal model: `models/custody/ceremony.qnt`. Fresh runs: `test/integration/custody-model.test.ts`. */
import { expect, test } from "vitest";
import { keptRuns } from "../../../../tools/models.ts";
import { replayCeremony } from "./replay-ceremony.ts";

test.each(["ceremony", "handover"] as const)(
  "clients, relays and strangers do in every kept run what the model %s says, step by step",
  (name) => {
    const runs = keptRuns(name);
    expect(runs.length).toBeGreaterThan(5);
    for (const run of runs) replayCeremony(run);
  },
);
