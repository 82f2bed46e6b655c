import type { StoredExtent } from "@seneschal/adapters/devices";
import { openMemoryStore } from "@seneschal/adapters/memory";
import { type CommitFault, chaosStore } from "@seneschal/kernel/testing";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { chunkPage } from "../../src/storage/jobs/chunk-pages.ts";
import { collectGarbage } from "../../src/storage/jobs/collect-garbage.ts";
import { createBucket, deleteBucket, openBucket } from "../../src/storage/objects/buckets.ts";
import { deleteObject } from "../../src/storage/objects/delete-object.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { storageSchema } from "../../src/storage/schema.ts";
import { flipExtent, removeExtent } from "./damage-extent.ts";
import { bytesOf, collect, openRig, operator, pattern, type Rig } from "./rig.ts";

let rigs: Rig[] = [];
afterEach(async () => {
  await Promise.all(rigs.map((r) => r.dispose()));
  rigs = [];
});

/** A node whose store loses what `next` draws. */
async function rigWith(next: () => CommitFault): Promise<Rig> {
  const rig = await openRig({ extra: { store: chaosStore(openMemoryStore(storageSchema), next) } });
  rigs.push(rig);
  await createBucket(rig.node.objects, "alpha", "docs", "us-east-1");
  return rig;
}

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
const get = async (rig: Rig, key: string): Promise<Buffer | undefined> => {
  const found = await headObject(rig.node.objects, "alpha", "docs", key).catch(() => undefined);
  return found && collect(readObject(rig.node.objects, found));
};
const day = 24 * 3_600_000;

/** Everything that takes things away, until it has nothing left to take. */
async function collectAll(rig: Rig): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await collectGarbage(rig.node.parts);
    const job = await rig.node.scrub({ kind: "cluster" }, operator);
    await rig.node.jobs.drain();
    expect((await rig.node.jobs.get(job.id))?.result).toMatchObject({ lost: 0 });
    rig.clock.set(rig.clock.now() + day + 1);
  }
}

describe("an answer to COMMIT that is lost", () => {
  const contents = [pattern(300, 1), pattern(40_000, 2), pattern(40_000, 3), pattern((4 << 20) + 9, 4)];
  const steps = fc.array(
    fc.record({
      key: fc.constantFrom("a", "b"),
      // -1 deletes.
      content: fc.integer({ min: -1, max: contents.length - 1 }),
      faults: fc.array(fc.constantFrom<CommitFault>("none", "request_dropped", "reply_dropped", "delayed", "unreachable"), {
        maxLength: 6,
      }),
    }),
    { minLength: 1, maxLength: 6 },
  );

  test("a key has what was acknowledged last or what may have come since, whole; collection takes none of it; a repeat ends in what it says", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (drawn) => {
        let left: CommitFault[] = [];
        const rig = await rigWith(() => left.shift() ?? "none");
        const possible = new Map<string, Set<number>>([
          ["a", new Set([-1])],
          ["b", new Set([-1])],
        ]);
        const look = async (key: string) => {
          const found = await get(rig, key);
          const which = found === undefined ? -1 : contents.findIndex((c) => found.equals(c));
          expect(possible.get(key)).toContain(which);
        };
        for (const { key, content, faults } of drawn) {
          left = [...faults];
          const values = possible.get(key) as Set<number>;
          const work =
            content < 0 ? deleteObject(rig.node.objects, "alpha", "docs", key) : put(rig, key, contents[content] as Buffer);
          await work.then(
            () => {
              values.clear();
              values.add(content);
            },
            () => values.add(content),
          );
          left = [];
          await look(key);
        }
        await collectAll(rig);
        for (const key of possible.keys()) await look(key);
        for (const [i, bytes] of contents.entries()) {
          await put(rig, `again-${i}`, bytes);
          expect((await get(rig, `again-${i}`))?.equals(bytes)).toBe(true);
        }
      }),
      { numRuns: Number(process.env["FC_RUNS"] ?? 20), endOnFailure: true },
    );
  }, 120_000);

  test("a repair whose commit may stand drops neither the old fragments nor the new ones", async () => {
    for (const fault of ["reply_dropped", "request_dropped", "delayed"] as const) {
      let left: CommitFault[] = [];
      const rig = await rigWith(() => left.shift() ?? "none");
      await put(rig, "k", contents[1] as Buffer);
      const [chunk] = (await chunkPage(rig.node.context.store, undefined, 1)).chunks;
      const extents = (await Promise.all([...rig.devices.keys()].map(rig.extents))).flat();
      for (const extent of extents.slice(0, 2)) await removeExtent(extent);
      left = [fault, "unreachable", "unreachable"];
      await rig.node.repair.check(chunk?.id ?? "", { trigger: "scrub", repair: true }).catch(() => undefined);
      left = [];
      // Where the repair stands the chunk may lose as much again.
      if (fault === "reply_dropped") for (const extent of extents.slice(2, 4)) await removeExtent(extent);
      expect((await get(rig, "k"))?.equals(contents[1] as Buffer)).toBe(true);
      await collectAll(rig);
      expect((await get(rig, "k"))?.equals(contents[1] as Buffer)).toBe(true);
    }
  });

  test("the deletion of a bucket that may have begun is ended by the next one, either way", async () => {
    let left: CommitFault[] = [];
    const rig = await rigWith(() => left.shift() ?? "none");
    await put(rig, "k", pattern(10));
    left = ["reply_dropped", "unreachable", "unreachable"];
    await expect(deleteBucket(rig.node.objects, "alpha", "docs")).rejects.toMatchObject({ code: "ShardUnavailable" });
    await expect(deleteBucket(rig.node.objects, "alpha", "docs")).rejects.toMatchObject({ code: "BucketNotEmpty" });
    expect(await get(rig, "k")).toHaveLength(10);
    await deleteObject(rig.node.objects, "alpha", "docs", "k");
    left = ["none", "reply_dropped", "unreachable", "unreachable"];
    await expect(deleteBucket(rig.node.objects, "alpha", "docs")).rejects.toMatchObject({ code: "ShardUnavailable" });
    await expect(deleteBucket(rig.node.objects, "alpha", "docs")).rejects.toMatchObject({ code: "NoSuchBucket" });
    await expect(openBucket(rig.node.objects, "alpha", "docs")).rejects.toMatchObject({ code: "NoSuchBucket" });
  });
});

describe("an upload of bytes that the cluster lost", () => {
  for (const [how, harm] of [["missing", removeExtent] as const, ["damaged", (e: StoredExtent) => flipExtent(e)] as const])
    for (const scrubbed of [false, true])
      test(`${how} fragments, ${scrubbed ? "found by a scrub" : "not found yet"}: the upload writes them again, and every key reads`, async () => {
        const rig = await rigWith(() => "none");
        const bytes = pattern(200_000);
        await put(rig, "first", bytes);
        const devices = [...rig.devices.keys()];
        for (const id of devices.slice(0, 4)) for (const extent of await rig.extents(id)) await harm(extent);
        if (scrubbed) {
          await rig.node.scrub({ kind: "cluster" }, operator);
          await rig.node.jobs.drain();
        }
        // The master key turns meanwhile: the references that exist are bound to the epoch of the first writer.
        await rig.node.rotateKeys(operator);
        await put(rig, "second", bytes);
        expect((await get(rig, "second"))?.equals(bytes)).toBe(true);
        expect((await get(rig, "first"))?.equals(bytes)).toBe(true);
        await collectAll(rig);
        expect((await get(rig, "first"))?.equals(bytes)).toBe(true);
      });
});
