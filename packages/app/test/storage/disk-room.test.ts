import { CodedError } from "@seneschal/kernel";
import { afterEach, expect, test } from "vitest";
import { openRig, pattern, type Rig } from "./rig.ts";

let rig: Rig;
afterEach(() => rig.dispose());

const messages = () => rig.node.monitor.alerts().map(({ subject, message }) => `${subject}: ${message}`);
const poolOf = () => rig.node.monitor.pools()[0];

test("a file system that has less than its devices were given is what the pool has: by its state, its alerts and to writers", async () => {
  rig = await openRig();
  await rig.node.tick();
  expect(poolOf()).toMatchObject({ state: "normal", usedBytes: 0, capacityBytes: 7 * (64 << 20) });
  const share = (freeBytes: number, refused = false) => {
    for (const device of rig.devices.values()) device.disk = { id: "one", freeBytes, deadBytes: 0, refused };
  };
  share(50 << 20);
  await rig.node.tick();
  expect(poolOf()).toMatchObject({ state: "normal", usedBytes: 0, capacityBytes: 50 << 20 });
  expect(rig.node.monitor.health()).toBe("healthy");
  share(0, true);
  await rig.node.tick();
  expect(poolOf()).toMatchObject({ state: "full", capacityBytes: 0 });
  expect(rig.node.monitor.health()).toBe("degraded");
  expect(messages()).toEqual(expect.arrayContaining(["fast: pool full at 100%", "d0: disk full"]));
  const told = () => rig.node.events.query({ since: 0, limit: 100 }).map(({ message }) => message);
  expect(told()).toContain("device d0: its file system refused a write, it is full");
  expect(await rig.node.metrics.deviceDiskFree.get()).toMatchObject({
    values: expect.arrayContaining([{ labels: { device: "d0" }, value: 0 }]),
  });
  await expect(rig.node.objects.chunks.prepare("alpha", pattern(10_000))).rejects.toMatchObject({ code: "PoolFull" });
  share(50 << 20);
  await rig.node.tick();
  expect(poolOf()).toMatchObject({ state: "normal" });
  expect(messages()).toEqual([]);
  expect(told()).toContain("device d0: its file system has room again");
});

test("deleted bytes that a device cannot give back are a step that fails, with an alert, until it can", async () => {
  rig = await openRig();
  const device = rig.devices.get("d3");
  if (device?.reclaim === undefined) throw new Error("no device");
  const { reclaim } = device;
  device.reclaim = async () => {
    throw new CodedError("device_full", "device d3 is full");
  };
  await rig.node.tick();
  expect(messages().join()).toContain("device reclaim: background work fails on node-1");
  device.reclaim = reclaim;
  await rig.node.tick();
  expect(messages()).toEqual([]);
});
