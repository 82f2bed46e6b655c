/** The password ceremony beside its formal model: `models/custody/seats.qnt`. */

import { type GenerationCeremony, type Holder, nameCustodians, startGeneration, stepGeneration } from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import { expect, test } from "vitest";
import { keptRuns, type Run } from "../../../../tools/models.ts";

interface Step {
  readonly step: "seed" | "complete" | "leave" | "restart";
  readonly who: number;
  readonly index: number;
  readonly outcome: string;
}

/** The first person has the accounts 1 and 5. */
const holder = (who: number): Holder => ({
  identity_id: String(who),
  identity_type: "user",
  name: `account ${who}`,
  emails: [`person-${who === 5 ? 1 : who}@people.example`],
});
const REFUSED: Readonly<Record<string, string>> = { FORBIDDEN: "forbidden", CONFLICT: "conflict", STATE_CONFLICT: "conflict" };
const entryOf = (index: number) => ({
  index,
  custodian_name: "whoever",
  salt: "",
  kdf_params: { time: 3, memory: 65_536, threads: 4 },
});

function replaySeats({ start, steps, end }: Run): void {
  const named = start["named"] as readonly (readonly [number, number])[];
  const custodians = nameCustodians(
    named.map(([index, who]) => ({ index, holder: holder(who) })),
    3,
  );
  let ceremony = startGeneration({ id: "c", org: "acme", by: "root", total_shares: 3, threshold: 2, custodians }, 0);
  const present = new Set([1, 2, 3, 4, 5]);
  const attempt = (next: () => GenerationCeremony): string => {
    try {
      ceremony = next();
      return "";
    } catch (error) {
      const code = ["FORBIDDEN", "CONFLICT", "STATE_CONFLICT"].find((one) => isCoded(error, one));
      if (code === undefined) throw error;
      return REFUSED[code] ?? code;
    }
  };
  const seen = (steps as unknown as readonly Step[]).map(({ step, who, index }) => {
    if (step === "leave") present.delete(who);
    const input =
      step === "seed"
        ? ({ kind: "seed", entry: entryOf(index), holder: present.has(who) ? holder(who) : undefined } as const)
        : ({ kind: "complete", crk_id: "k", active: [...present].map(String) } as const);
    return step === "seed" || step === "complete" ? attempt(() => stepGeneration(ceremony, input, 0).state) : "";
  });
  expect(seen).toEqual((steps as unknown as readonly Step[]).map(({ outcome }) => outcome));
  const taken = (ceremony.seats ?? []).filter(({ taken_at }) => taken_at !== null);
  expect(taken.map((seat) => [seat.index, Number(seat.identity_id)])).toEqual(
    (end["seats"] as readonly (readonly [number, number])[]).toSorted(([a], [b]) => a - b),
  );
  expect(ceremony.status).toBe(end["status"]);
}

test("seats are taken, refused and counted in every kept run as the model says", () => {
  const runs = keptRuns("seats");
  expect(runs.length).toBeGreaterThan(20);
  for (const run of runs) replaySeats(run);
});
