import { expect, test } from "vitest";
import { clusterView, deviceViews, nodeViews, poolViews } from "../../src/storage/admin/views.ts";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { bytesOf, openRig, operator, pattern } from "./rig.ts";

test("an evacuation at rate 0 says how much there is to move, and a removed device counts nowhere", async () => {
  const rig = await openRig();
  const { node } = rig;
  await createBucket(node.objects, "alpha", "docs", "us-east-1");
  for (let i = 0; i < 10; i++)
    await putObject(node.objects, {
      tenant: "alpha",
      bucket: "docs",
      key: `k${i}`,
      body: bytesOf(pattern(20_000, i + 1)),
      contentType: "",
      headers: {},
      meta: {},
    });
  await node.cluster.propose({ kind: "tuning.set", values: { rebalance_rate_mb_s: 0 } }, operator);
  const d0 = async () => (await deviceViews(node)).find((d) => d.device_id === "d0");
  const held = (await rig.extents("d0")).length;
  expect(held).toBeGreaterThan(2);
  await node.evacuate("d0", operator);
  await node.jobs.tick();
  await expect.poll(async () => (await d0())?.evacuation?.total).toBe(held);
  await node.cluster.propose({ kind: "tuning.set", values: { rebalance_rate_mb_s: 500 } }, operator);
  await node.jobs.drain();
  await node.tick();
  expect(await d0()).toMatchObject({ state: "Removed", used_bytes: 0, used_percent: 0 });
  expect(clusterView(node).device_count).toBe(6);
  expect(poolViews(node)[0]?.device_count).toBe(6);
  expect(nodeViews(node)[0]?.device_count).toBe(6);
  await rig.dispose();
});
