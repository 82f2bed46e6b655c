import { execFileSync, spawnSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fleetInstalled, type StorageFleet, startFleet, until } from "./storage-fleet.ts";

/** How often a node is killed and started again; raise it for a long run. */
const KILLS = Number(process.env["STORAGE_FAULT_KILLS"] ?? 2);
const hour = 3_600_000;
/** A small file system of its own needs a privilege. */
const mounts = process.getuid?.() === 0 && spawnSync("mount", ["--version"]).status === 0;

/** One fleet for all: each law leaves it whole, and the next begins with what it wrote. Writers are under way in every one. */
describe.skipIf(!fleetInstalled())(
  "three storage processes on etcd and PostgreSQL, under writers",
  { timeout: 3_600_000 },
  () => {
    let fleet: StorageFleet;
    const three = [0, 1, 2];
    beforeAll(async () => {
      fleet = await startFleet(["n1", "n2", "n3", "n4", "r1"], { running: 3 });
      for (let i = 0; i < 9; i++) await until("the object is written", () => fleet.write(i % 3));
    }, 120_000);
    afterAll(() => fleet?.destroy(), 60_000);

    /** Writes that are enough to meet whatever happens, and few enough to be read again. */
    const most = 60;
    /** Does something while clients write through these nodes; then all that was acknowledged since is there, through all of these. */
    const under = async <T>(writers: readonly number[], work: () => Promise<T>, readers = writers): Promise<T> => {
      const since = fleet.tried;
      let going = true;
      const under = writers.map(async (through) => {
        while (going && fleet.tried < since + most) await fleet.write(through);
      });
      try {
        return await work();
      } finally {
        going = false;
        await Promise.all(under);
        for (const reader of readers) await fleet.checkAll(reader, since);
      }
    };
    const post = async (at: number, path: string, body?: unknown) => {
      const { status, body: answer } = await fleet.http(at, "POST", path, body);
      expect([status < 300, answer]).toEqual([true, answer]);
      return answer;
    };
    const shards = async (at: number) =>
      (await fleet.http(at, "GET", "/ui/api/shards")).body as { shard_id: string; leader: string; voters: string[] }[];

    test("a shard splits: every node sees it, and every key is where it was", async () => {
      const before = (await shards(0)).length;
      await under(three, async () => {
        const admin = fleet.admin(1);
        await admin.ask("SplitShard", { shard_id: "shard-0" });
        admin.close();
        for (const at of three) await until("the shard is two", async () => (await shards(at)).length === before + 1);
      });
      for (const at of three) await fleet.checkAll(at);
    });

    test.each([
      ["an hour ahead", hour],
      ["an hour behind", -hour],
    ])("a node's clock goes %s: writes, reads and jobs go on, and it is healthy when its clock is right again", async (_, ms) => {
      await under(three, async () => {
        fleet.skew(1, ms);
        for (const at of three) await until("writes go on", () => fleet.write(at));
        const { job_id } = await post(0, "/ui/api/ops/scrub", {});
        expect(await fleet.finished(2, job_id)).toMatchObject({ state: "succeeded", result: { lost: 0 } });
      });
      fleet.skew(1, 0);
      await fleet.healthy(three);
    });

    test.skipIf(!mounts)(
      "a disk is full: what it does not take others take, nothing is refused, and its device goes again",
      async () => {
        const disk = join(fleet.directory, "n1", "grown", "small");
        await mkdir(disk, { recursive: true });
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=300m", "none", disk]);
        try {
          const device = { device_id: "n1-small", pool_id: "default", directory: join(disk, "d"), capacity_bytes: 256 << 20 };
          await post(2, "/ui/api/ops/devices", { ...device, node_id: "n1" });
          // A device is given no more than its disk has: something else takes that later.
          execFileSync("mount", ["-o", "remount,size=1m", disk]);
          await under(three, async () => {
            await until("the disk is full", async () => {
              for (const at of three) await until("the object is written", () => fleet.write(at));
              const texts = await Promise.all(three.map((at) => fleet.metrics(at)));
              const free = texts.map((text) => /disk_free_bytes\{device="n1-small"\} (\d+)/.exec(text)?.[1]);
              return texts.some((text) => /device_full"\} [1-9]/.test(text)) || free.some((bytes) => Number(bytes) < 100_000);
            });
            const { job_id } = await post(1, "/ui/api/ops/devices/n1-small/evacuate");
            expect(await fleet.finished(1, job_id)).toMatchObject({ state: "succeeded" });
          });
          expect((await fleet.http(1, "DELETE", "/ui/api/ops/devices/n1-small")).status).toBe(200);
          await until("its directory is closed", async () => spawnSync("umount", [disk]).status === 0);
        } finally {
          spawnSync("umount", ["-l", disk]);
        }
        await fleet.healthy(three);
      },
    );

    test("a backup is made while a node dies, and restored beside into a cluster that holds the same", async () => {
      const last = fleet.tried;
      await under([0, 1], async () => {
        await fleet.kill(2);
        const { job_id } = await post(0, "/ui/api/ops/backup", { include_data: true });
        expect(await fleet.finished(1, job_id)).toMatchObject({ state: "succeeded" });
      });
      await fleet.start(2);
      await fleet.healthy(three);
      // A cluster of its own beside the first: another place in etcd, another in the database.
      await fleet.start(4, ({ cluster, database, ...rest }) => ({
        ...rest,
        cluster: { ...cluster, prefix: "/restored", nodes: 1 },
        database: { ...database, namespace: "restored" },
        pools: [{ id: "default", class: "ssd", durability: { copies: 2 } }],
      }));
      const { body: found } = await fleet.http(4, "GET", "/ui/api/ops/backups");
      expect(found).toHaveLength(1);
      await under(three, async () => {
        const { job_id } = await post(4, "/ui/api/ops/restore", { snapshot_id: found[0].snapshot_id });
        expect(await fleet.finished(4, job_id)).toMatchObject({ state: "succeeded" });
      });
      await fleet.checkAll(4, 0, last);
      await fleet.kill(4);
    });

    test("a node stays away for ten minutes: what it held is rebuilt on the others, and it is one of them when it is back", async () => {
      let [looks, ahead] = [0, 0];
      await fleet.kill(2);
      await under([0, 1], async () => {
        for (const at of [0, 1])
          await until("it is seen to be away", async () => {
            const nodes = (await fleet.http(at, "GET", "/ui/api/nodes")).body as { node_id: string; status: string }[];
            return nodes.find((n) => n.node_id === "n3")?.status === "unreachable";
          });
        await until("what it held is rebuilt", async () => {
          // Nobody waits ten minutes for that: the others' clocks do. Who had not noticed yet counts from then, and has them once more.
          if (looks++ % 100 === 0) ahead += 601_000;
          for (const at of [0, 1]) fleet.skew(at, ahead);
          const jobs = (await fleet.http(0, "GET", "/ui/api/jobs")).body as {
            kind: string;
            state: string;
            result: { repaired?: number };
          }[];
          return jobs.some((job) => job.kind === "scrub" && job.state === "succeeded" && (job.result.repaired ?? 0) > 0);
        });
      });
      fleet.skew(2, ahead);
      await fleet.start(2);
      await fleet.healthy(three);
      for (const at of three) fleet.skew(at, 0);
      await under(three, async () => {
        for (const at of three) await until("writes go on", () => fleet.write(at));
      });
      await fleet.checkAll(2);
    });

    test("a node is killed and started again and again: all see all as healthy again, and nothing is lost", async () => {
      const seconds: number[] = [];
      for (let round = 0; round < KILLS; round++) {
        const victim = round % 3;
        const others = three.filter((at) => at !== victim);
        await under(others, async () => {
          await fleet.kill(victim);
          for (const at of others) await until("writes go on", () => fleet.write(at));
          const from = performance.now();
          await fleet.start(victim);
          await fleet.healthy(three);
          seconds.push((performance.now() - from) / 1000);
        });
        await fleet.checkAll(victim, round === KILLS - 1 ? 0 : fleet.tried - 50);
      }
      const sorted = seconds.sort((a, b) => a - b).map((s) => s.toFixed(1));
      const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1];
      if (process.env["STORAGE_FAULT_KILLS"] !== undefined)
        console.log(
          `healthy for all after ${at(0.5)} s (median), ${at(0.9)} s (p90), ${sorted.at(-1)} s (longest) of ${sorted.length} starts`,
        );
    });

    test("a fourth node joins, one drains and is evicted: its voters and its fragments move, and it is needed no more", async () => {
      await fleet.start(3);
      const four = [0, 1, 2, 3];
      await fleet.healthy(four);
      await under([0, 1, 3], async () => {
        const { job_id } = await post(0, "/ui/api/ops/nodes/n3/drain");
        expect(await fleet.finished(1, job_id)).toMatchObject({ state: "succeeded" });
        await until("it votes no more", async () =>
          (await shards(0)).every(({ voters }) => !voters.includes("n3") && voters.length === 3),
        );
        expect((await fleet.http(1, "DELETE", "/ui/api/ops/nodes/n3")).status).toBe(200);
        await fleet.kill(2);
      });
      await fleet.healthy([0, 1, 3]);
      await fleet.checkAll(3);
    });
  },
);
