/** The gateway beside its formal models: `models/custody/`. Fresh runs: `test/integration/gateway-models.test.ts`. */
import { describe, expect, test } from "vitest";
import { keptRuns, type Run } from "../../../../../tools/models.ts";
import { modelGateways } from "./model-gateway.ts";
import { replayRelay } from "./replay-relay.ts";
import { playSeats, replaySeats } from "./replay-seats.ts";
import { playSession, replaySession } from "./replay-session.ts";

const open = modelGateways();

describe("in every kept run the routes say what the model says", () => {
  test("of a password ceremony", async () => {
    for (const run of keptRuns("seats")) await replaySeats(await open(), run);
  });

  test("of signing sessions", async () => {
    for (const run of keptRuns("session")) await replaySession(await open(), run);
  });

  test("of custody ceremonies", async () => {
    for (const run of keptRuns("relay")) await replayRelay(await open(), run);
  });
});

describe("what broke a law by the rules of before a finding is refused, and the law holds", () => {
  /** Which of the steps that were taken then are not taken now. */
  const refused = ({ steps }: Run, statuses: readonly number[]): readonly number[] =>
    statuses.filter((status, i) => status !== 200 && status !== 0 && steps[i]?.["outcome"] === "");

  test("security S1: one person has every seat, and so the key", async () => {
    const [run] = keptRuns("security S1") as [Run];
    expect(run.end["status"]).toBe("complete");
    const { statuses, seats, status } = await playSeats(await open(), run);
    expect(refused(run, statuses)).not.toEqual([]);
    expect(status).not.toBe("complete");
    expect(new Set(seats.map(([, who]) => (who === 5 ? 1 : who))).size).toBe(seats.length);
  });

  test("gateway D1: who is registered nowhere sits", async () => {
    const [run] = keptRuns("gateway D1") as [Run];
    const sat = run.end["seats"] as readonly (readonly [number, number])[];
    expect(sat.some(([, who]) => who === 6)).toBe(true);
    const { statuses, seats } = await playSeats(await open(), run);
    expect(refused(run, statuses)).toContain(403);
    for (const [, who] of seats) expect([1, 2, 3, 4, 5]).toContain(who);
  });

  test("security S2: an innocent custodian is named for another's garbage", async () => {
    const [run] = keptRuns("security S2") as [Run];
    const liars = run.start["liars"] as readonly number[];
    expect((run.end["blamed"] as readonly number[]).every((who) => liars.includes(who))).toBe(false);
    const { statuses, blamed } = await playSession(await open(), run);
    expect(refused(run, statuses)).not.toEqual([]);
    for (const who of blamed) expect(liars).toContain(who);
  });

  test("gateway D2: somebody sits where another is custodian", async () => {
    const [run] = keptRuns("gateway D2") as [Run];
    const { statuses, sessions } = await playSession(await open(), run);
    expect(refused(run, statuses).every((status) => [403, 404].includes(status))).toBe(true);
    expect(refused(run, statuses)).not.toEqual([]);
    for (const { taken } of sessions) for (const [index, who] of taken) expect(who).toBe(index);
  });
});
