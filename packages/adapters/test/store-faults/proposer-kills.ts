import { newId, sha256 } from "@seneschal/adapters/log";
import { systemClock } from "@seneschal/adapters/system";
import { openReplicated } from "@seneschal/kernel/log";
import type { ReplicatedLog } from "@seneschal/kernel/ports";
import { expect } from "vitest";
import { allotment } from "../log/allotment.ts";
import { runProposeLoop } from "./run-propose-loop.ts";

/**
 * `kill -9` of a proposer between proposal and answer, `kills` times, with snapshots and truncation going on: whatever it
 * was told is in the state that a fresh process reads, once.
 */
export async function proposerKills(place: string, kills: number, open: () => Promise<ReplicatedLog>): Promise<void> {
  const told = new Map<string, string>();
  for (let round = 0; round < kills; round += 1) {
    const before = told.size;
    for (const [id, answer] of await runProposeLoop(place, `r${round}`, 400 + round * 131)) told.set(id, answer);
    expect(told.size).toBeGreaterThan(before);
    const log = await open();
    const replicated = await openReplicated({ log, machine: allotment, clock: systemClock, sha256, newId });
    const { inner, receipts } = await replicated.read();
    const wrong = [...told].filter(([id, answer]) => (receipts.get(id) !== undefined) !== (answer === "ok"));
    expect(wrong, "answers that the state does not bear out").toEqual([]);
    for (const used of Object.values(inner.used)) expect(used >= 0 && used <= inner.limit).toBe(true);
    expect(Object.values(inner.used).reduce((sum, used) => sum + used, 0)).toBe(
      receipts.rows().reduce((sum, [id]) => sum + (Number(id.split("-")[2]) % 2 === 0 ? 2 : -2), 0),
    );
    await replicated.close();
    await log.close();
  }
}
