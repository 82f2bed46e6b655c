import { mkdtemp, readdir, rm, stat, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelStore } from "@seneschal/adapters/level";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { faultSchema, writeOf } from "../store-faults/fault-schema.ts";
import { runWriteLoop } from "../store-faults/run-write-loop.ts";
import { wholeCommits } from "../store-faults/whole-commits.ts";
import { rounds, seed } from "../suite-runner.ts";

/** `KILL_ROUNDS=200` for a long run. */
const kills = Number(process.env["KILL_ROUNDS"] ?? rounds(4));
/** A store is read whole after every kill: after so many a new one is begun. */
const killsOfOneStore = 20;

let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), "level-crash-"));
});
afterEach(() => rm(path, { recursive: true, force: true }));

describe("level store under faults", () => {
  const killed = "kill -9 in a write loop loses nothing acknowledged, tears nothing and leaves audit and changes dense";
  test(killed, { timeout: 60_000 + kills * 20_000 }, async () => {
    let acknowledged = new Set<number>();
    let first = 1;
    for (let round = 0; round < kills; round += 1) {
      if (round % killsOfOneStore === 0) {
        await rm(path, { recursive: true });
        acknowledged = new Set();
        first = 1;
      }
      const until = 50 + ((seed * 31 + round * 997) % 1500);
      let seen = 0;
      await runWriteLoop(path, first, (line, kill) => {
        if (!line.startsWith("ack ")) return;
        acknowledged.add(Number(line.slice(4)));
        seen += 1;
        if (seen === until) kill();
      });
      const store = await openLevelStore({ path, ...faultSchema });
      const found = await wholeCommits(store);
      expect([...acknowledged].filter((n) => !found.has(n))).toEqual([]);
      expect(seen).toBeGreaterThanOrEqual(until);
      first = Math.max(...found) + 1;
      const again = await Promise.all([...found].map((n) => store.commit(writeOf(n))));
      expect(
        again.every(({ ok }) => ok),
        "every commit, also one that may have been cut off, is answered when repeated",
      ).toBe(true);
      expect(await store.count("audit", "seq", []), "and none is applied twice").toBe(found.size);
      await store.close();
    }
  });

  test("a torn tail of the engine's log costs at most the newest commits, never a part of one", async () => {
    let store = await openLevelStore({ path, ...faultSchema });
    for (let n = 1; n <= 100; n += 1) await store.commit(writeOf(n));
    await store.close();
    for (const cut of [1, 7, 100, 1000]) {
      const logs = (await readdir(path)).filter((name) => /^[0-9]+\.log$/.test(name)).sort();
      const log = join(path, logs.at(-1) as string);
      await truncate(log, Math.max(0, (await stat(log)).size - cut));
      store = await openLevelStore({ path, ...faultSchema });
      const found = await wholeCommits(store);
      expect([...found]).toEqual(Array.from({ length: found.size }, (_, at) => at + 1));
      expect(found.size).toBeGreaterThan(0);
      for (let n = found.size + 1; n <= 100; n += 1) expect((await store.commit(writeOf(n))).ok).toBe(true);
      expect((await wholeCommits(store)).size).toBe(100);
      await store.close();
    }
  });

  test("a failed write is outcome_unknown, then writes are refused and reads answered; reopening loses nothing", async () => {
    const acknowledged = new Set<number>();
    const told: string[] = [];
    await runWriteLoop(
      path,
      1,
      (line) => {
        if (line.startsWith("ack ")) acknowledged.add(Number(line.slice(4)));
        else told.push(line);
      },
      2048,
    );
    expect(told[0]).toBe("failed outcome_unknown");
    expect(told.slice(-3)).toEqual(["later store_failed", "checked store_failed", "read 1"]);
    const store = await openLevelStore({ path, ...faultSchema });
    const found = await wholeCommits(store);
    expect(acknowledged.size).toBeGreaterThan(0);
    expect([...acknowledged].filter((n) => !found.has(n))).toEqual([]);
    await store.close();
  });

  test("a second opener is refused with store_locked and the first works on", async () => {
    const store = await openLevelStore({ path, ...faultSchema });
    await expect(openLevelStore({ path, ...faultSchema })).rejects.toMatchObject({ code: "store_locked" });
    expect((await store.commit(writeOf(1))).ok).toBe(true);
    await store.close();
  });

  test("a directory with something else in it is refused and left alone", async () => {
    const { ClassicLevel } = await import("classic-level");
    const other = new ClassicLevel<string, string>(path);
    await other.put("precious", "1");
    await other.close();
    await expect(openLevelStore({ path, ...faultSchema })).rejects.toMatchObject({ code: "store_misconfigured" });
    await other.open();
    expect(await other.get("precious")).toBe("1");
    await other.close();
  });
});
