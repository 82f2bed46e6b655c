import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMemoryStore } from "@seneschal/adapters/memory";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { describe, expect, test } from "vitest";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { deleteObject } from "../../src/storage/objects/delete-object.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { storageSchema } from "../../src/storage/schema.ts";
import { flipExtent } from "./damage-extent.ts";
import { bytesOf, openRig, operator, pattern, type Rig } from "./rig.ts";

const put = (rig: Rig, key: string, bytes: Uint8Array) =>
  putObject(rig.node.objects, {
    tenant: "alpha",
    bucket: "docs",
    key,
    body: bytesOf(bytes),
    contentType: "",
    headers: {},
    meta: {},
  });
const metric = async (rig: Rig, line: string) => (await rig.node.metrics.registry.metrics()).includes(line);

describe("a round", () => {
  test("does all its other steps when the system disk cannot be looked at, and says so until it can", async () => {
    const parent = await mkdtemp(join(tmpdir(), "seneschal-rounds-"));
    const metadataDirectory = join(parent, "storage");
    const rig = await openRig({ extra: { metadataDirectory, systemDiskLimits: { soft: 100, hard: 100 } } });
    const { node, clock, store } = rig;
    await createBucket(node.objects, "alpha", "docs", "us-east-1");
    await put(rig, "gone", pattern(50_000, 1));
    await deleteObject(node.objects, "alpha", "docs", "gone");
    clock.set(clock.now() + 400_000);
    const points = node.monitor.history.query(1, clock.now()).length;
    await node.tick();
    expect(await store.count("storage_chunks", "by_id", [])).toBe(0);
    expect(node.monitor.history.query(1, clock.now())).toHaveLength(points + 1);
    expect(node.monitor.sampledAt()).toBe(clock.now());
    expect(node.background.failing()).toEqual(["system disk"]);
    expect(node.monitor.health()).toBe("degraded");
    expect(node.monitor.alerts()).toMatchObject([{ severity: "critical", subject: "system disk" }]);
    expect(await metric(rig, 'store_background_failing{step="system disk"} 1')).toBe(true);
    await node.tick();
    const said = node.events.query({ severity: "critical", since: 0, limit: 100 });
    expect(said.map((e) => e.details["step"])).toEqual(["system disk"]);
    await mkdir(metadataDirectory);
    await node.tick();
    expect([node.background.failing(), node.monitor.health(), node.monitor.alerts()]).toEqual([[], "healthy", []]);
    expect(await metric(rig, 'store_background_failing{step="system disk"} 0')).toBe(true);
    await rig.dispose();
    await rm(parent, { recursive: true });
  });

  test("looks at the cluster again and again, however long the work for the cluster takes; that is not begun twice", async () => {
    const memory = openMemoryStore(storageSchema);
    let mend: () => void = () => undefined;
    const mended = new Promise<void>((resolve) => {
      mend = resolve;
    });
    let begun = 0;
    const store: DocumentStore = {
      ...memory,
      async list(...args: Parameters<DocumentStore["list"]>) {
        if (args[1] === "under_replicated") {
          begun++;
          await mended;
        }
        return memory.list(...args);
      },
    };
    const rig = await openRig({ extra: { store, sampleMs: 5 } });
    const { node, clock } = rig;
    node.start();
    await expect.poll(() => begun).toBe(1);
    for (let i = 0; i < 3; i++) {
      clock.set(clock.now() + 1000);
      await expect.poll(() => node.monitor.sampledAt()).toBe(clock.now());
    }
    expect(begun).toBe(1);
    mend();
    await expect.poll(() => begun).toBeGreaterThan(1);
    await rig.dispose();
  });

  test("whatever collection of the metadata cannot be read, only the steps that need it fail", async () => {
    const needed: Readonly<Record<string, readonly string[]>> = {
      storage_trash: ["garbage collection"],
      storage_staged: ["garbage collection"],
      storage_counters: ["counters"],
      storage_chunks: ["garbage collection", "repair"],
    };
    for (const [broken, steps] of Object.entries(needed)) {
      const memory = openMemoryStore(storageSchema);
      let away = false;
      const refuse = (coll: string) => {
        if (away && coll === broken) throw new Error(`${coll} cannot be read`);
      };
      const store: DocumentStore = {
        ...memory,
        async list(...args: Parameters<DocumentStore["list"]>) {
          refuse(args[0]);
          return memory.list(...args);
        },
        async commit(commit: Parameters<DocumentStore["commit"]>[0]) {
          for (const { coll } of commit.puts ?? []) refuse(coll);
          return memory.commit(commit);
        },
      };
      const rig = await openRig({ extra: { store } });
      rig.clock.set(rig.clock.now() + 400_000);
      away = true;
      await rig.node.tick();
      expect([broken, rig.node.background.failing()]).toEqual([broken, steps]);
      away = false;
      rig.clock.set(rig.clock.now() + 400_000);
      await rig.node.tick();
      expect([broken, rig.node.background.failing()]).toEqual([broken, []]);
      await rig.dispose();
    }
  });
});

describe("a scrub", () => {
  test("of a broken device makes an event for its end, not for each chunk, and the device is Degraded", async () => {
    const rig = await openRig();
    const { node } = rig;
    await createBucket(node.objects, "alpha", "docs", "us-east-1");
    for (let i = 0; i < 40; i++) await put(rig, `k${i}`, pattern(20_000, i + 1));
    const damaged = await rig.extents("d0");
    expect(damaged.length).toBeGreaterThan(10);
    for (const extent of damaged) await flipExtent(extent);
    await node.scrub({ kind: "cluster" }, operator);
    await node.jobs.drain();
    const events = node.events.query({ since: 0, limit: 1000 });
    expect(events.filter((e) => e.message.startsWith("scrub finished"))).toMatchObject([
      { severity: "warning", details: { repaired: damaged.length, lost: 0 } },
    ]);
    expect(events.length).toBeLessThan(10);
    expect(node.cluster.state.devices["d0"]).toMatchObject({
      state: "Degraded",
      reason: `a scrub found ${damaged.length} corrupt fragments`,
    });
    await rig.dispose();
  });
});
