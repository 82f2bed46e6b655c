import { openMemoryStore } from "@seneschal/adapters/memory";
import { afterEach, describe, expect, test } from "vitest";
import { storageSchema } from "../../src/storage/schema.ts";
import { simulateSmart } from "../../src/storage/watch/simulate-smart.ts";
import { openCluster } from "./cluster-rig.ts";
import { type Harness, servers, startStorage } from "./harness.ts";
import { operator } from "./rig.ts";

let h: Harness;

const smart = (device: string, body: unknown, who: "root" | "incident" | "oncall" = "root") =>
  h.call(who, "PUT", `/ui/api/ops/devices/${device}/smart`, body);
const device = async (id: string) =>
  (await h.call(undefined, "GET", "/ui/api/devices")).body.find((d: { device_id: string }) => d.device_id === id);
const messages = async () =>
  (await h.call(undefined, "GET", "/ui/api/events?category=device")).body.map((e: { message: string }) => e.message);

describe.each(servers)("simulated SMART readings on %s", (_, serve) => {
  afterEach(() => h.stop());

  test("are refused while the knob is off, to whoever asks, and nothing changes", async () => {
    h = await startStorage(serve);
    expect((await smart("d0", { wear_percent: 95 })).body.error).toMatchObject({
      code: "FORBIDDEN",
      message: expect.stringContaining("storage.test_knobs"),
    });
    await h.storage.node.tick();
    expect(await device("d0")).toMatchObject({ state: "Healthy", wear_percent: null, flags: [] });
  });
  test("act as a device's own: flag, event and alert at the limits, evacuation above them, and quiet again when taken back", async () => {
    h = await startStorage(serve, { test_knobs: true });
    expect((await smart("d1", { temperature_celsius: 71, wear_percent: 90 })).body).toMatchObject({
      status: "ok",
      device_id: "d1",
      simulated: { temperature_celsius: 71, wear_percent: 90 },
    });
    await h.storage.node.tick();
    expect(await device("d1")).toMatchObject({ state: "Healthy", wear_percent: 90, flags: ["temperature_warning"] });
    expect(await messages()).toContain("device flags: temperature_warning");
    expect((await h.call(undefined, "GET", "/ui/api/cluster")).body.active_alerts).toMatchObject([{ subject: "d1" }]);
    expect((await h.call(undefined, "GET", "/metrics")).text).toContain('store_device_wear_percent{device="d1"} 90');

    expect((await smart("d1", {})).body).toMatchObject({ simulated: null });
    await h.storage.node.tick();
    expect(await device("d1")).toMatchObject({ state: "Healthy", wear_percent: null, temperature_celsius: null, flags: [] });
    expect(await messages()).toContain("device flags cleared");
    expect((await h.call(undefined, "GET", "/metrics")).text).not.toContain('store_device_wear_percent{device="d1"}');
    expect((await h.call(undefined, "GET", "/ui/api/cluster")).body.active_alerts).toEqual([]);

    await smart("d2", { wear_percent: 91 });
    await h.storage.node.tick();
    await h.storage.node.jobs.drain();
    expect((await device("d2")).flags).toContain("wear");
    expect((await device("d2")).reason).not.toBe("");
    expect((await device("d2")).state).toBe("Removed");
    const jobs = (await h.call(undefined, "GET", "/ui/api/jobs")).body;
    expect(jobs).toContainEqual(expect.objectContaining({ kind: "evacuation", scope: "device:d2", state: "succeeded" }));
  });
  test("are a cluster admin's only, of a device that exists, with each bad value named, and audited", async () => {
    h = await startStorage(serve, { test_knobs: true });
    expect((await smart("d0", { wear_percent: 95 }, "incident")).status).toBe(403);
    expect((await smart("d0", { wear_percent: 95 }, "oncall")).status).toBe(403);
    expect((await smart("none", { wear_percent: 95 })).body.error.code).toBe("RESOURCE_NOT_FOUND");
    for (const [field, value] of [
      ["wear_percent", -1],
      ["wear_percent", "91"],
      ["bad_sectors", 1.5],
      ["temperature_celsius", 999],
      ["uncorrectable_reads", null],
      ["wear", 91],
    ] as const) {
      const { status, body } = await smart("d0", { [field]: value });
      expect([status, body.error.code], field).toEqual([400, "VALIDATION_ERROR"]);
      expect(JSON.stringify(body.error.details)).toContain(field);
    }
    await h.storage.node.tick();
    expect(await device("d0")).toMatchObject({ state: "Healthy", wear_percent: null });
    await smart("d0", { bad_sectors: 3 });
    expect((await h.store.auditRead(0, 10_000)).map((e) => e.event)).toContainEqual(
      expect.objectContaining({
        action: "op.simulate_smart",
        actor: "root",
        outcome: "ok",
        parameters: { device_id: "d0", bad_sectors: 3 },
      }),
    );
  });
});

test("any node takes a simulated reading, the device's own node acts on it, and all see what came of it", async () => {
  const store = openMemoryStore(storageSchema);
  const rig = await openCluster(["n1", "n2"], { store, plaintext: true, readSmart: simulateSmart(store).read });
  try {
    const states = () => ["n1", "n2"].map((id) => rig.node(id).cluster.state.devices["n2-d0"]?.state);
    await simulateSmart(store).set("n2-d0", { wearPercent: 91 }, operator);
    await rig.node("n1").tick();
    expect(states()).toEqual(["Healthy", "Healthy"]);
    await rig.node("n2").tick();
    await rig.node("n1").tick();
    expect(states()).toEqual(["Evacuating", "Evacuating"]);
  } finally {
    await rig.dispose();
  }
});
