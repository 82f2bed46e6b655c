import { readFile } from "node:fs/promises";
import { lostAfter } from "@seneschal/core/storage";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { chunkPage } from "../../src/storage/jobs/chunk-pages.ts";
import { collectGarbage } from "../../src/storage/jobs/collect-garbage.ts";
import { createBucket, deleteBucket } from "../../src/storage/objects/buckets.ts";
import { deleteObject } from "../../src/storage/objects/delete-object.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { flipExtent, removeExtent } from "./damage-extent.ts";
import { bytesOf, collect, openRig, operator, pattern, type Rig, type RigOptions, switchableVault } from "./rig.ts";

let rigs: Rig[] = [];
async function rigOf(options?: RigOptions): Promise<Rig> {
  const rig = await openRig(options);
  rigs.push(rig);
  await createBucket(rig.node.objects, "alpha", "docs", "us-east-1");
  return rig;
}
afterEach(async () => {
  await Promise.all(rigs.map((r) => r.dispose()));
  rigs = [];
});

const put = (rig: Rig, key: string, bytes: Uint8Array, tenant = "alpha", bucket = "docs") =>
  putObject(rig.node.objects, { tenant, bucket, key, body: bytesOf(bytes), contentType: "text/plain", headers: {}, meta: {} });
const get = async (rig: Rig, key: string, start?: number, end?: number) =>
  collect(readObject(rig.node.objects, await headObject(rig.node.objects, "alpha", "docs", key), start, end));
const chunks = async (rig: Rig) => (await chunkPage(rig.store, undefined, 1000)).chunks;
const runJob = async (rig: Rig, id: string) => {
  await rig.node.jobs.drain();
  const job = await rig.node.jobs.get(id);
  if (job === undefined) throw new Error("no job");
  return job;
};

describe("objects", () => {
  test("what was put reads back equal: empty, at the inline threshold, one more, many chunks", async () => {
    const rig = await rigOf();
    for (const size of [0, 1, 4096, 4097, 100_000, (4 << 20) + 1, 9 << 20]) {
      await put(rig, `k${size}`, pattern(size, size + 1));
      expect((await get(rig, `k${size}`)).equals(pattern(size, size + 1))).toBe(true);
    }
    expect((await headObject(rig.node.objects, "alpha", "docs", "k4096")).body.kind).toBe("inline");
    expect((await headObject(rig.node.objects, "alpha", "docs", "k4097")).body.kind).toBe("chunks");
  });
  test("any range is the same slice", async () => {
    const rig = await rigOf();
    const bytes = pattern((8 << 20) + 77);
    await put(rig, "big", bytes);
    for (const [from, to] of [
      [0, 1],
      [4 << 20, (4 << 20) + 1],
      [(4 << 20) - 3, (4 << 20) + 3],
      [8 << 20, bytes.length],
      [5, 5],
      [1, bytes.length - 1],
    ] as const)
      expect((await get(rig, "big", from, to)).equals(bytes.subarray(from, to))).toBe(true);
  });
  test("no plaintext reaches a device or the metadata", async () => {
    const rig = await rigOf();
    const secret = Buffer.from("TOP-SECRET-PLAINTEXT-".repeat(400));
    await put(rig, "s", secret);
    await put(rig, "i", secret.subarray(0, 1000));
    for (const device of rig.devices.keys())
      for (const { path } of await rig.extents(device)) expect((await readFile(path)).includes("SECRET")).toBe(false);
    const object = await headObject(rig.node.objects, "alpha", "docs", "i");
    expect(Buffer.from((object.body as { sealed: string }).sealed, "base64").includes("SECRET")).toBe(false);
  });
  test("equal content is stored once, over keys and tenants, and each tenant opens it with its own key", async () => {
    const rig = await rigOf();
    await createBucket(rig.node.objects, "beta", "other", "us-east-1");
    const bytes = pattern(50_000);
    await put(rig, "a", bytes);
    await put(rig, "b", bytes);
    await put(rig, "c", bytes, "beta", "other");
    expect((await chunks(rig)).map((c) => c.doc.refs)).toEqual([3]);
    await rig.node.tenants.shred("alpha", operator);
    await expect(get(rig, "a")).rejects.toMatchObject({ code: "CryptoShredComplete" });
    const theirs = await headObject(rig.node.objects, "beta", "other", "c");
    expect((await collect(readObject(rig.node.objects, theirs))).equals(bytes)).toBe(true);
    expect(rig.node.events.query({ since: 0, category: "security", severity: "critical", limit: 9 })[0]?.message).toMatch(
      /crypto-shred/,
    );
  });
  test("a tenant that opted out shares no chunk", async () => {
    const rig = await rigOf({ tenants: ["alpha"] });
    await rig.node.tenants.create("gamma", { dedup: false }, operator);
    await createBucket(rig.node.objects, "gamma", "private", "us-east-1");
    await put(rig, "a", pattern(50_000));
    await put(rig, "a", pattern(50_000), "gamma", "private");
    expect(await chunks(rig)).toHaveLength(2);
  });
  test("another tenant's bucket is refused", async () => {
    const rig = await rigOf();
    await put(rig, "a", pattern(10));
    await expect(headObject(rig.node.objects, "beta", "docs", "a")).rejects.toMatchObject({ code: "TenantAccessDenied" });
    await expect(put(rig, "x", pattern(10), "beta")).rejects.toMatchObject({ code: "TenantAccessDenied" });
  });
  test("a body that fails on the way leaves nothing behind", async () => {
    const rig = await rigOf();
    const body = (async function* () {
      yield pattern(6 << 20);
      throw new Error("client went away");
    })();
    await expect(
      putObject(rig.node.objects, { tenant: "alpha", bucket: "docs", key: "x", body, contentType: "", headers: {}, meta: {} }),
    ).rejects.toThrow("client went away");
    await collectGarbage(rig.node.parts);
    expect(await chunks(rig)).toEqual([]);
    for (const device of rig.devices.keys()) expect(await rig.extents(device)).toEqual([]);
  });
  test("concurrent writers of one key and one content leave one object and right counts", async () => {
    const rig = await rigOf();
    await Promise.all(Array.from({ length: 12 }, (_, i) => put(rig, "same", pattern(20_000, i % 2))));
    await collectGarbage(rig.node.parts);
    const left = await chunks(rig);
    expect(left.map((c) => c.doc.refs)).toEqual([1]);
    expect([pattern(20_000, 0), pattern(20_000, 1)].some((p) => p.length === 20_000)).toBe(true);
    const bytes = await get(rig, "same");
    expect([0, 1].some((seed) => bytes.equals(pattern(20_000, seed)))).toBe(true);
  });
  test("a bucket is deleted only when empty", async () => {
    const rig = await rigOf();
    await put(rig, "a", pattern(10));
    await expect(deleteBucket(rig.node.objects, "alpha", "docs")).rejects.toMatchObject({ code: "BucketNotEmpty" });
    await deleteObject(rig.node.objects, "alpha", "docs", "a");
    await deleteBucket(rig.node.objects, "alpha", "docs");
    await expect(put(rig, "a", pattern(10))).rejects.toMatchObject({ code: "NoSuchBucket" });
  });
});

describe("garbage collection", () => {
  test("overwritten and deleted objects give their space back, shared chunks stay", async () => {
    const rig = await rigOf();
    await put(rig, "a", pattern(50_000, 1));
    await put(rig, "b", pattern(50_000, 1));
    await put(rig, "c", pattern(50_000, 2));
    await put(rig, "c", pattern(50_000, 3));
    await deleteObject(rig.node.objects, "alpha", "docs", "a");
    expect(await collectGarbage(rig.node.parts)).toMatchObject({ trash: 2, chunks: 1 });
    expect((await get(rig, "b")).equals(pattern(50_000, 1))).toBe(true);
    await deleteObject(rig.node.objects, "alpha", "docs", "b");
    await deleteObject(rig.node.objects, "alpha", "docs", "c");
    await collectGarbage(rig.node.parts);
    expect(await chunks(rig)).toEqual([]);
    for (const device of rig.devices.keys()) expect(await rig.extents(device)).toEqual([]);
  });
  test("a dedup hit between the listing and the deletion keeps the chunk", async () => {
    const rig = await rigOf();
    await put(rig, "a", pattern(50_000));
    await deleteObject(rig.node.objects, "alpha", "docs", "a");
    await Promise.all([collectGarbage(rig.node.parts), put(rig, "b", pattern(50_000)), collectGarbage(rig.node.parts)]);
    expect((await get(rig, "b")).equals(pattern(50_000))).toBe(true);
  });
});

describe("losses", () => {
  test("any two devices may be away; a third gives a retriable error, never wrong bytes, and the bytes when it is back", async () => {
    const rig = await rigOf({ devices: 6 });
    const bytes = pattern(200_000);
    await put(rig, "a", bytes);
    for (let i = 0; i < 6; i++)
      for (let j = i + 1; j < 6; j++) {
        for (const d of [i, j]) rig.devices.get(`d${d}`)!.away = true;
        expect((await get(rig, "a")).equals(bytes)).toBe(true);
        for (const d of [i, j]) rig.devices.get(`d${d}`)!.away = false;
      }
    for (const d of [0, 1, 2]) rig.devices.get(`d${d}`)!.away = true;
    await expect(get(rig, "a")).rejects.toMatchObject({ code: "ShardUnavailable" });
    for (const d of [0, 1, 2]) rig.devices.get(`d${d}`)!.away = false;
    expect((await get(rig, "a")).equals(bytes)).toBe(true);
  });
  test("scrub finds a flipped bit and a deleted extent, heals both, and a second scrub is clean", async () => {
    const rig = await rigOf();
    await put(rig, "a", pattern(200_000));
    const { fragments } = (await chunks(rig))[0]!.doc;
    const extent = async (i: number) =>
      (await rig.extents(fragments[i]!.device)).find(({ name }) => name === fragments[i]!.extent)!;
    await flipExtent(await extent(0), 12_345);
    await removeExtent(await extent(3));
    const first = await runJob(rig, (await rig.node.scrub({ kind: "cluster" }, operator)).id);
    expect(first).toMatchObject({
      state: "succeeded",
      result: { scanned: 1, repaired: 1, critical: 1, lost: 0, repair_errors: 0 },
    });
    const second = await runJob(rig, (await rig.node.scrub({ kind: "cluster" }, operator)).id);
    expect(second.result).toMatchObject({ scanned: 1, healthy: 1, repaired: 0, orphans: 0 });
    expect(rig.node.repair.records()).toHaveLength(1);
    expect((await get(rig, "a")).equals(pattern(200_000))).toBe(true);
  });
  test("beyond parity the scrub reports the chunk lost and leaves it as it is", async () => {
    const rig = await rigOf();
    await put(rig, "a", pattern(200_000));
    for (const f of (await chunks(rig))[0]!.doc.fragments.slice(0, 3))
      await removeExtent((await rig.extents(f!.device)).find(({ name }) => name === f!.extent)!);
    const job = await runJob(rig, (await rig.node.scrub({ kind: "pool", id: "fast" }, operator)).id);
    expect(job.result).toMatchObject({ lost: 1, repaired: 0 });
    await rig.node.tick();
    expect(rig.node.monitor.health()).toBe("degraded");
    await expect(get(rig, "a")).rejects.toMatchObject({ code: "ChunkLost" });
  });
  test("an orphan is deleted 24 hours after its first sighting, however often it is seen between", async () => {
    const rig = await rigOf();
    await rig.devices.get("d0")!.write(`${"ab".repeat(32)}.0.dead`, pattern(10));
    const scrub = async () => (await runJob(rig, (await rig.node.scrub({ kind: "device", id: "d0" }, operator)).id)).result;
    expect(await scrub()).toMatchObject({ orphans: 1 });
    rig.clock.set(rig.clock.now() + 23 * 3_600_000);
    await scrub();
    expect(await rig.extents("d0")).toHaveLength(1);
    rig.clock.set(rig.clock.now() + 3_600_000);
    await scrub();
    expect(await rig.extents("d0")).toEqual([]);
  });
  test("a device that stops answering fails at once, its fragments are rebuilt elsewhere, then it is Removed", async () => {
    const rig = await rigOf({ devices: 8 });
    await put(rig, "a", pattern(300_000));
    for (let i = 0; i < 10; i++) await put(rig, `k${i}`, pattern(30_000, i + 1));
    rig.devices.get("d1")!.away = true;
    await rig.node.tick();
    await rig.node.tick();
    expect(rig.node.cluster.state.devices["d1"]).toMatchObject({ state: "Failed", evacuated: false });
    await rig.node.jobs.drain();
    await rig.node.tick();
    expect(rig.node.cluster.state.devices["d1"]?.state).toBe("Removed");
    for (const d of ["d2", "d3"]) rig.devices.get(d)!.away = true;
    expect((await get(rig, "a")).equals(pattern(300_000))).toBe(true);
  });
});

describe("evacuation", () => {
  test("moves everything, passes through Failed to Removed, and leaves no extent behind", async () => {
    const rig = await rigOf({ devices: 7 });
    for (let i = 0; i < 12; i++) await put(rig, `k${i}`, pattern(30_000, i + 1));
    const job = await runJob(rig, (await rig.node.evacuate("d0", operator)).id);
    expect(job.state).toBe("succeeded");
    expect(rig.node.cluster.state.devices["d0"]).toMatchObject({ state: "Removed", evacuated: true });
    expect(await rig.extents("d0")).toEqual([]);
    for (let i = 0; i < 12; i++) expect((await get(rig, `k${i}`)).equals(pattern(30_000, i + 1))).toBe(true);
    await rig.node.removeDevice("d0", operator);
    expect(rig.node.cluster.state.devices["d0"]).toBeUndefined();
  });
  test("a corrupt source is rebuilt on the way", async () => {
    const rig = await rigOf({ devices: 7 });
    for (let i = 0; i < 8; i++) await put(rig, `k${i}`, pattern(30_000, i + 1));
    for (const extent of await rig.extents("d0")) await flipExtent(extent, 999);
    expect((await runJob(rig, (await rig.node.evacuate("d0", operator)).id)).state).toBe("succeeded");
    for (let i = 0; i < 8; i++) expect((await get(rig, `k${i}`)).equals(pattern(30_000, i + 1))).toBe(true);
  });
  test("without d+p other devices it is refused and the device stays as it was", async () => {
    const rig = await rigOf({ devices: 6 });
    await expect(rig.node.evacuate("d0", operator)).rejects.toMatchObject({ code: "EvacuationRefused" });
    expect(rig.node.cluster.state.devices["d0"]?.state).toBe("Healthy");
  });
  test("cancel returns to Degraded, keeps what moved, and nothing is lost or double", async () => {
    const rig = await rigOf({ devices: 8 });
    for (let i = 0; i < 6; i++) await put(rig, `k${i}`, pattern(30_000, i + 1));
    const job = await rig.node.evacuate("d0", operator);
    await rig.node.cancelEvacuation("d0", operator);
    expect((await runJob(rig, job.id)).state).toBe("cancelled");
    expect(rig.node.cluster.state.devices["d0"]?.state).toBe("Degraded");
    for (let i = 0; i < 6; i++) expect((await get(rig, `k${i}`)).equals(pattern(30_000, i + 1))).toBe(true);
    for (const { doc } of await chunks(rig)) expect(new Set(doc.fragments.map((f) => f?.device)).size).toBe(6);
  });
  test("SSD wear of 91 starts it by itself, 90 does not; after a cancel only a worse reading does", async () => {
    const rig = await rigOf({ devices: 7 });
    rig.smart.set("d0", { wearPercent: 90 });
    await rig.node.tick();
    expect(rig.node.cluster.state.devices["d0"]?.state).toBe("Healthy");
    rig.smart.set("d0", { wearPercent: 91 });
    await rig.node.tick();
    expect(rig.node.cluster.state.devices["d0"]?.state).toBe("Evacuating");
    await rig.node.cancelEvacuation("d0", operator);
    await rig.node.tick();
    expect(rig.node.cluster.state.devices["d0"]?.state).toBe("Degraded");
    rig.smart.set("d0", { wearPercent: 92 });
    await rig.node.tick();
    expect(rig.node.cluster.state.devices["d0"]?.state).toBe("Evacuating");
  });
  test("an automatic evacuation without targets stays Degraded and says so once", async () => {
    const rig = await rigOf({ devices: 6 });
    rig.smart.set("d0", { wearPercent: 95 });
    for (let i = 0; i < 3; i++) await rig.node.tick();
    expect(rig.node.cluster.state.devices["d0"]?.state).toBe("Degraded");
    expect(
      rig.node.events.query({ since: 0, limit: 100 }).filter((e) => e.message.startsWith("automatic evacuation waits")),
    ).toHaveLength(1);
  });
});

describe("maintenance mode and pools", () => {
  test("writes are refused retriably, reads work, also after a restart; a single shard alone too", async () => {
    const rig = await rigOf();
    await put(rig, "a", pattern(10));
    await rig.node.cluster.propose({ kind: "maintenance.set", enabled: true }, operator);
    await expect(put(rig, "b", pattern(10))).rejects.toMatchObject({ code: "MaintenanceMode" });
    const again = await rig.restart();
    await expect(put(again, "b", pattern(10))).rejects.toMatchObject({ code: "MaintenanceMode" });
    expect((await get(again, "a")).length).toBe(10);
    await again.node.cluster.propose({ kind: "maintenance.set", enabled: false }, operator);
    await again.node.cluster.propose({ kind: "maintenance.set", enabled: true, shard: "shard-0" }, operator);
    const outcomes = await Promise.allSettled(Array.from({ length: 30 }, (_, i) => put(again, `key-${i}`, pattern(10))));
    expect(new Set(outcomes.map((o) => o.status))).toEqual(new Set(["fulfilled", "rejected"]));
  });
  test("a pool fills to PoolFull without overshooting, emits its threshold events, and recovers after deletion", async () => {
    const rig = await rigOf({ devices: 6, capacityBytes: 400_000 });
    let stored = 0;
    const refusals: string[] = [];
    for (let i = 0; i < 40; i++) {
      await put(rig, `k${i}`, pattern(60_000, i + 1)).then(
        () => {
          stored += 1;
        },
        (error: { code: string }) => refusals.push(error.code),
      );
      await rig.node.tick();
    }
    expect(new Set(refusals)).toEqual(new Set(["PoolFull"]));
    const messages = rig.node.events.query({ since: 0, limit: 500 }).map((e) => e.message);
    expect(messages).toContain("pool fast: normal to warning");
    for (let i = 0; i < stored; i++) await deleteObject(rig.node.objects, "alpha", "docs", `k${i}`);
    await collectGarbage(rig.node.parts);
    await rig.node.tick();
    expect(rig.node.monitor.pools()[0]?.state).toBe("normal");
    await put(rig, "again", pattern(60_000));
  });
});

describe("keys", () => {
  test("without the key manager every write fails retriably, reads go on, and it recovers without a restart", async () => {
    const rig = await rigOf();
    await put(rig, "a", pattern(50_000));
    rig.vault.away = true;
    rig.clock.set(rig.clock.now() + 1000);
    await expect(put(rig, "b", pattern(50_000, 2))).rejects.toMatchObject({ code: "KeyManagerUnavailable" });
    expect((await get(rig, "a")).length).toBe(50_000);
    await rig.node.tick();
    await rig.node.tick();
    expect(rig.node.monitor.health()).toBe("degraded");
    rig.vault.away = false;
    await put(rig, "b", pattern(50_000, 2));
    expect(rig.node.monitor.health()).toBe("healthy");
    const messages = rig.node.events.query({ since: 0, category: "security", limit: 9 }).map((e) => e.severity);
    expect(messages).toEqual(["info", "critical"]);
  });
  test("the key manager has the patience that a device has: what a call misses tells nobody, rounds in a row do, once, until the first answer", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ away: fc.boolean(), by: fc.constantFrom("round", "write") }), { minLength: 4, maxLength: 12 }),
        async (acts) => {
          const rig = await rigOf();
          await put(rig, "a", pattern(50_000));
          const told: string[] = [];
          let silent = 0;
          for (const [at, { away, by }] of acts.entries()) {
            rig.vault.away = away;
            rig.clock.set(rig.clock.now() + 1000);
            if (by === "round") await rig.node.tick();
            else await put(rig, `n${at}`, pattern(50_000, at)).catch(() => undefined);
            if (!away) {
              if (silent >= lostAfter) told.unshift("info");
              silent = 0;
            } else if (by === "round") {
              silent += 1;
              if (silent === lostAfter) told.unshift("critical");
            }
            expect(rig.node.keys.reachable).toBe(silent < lostAfter);
            expect(rig.node.events.query({ since: 0, category: "security", limit: 99 }).map((e) => e.severity)).toEqual(told);
          }
        },
      ),
      { numRuns: 10 },
    );
  });
  test("a tenant whose key service is away fails alone, after the cache's time; others are untouched", async () => {
    const theirs = switchableVault();
    const own = switchableVault();
    const rig = await rigOf({ extra: { vaultFor: (tenant) => (tenant === "beta" ? theirs : own), vault: own } });
    await createBucket(rig.node.objects, "beta", "other", "us-east-1");
    await put(rig, "b", pattern(50_000), "beta", "other");
    const read = async () => collect(readObject(rig.node.objects, await headObject(rig.node.objects, "beta", "other", "b")));
    theirs.away = true;
    await read();
    rig.clock.set(rig.clock.now() + 67_000);
    await expect(read()).rejects.toMatchObject({ code: "TenantKmsUnreachable" });
    await put(rig, "a", pattern(50_000));
    expect((await get(rig, "a")).length).toBe(50_000);
    for (let i = 0; i < 6; i++) await read().catch(() => undefined);
    theirs.away = false;
    await expect(read()).rejects.toMatchObject({ code: "TenantKmsUnreachable" });
    rig.clock.set(rig.clock.now() + 30_000);
    expect((await read()).length).toBe(50_000);
  });
  test("after a rotation new chunks use the new epoch and old ones stay readable", async () => {
    const rig = await rigOf();
    await put(rig, "old", pattern(50_000, 1));
    expect(await rig.node.rotateKeys(operator)).toBe(2);
    await put(rig, "new", pattern(50_000, 2));
    expect((await chunks(rig)).map((c) => c.doc.epoch).sort()).toEqual([1, 2]);
    await put(rig, "old-again", pattern(50_000, 1));
    const again = await rig.restart();
    for (const [key, seed] of [
      ["old", 1],
      ["new", 2],
      ["old-again", 1],
    ] as const)
      expect((await get(again, key)).equals(pattern(50_000, seed))).toBe(true);
  });
});

test("metadata and devices survive a restart", async () => {
  const rig = await rigOf();
  await put(rig, "a", pattern(50_000));
  const again = await rig.restart();
  expect((await get(again, "a")).equals(pattern(50_000))).toBe(true);
  expect(again.node.monitor.pools()[0]?.usedBytes).toBeGreaterThan(50_000);
});
