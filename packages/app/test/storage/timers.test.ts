import { afterEach, expect, test } from "vitest";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { deleteObject } from "../../src/storage/objects/delete-object.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { bytesOf, openRig, operator, pattern, type Rig } from "./rig.ts";

let rig: Rig | undefined;
afterEach(async () => {
  await rig?.dispose();
  rig = undefined;
});
const counted = async (name: "gcRuns" | "gcReclaimed") => (await rig?.node.metrics[name].get())?.values[0]?.value ?? 0;
const later = (ms: number) => rig?.clock.set(rig.clock.now() + ms);

test("garbage is collected every gc_interval_s, live, and not before", async () => {
  rig = await openRig();
  const { node } = rig;
  await createBucket(node.objects, "alpha", "docs", "us-east-1");
  const body = {
    tenant: "alpha",
    bucket: "docs",
    key: "k",
    body: bytesOf(pattern(50_000)),
    contentType: "",
    headers: {},
    meta: {},
  };
  await putObject(node.objects, body);
  await deleteObject(node.objects, "alpha", "docs", "k");
  later(299_999);
  await node.tick();
  expect(await counted("gcRuns")).toBe(0);
  later(1);
  await node.tick();
  expect([await counted("gcRuns"), (await counted("gcReclaimed")) > 50_000]).toEqual([1, true]);
  await node.cluster.propose({ kind: "tuning.set", values: { gc_interval_s: 60 } }, operator);
  later(60_000);
  await node.tick();
  expect(await counted("gcRuns")).toBe(2);
});

test("a whole scrub is begun every scrub_interval_h, once", async () => {
  rig = await openRig();
  const scrubs = async () => (await rig?.node.jobs.list({ limit: 10 }))?.filter((j) => j.kind === "scrub").length;
  await rig.node.tick();
  later(7 * 86_400_000 - 1);
  await rig.node.tick();
  expect(await scrubs()).toBe(0);
  later(1);
  await rig.node.tick();
  await rig.node.tick();
  expect(await scrubs()).toBe(1);
  await rig.node.jobs.drain();
  await rig.node.tick();
  expect(await scrubs()).toBe(1);
});

test("a shard splits at 10 GB and at 10 M deltas, not in maintenance, and its keys stay readable", async () => {
  rig = await openRig();
  const { node } = rig;
  const ids = () => node.cluster.state.shards.map((s) => s.id);
  expect(ids()).toHaveLength(3);
  node.objects.shards.changed("shard-1", 10_000_000_000 - 1, 1);
  await node.tick();
  expect(ids()).toHaveLength(3);
  node.objects.shards.changed("shard-1", 1, 0);
  await node.cluster.propose({ kind: "maintenance.set", enabled: true }, operator);
  await node.tick();
  expect(ids()).toHaveLength(3);
  await node.cluster.propose({ kind: "maintenance.set", enabled: false }, operator);
  await node.tick();
  expect(ids()).toEqual(["shard-0", "shard-1", "shard-3", "shard-2"]);
  const events = node.events.query({ since: 0, limit: 10, category: "shard" });
  expect(events.map((e) => e.message)).toContain("shard shard-1 split, 4 shards now");
});
