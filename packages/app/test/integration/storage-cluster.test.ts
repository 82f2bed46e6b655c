import { join } from "node:path";
import { storedExtents } from "@seneschal/adapters/devices";
import { isCoded } from "@seneschal/kernel";
import { expect, test } from "vitest";
import { flipExtent } from "../storage/damage-extent.ts";
import { bytesOf, pattern } from "../storage/rig.ts";
import { fleetInstalled, startFleet, until } from "./storage-fleet.ts";

/** Kills of one node under load; raise it for a long run. */
const KILLS = Number(process.env["KILL_ROUNDS"] ?? 1);
const names = ["n1", "n2", "n3"] as const;

test.skipIf(!fleetInstalled())(
  "three storage processes of the documented file, on etcd, PostgreSQL and empty directories, lose nothing when one is killed, repair, evacuate, and take it back",
  { timeout: 3_600_000 },
  async () => {
    const fleet = await startFleet(names);
    const { etcd, clients, directory, start, kill, http, write, checkAll, metrics } = fleet;
    const at = (key: string) => ({ tenant: "alpha", bucket: "docs", key });

    try {
      for (let i = 0; i < 12; i++) await until("the object is written", () => write(i % 3));
      for (let i = 0; i < 3; i++) await checkAll(i);

      for (let round = 0; round < KILLS; round++) {
        const victim = (round + 1) % 3;
        const others = [0, 1, 2].filter((i) => i !== victim);
        const since = fleet.tried;
        // Writers are under way when it dies.
        let dying = true;
        const writers = others.map(async (through) => {
          while (dying) await write(through);
        });
        await until("writes are under way", async () => fleet.tried > since + 3);
        await kill(victim);
        for (const through of others) await until("writes go on", () => write(through));
        await until("every shard is led by a node that lives", async () => {
          const shards = (await http(others[0] as number, "GET", "/ui/api/shards")).body as { leader: string }[];
          return shards.length > 0 && shards.every(({ leader }) => leader !== names[victim]);
        });
        dying = false;
        await Promise.all(writers);
        // What this round wrote, always; all there is, every tenth round and at the end.
        const from = round % 10 === 9 || round === KILLS - 1 ? 0 : since;
        for (const through of others) await checkAll(through, from);
        await start(victim);
        await fleet.healthy([0, 1, 2]);
        await until("writes go on through it", () => write(victim));
        await checkAll(victim, from);
        if (process.env["KILL_ROUNDS"] !== undefined) console.log(`round ${round + 1}: ${fleet.written} objects`);
      }

      // Rounds are whole: history is taken, garbage is collected by itself, no step fails.
      await until("garbage is collected by the one that leads the first shard", async () =>
        (await Promise.all([0, 1, 2].map(metrics))).some((text) => /^store_gc_runs_total [1-9]/m.test(text)),
      );
      for (const i of [0, 1, 2]) {
        const { points } = (await http(i, "GET", "/ui/api/history")).body as { points: unknown[] };
        expect(points.length).toBeGreaterThan(10);
        await until("no step fails", async () => !/^store_background_failing\{[^}]*\} 1/m.test(await metrics(i)));
      }

      // Damaged copies on one node, found and healed through another. Of all there are: one alone may be what a killed writer left behind.
      const extents = await storedExtents(join(directory, "n3", "d0"));
      expect(extents.length).toBeGreaterThan(0);
      for (const extent of extents) await flipExtent(extent);
      const finished = (job: string) => fleet.finished(1, job);
      // What a scrub cannot repair because a node seems away for a moment, it says; a later one repairs it. Nothing is lost in any.
      const scrubs: Record<string, number>[] = [];
      await until("a scrub finds everything as it should be", async () => {
        const through = scrubs.length % 2;
        const { body } = await http(through, "POST", "/ui/api/ops/scrub", {});
        const job = await finished(body.job_id);
        const report = job?.result ?? {};
        scrubs.push({ ...report, succeeded: job?.state === "succeeded" ? 1 : 0 });
        if (scrubs.length > 1 && report["repaired"] === 0 && report["healthy"] === report["scanned"]) return true;
        // The cause of what `until` throws.
        throw new Error(`${names[through]}: ${job?.state} ${JSON.stringify(report)}`);
      });
      for (const report of scrubs) expect(report).toMatchObject({ succeeded: 1, lost: 0 });
      expect(
        scrubs.reduce((sum, report) => sum + (report["repaired"] ?? 0), 0),
        JSON.stringify(scrubs),
      ).toBeGreaterThan(0);
      expect(scrubs.at(-1)).toMatchObject({ repair_errors: 0 });

      // A device of one node, evacuated through another.
      const admin = fleet.admin(0);
      let evacuation = "";
      // Refused while a node seems away for a moment: what it holds could not be placed.
      await until("the evacuation is begun", async () => {
        ({ job_id: evacuation } = (await admin.ask("EvacuateDevice", { device_id: "n3-d0" })) as { job_id: string });
        return true;
      });
      admin.close();
      expect(await finished(evacuation)).toMatchObject({ state: "succeeded" });
      await until("the device is removed everywhere", async () => {
        const devices = (await http(2, "GET", "/ui/api/devices")).body as { device_id: string; state: string }[];
        return devices.find((d) => d.device_id === "n3-d0")?.state === "Removed";
      });
      for (let i = 0; i < 3; i++) await checkAll(i);

      // Without a majority of the log nobody writes; reads go on from what was known.
      await Promise.all([0, 1].map((member) => etcd.kill(member)));
      await until("writes are refused", async () => {
        const error = await clients[0]?.put(at("refused"), bytesOf(pattern(10))).then(
          () => undefined,
          (e: unknown) => e,
        );
        return isCoded(error, "QuorumLost");
      });
      await checkAll(1);
      await Promise.all([0, 1].map((member) => etcd.restart(member)));
      await until("writes go on with the quorum", () => write(0));
    } finally {
      await fleet.destroy();
    }
  },
);
