import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { StoredExtent } from "@seneschal/adapters/devices";
import fc from "fast-check";
import { expect, test } from "vitest";
import { chunkPage } from "../../src/storage/jobs/chunk-pages.ts";
import { collectGarbage } from "../../src/storage/jobs/collect-garbage.ts";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { deleteObject } from "../../src/storage/objects/delete-object.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { flipExtent, removeExtent, tearExtent } from "./damage-extent.ts";
import { bytesOf, collect, openRig, operator, pattern, type Rig } from "./rig.ts";

/** What may happen to a node. Sizes straddle the inline threshold; seeds repeat, so that content is shared. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("put"),
      key: fc.nat(5),
      size: fc.constantFrom(0, 10, 4096, 4097, 30_000),
      seed: fc.nat(3),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete"), key: fc.nat(5) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("get"), key: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("flip", "erase", "tear"), device: fc.nat(6), bit: fc.nat(100_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("inline"), size: fc.constantFrom(512, 4096, 65_536) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("thresholds"), size: fc.constantFrom(0, 75, 90) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("away", "back"), device: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("scrub", "gc", "restart", "halt", "maintenance", "orphan") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("evacuate", "retire"), device: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("add", "rebalance"), device: fc.integer({ min: 7, max: 9 }) }) },
);
type Step = { do: string; key?: number; size?: number; seed?: number; device?: number; bit?: number };

/** Fragments of a chunk that are damaged on disk or on a device that is away, at most `parity` of which must not matter. */
async function worstLoss(rig: Rig): Promise<number> {
  let worst = 0;
  for (const { doc } of (await chunkPage(rig.store, undefined, 1000)).chunks) {
    let lost = 0;
    for (const fragment of doc.fragments) {
      const device = fragment === null ? undefined : rig.devices.get(fragment.device);
      const bytes = await device?.read(fragment?.extent ?? "").catch(() => undefined);
      if (bytes === undefined) lost += 1;
    }
    worst = Math.max(worst, lost);
  }
  return worst;
}

test("whatever happens, what was acknowledged reads back bit-equal or fails clearly; it reads while losses stay within parity", async () => {
  await fc.assert(
    // Small devices fill up within a history: thresholds and full pools are met as well.
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.constantFrom(64 << 20, 60_000), async (steps, capacityBytes) => {
      let rig = await openRig({ devices: 7, capacityBytes, data: 2, parity: 2, tenants: ["alpha"] });
      await createBucket(rig.node.objects, "alpha", "bucket", "us-east-1");
      const model = new Map<number, Buffer>();
      const read = async (key: number) =>
        collect(readObject(rig.node.objects, await headObject(rig.node.objects, "alpha", "bucket", `k${key}`)));
      const check = async (key: number) => {
        const expected = model.get(key);
        const outcome = await read(key).then(
          (bytes) => bytes,
          (error: { code?: string }) => error.code,
        );
        if (expected === undefined) expect(outcome).toBe("NotFound");
        else if (outcome instanceof Buffer) expect(outcome.equals(expected)).toBe(true);
        else {
          // What is away may come back; only what is known to be gone is lost.
          if (outcome !== "ChunkLost") {
            expect(outcome).toBe("ShardUnavailable");
            expect([...rig.devices.values()].some((d) => d.away)).toBe(true);
          }
          expect(await worstLoss(rig)).toBeGreaterThan(2);
        }
      };
      try {
        for (const s of steps as Step[]) {
          const device = `d${s.device}`;
          if (s.do === "put") {
            const bytes = Buffer.from(pattern(s.size ?? 0, (s.seed ?? 0) + 1));
            const body = {
              tenant: "alpha",
              bucket: "bucket",
              key: `k${s.key}`,
              body: bytesOf(bytes),
              contentType: "",
              headers: {},
              meta: {},
            };
            await putObject(rig.node.objects, body).then(
              () => model.set(s.key ?? 0, bytes),
              // Too few devices, or read-only: refused, and nothing may have changed.
              (error: { code: string }) =>
                expect(["PoolFull", "PoolReadOnly", "ShardUnavailable", "MaintenanceMode"]).toContain(error.code),
            );
          } else if (s.do === "delete") {
            await deleteObject(rig.node.objects, "alpha", "bucket", `k${s.key}`).then(
              () => model.delete(s.key ?? 0),
              (error: { code: string }) => expect(error.code).toBe("MaintenanceMode"),
            );
          } else if (s.do === "get") await check(s.key ?? 0);
          else if (s.do === "flip" || s.do === "erase" || s.do === "tear") {
            const extents = await rig.extents(device);
            const extent = extents[(s.bit ?? 0) % Math.max(1, extents.length)];
            if (extent !== undefined && s.do === "flip") await flipExtent(extent, s.bit ?? 0);
            if (extent !== undefined && s.do === "erase") await removeExtent(extent);
            if (extent !== undefined && s.do === "tear") await tearExtent(extent, (s.bit ?? 0) % 2000);
          } else if (s.do === "inline")
            await rig.node.cluster.propose({ kind: "tuning.set", values: { inline_threshold_bytes: s.size ?? 4096 } }, operator);
          else if (s.do === "thresholds") {
            const readOnly = s.size ?? 0;
            const thresholds = { warning: readOnly && 60, critical: readOnly && 65, readOnly, targetFill: readOnly && 55 };
            await rig.node.cluster.propose({ kind: "pool.thresholds", id: "fast", thresholds }, operator);
          } else if (s.do === "away" || s.do === "back") rig.devices.get(device)!.away = s.do === "away";
          else if (s.do === "add") {
            const draft = { id: device, pool: "fast", directory: join(rig.directory, device), capacityBytes };
            await rig.node
              .addDevice("node-1", draft, operator)
              .catch((error: { code: string }) => expect(error.code).toBe("AlreadyExists"));
          } else if (s.do === "rebalance") {
            await rig.node
              .rebalance("fast", operator)
              .catch((error: { code: string }) => expect(error.code).toBe("AlreadyExists"));
            if ((s.device ?? 0) > 7) await rig.node.jobs.drain();
          } else if (s.do === "retire") {
            await rig.node.evacuate(device, operator).catch(() => undefined);
            await rig.node.jobs.drain();
            await rig.node.removeDevice(device, operator).catch(() => undefined);
          } else if (s.do === "scrub") {
            await rig.node.scrub({ kind: "cluster" }, operator);
            await rig.node.jobs.drain();
          } else if (s.do === "gc") await collectGarbage(rig.node.parts);
          else if (s.do === "orphan")
            await rig.devices
              .get("d0")!
              .write(`${"ab".repeat(32)}.0.${steps.indexOf(s as never)}`, new Uint8Array(3))
              .catch(() => undefined);
          else if (s.do === "maintenance")
            await rig.node.cluster.propose({ kind: "maintenance.set", enabled: !rig.node.cluster.state.maintenance }, operator);
          else if (s.do === "evacuate") {
            await rig.node.evacuate(device, operator).catch(() => undefined);
            await rig.node.jobs.drain();
          } else if (s.do === "restart" || s.do === "halt") {
            // Halted in the middle of what it was doing; or nothing was under way.
            if (s.do === "halt") void rig.node.jobs.tick();
            const away = [...rig.devices].filter(([, d]) => d.away).map(([id]) => id);
            await rig.node.jobs.stop();
            rig = await rig.restart();
            for (const id of away) rig.devices.get(id)!.away = true;
          }
        }
        for (let key = 0; key <= 5; key++) await check(key);
        // With every device back and what can be repaired repaired, nothing within parity stays damaged.
        for (const device of rig.devices.values()) device.away = false;
        if ((await worstLoss(rig)) <= 2) {
          await rig.node.scrub({ kind: "cluster" }, operator);
          await rig.node.jobs.drain();
          for (const [key, bytes] of model) expect((await read(key)).equals(bytes)).toBe(true);
        }
      } finally {
        await rig.dispose();
      }
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 25) },
  );
});

test("every single flipped bit in a device's directory is found by the scrub job and repaired", async () => {
  const rig = await openRig({ devices: 3, data: 2, parity: 1, tenants: ["alpha"] });
  const { node } = rig;
  await createBucket(node.objects, "alpha", "bucket", "us-east-1");
  const body = pattern(4097);
  const draft = { tenant: "alpha", bucket: "bucket", key: "k", contentType: "", headers: {}, meta: {} };
  await putObject(node.objects, { ...draft, body: bytesOf(body) });
  const scrub = async () => {
    const { id } = await node.scrub({ kind: "device", id: "d1" }, operator);
    await node.jobs.drain();
    return (await node.jobs.get(id))?.result;
  };
  const superblock = join(rig.directory, "d1", "superblock");
  const intact = await readFile(superblock);
  // Each flip costs a whole scrub: every bit of the fixed header, a stride over the rest.
  const stride = Number(process.env["FLIP_STRIDE"] ?? 1999);
  const length = ((await rig.extents("d1"))[0]?.size ?? 0) * 8;
  for (let bit = 0; bit < length; bit += bit < 144 ? 1 : stride) {
    const [extent] = await rig.extents("d1");
    await flipExtent(extent as StoredExtent, bit);
    expect(await scrub(), `bit ${bit}`).toMatchObject({ scanned: 1, repaired: 1, lost: 0, orphans: 0, repair_errors: 0 });
  }
  for (let bit = 0; bit < intact.length * 8; bit += Math.min(stride, 101)) {
    await flipExtent({ name: "superblock", path: superblock, at: 0, size: intact.length }, bit);
    expect(await scrub(), `bit ${bit}`).toMatchObject({ healthy: 1, repaired: 0 });
    expect((await readFile(superblock)).equals(intact), `bit ${bit} of the superblock`).toBe(true);
  }
  expect(await scrub()).toMatchObject({ scanned: 1, healthy: 1, repaired: 0, orphans: 0 });
  const found = await headObject(node.objects, "alpha", "bucket", "k");
  expect((await collect(readObject(node.objects, found))).equals(body)).toBe(true);
  await rig.dispose();
});
