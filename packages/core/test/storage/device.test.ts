import { canTransition, type Device, type DeviceState, deviceStates, smartVerdict, stepDevice } from "@seneschal/core/storage";
import { describe, expect, test } from "vitest";

const device = (state: DeviceState): Device => ({
  id: "d1",
  node: "n1",
  pool: "fast",
  class: "ssd",
  capacityBytes: 1000,
  state,
  evacuated: false,
  reason: "test",
  since: 0,
});
const evacuate = { kind: "evacuate", trigger: "operator", targets: 6, needed: 6, reason: "asked" } as const;

describe("device state graph", () => {
  const allowed = new Set([
    "Healthy>Degraded",
    "Degraded>Evacuating",
    "Evacuating>Degraded",
    "Evacuating>Failed",
    "Failed>Removed",
  ]);
  for (const from of deviceStates)
    for (const to of deviceStates)
      test(`${from} to ${to} is ${allowed.has(`${from}>${to}`) ? "an edge" : "refused"}`, () => {
        expect(canTransition(from, to)).toBe(allowed.has(`${from}>${to}`));
      });

  test("every event in every state either walks along edges or changes nothing", () => {
    const events = [
      { kind: "degrade", reason: "x" },
      evacuate,
      { kind: "lost", reason: "gone" },
      { kind: "cancel" },
      { kind: "complete", references: 0 },
      { kind: "fail", reason: "x" },
      { kind: "remove", references: 0 },
    ] as const;
    for (const state of deviceStates)
      for (const event of events) {
        const step = stepDevice(device(state), event, 5);
        if (!step.ok) continue;
        let at: DeviceState = state;
        for (const t of step.transitions) {
          expect(t.from).toBe(at);
          expect(canTransition(t.from, t.to)).toBe(true);
          at = t.to;
        }
        expect(step.device.state).toBe(at);
      }
  });
});

describe("evacuation guards", () => {
  test("evacuating a Healthy device records two steps", () => {
    const step = stepDevice(device("Healthy"), evacuate, 1);
    expect(step.ok && step.transitions.map((t) => t.to)).toEqual(["Degraded", "Evacuating"]);
  });
  test("without enough targets it is refused", () => {
    expect(stepDevice(device("Degraded"), { ...evacuate, targets: 5 }, 1)).toMatchObject({
      ok: false,
      error: "EvacuationRefused",
    });
  });
  test("a completed evacuation passes through Failed to Removed, and only without references", () => {
    expect(stepDevice(device("Evacuating"), { kind: "complete", references: 1 }, 1).ok).toBe(false);
    const step = stepDevice(device("Evacuating"), { kind: "complete", references: 0 }, 1);
    expect(step.ok && [step.transitions.map((t) => t.to), step.device.evacuated]).toEqual([["Failed", "Removed"], true]);
  });
  test("a Failed device with live fragments stays Failed", () => {
    expect(stepDevice(device("Failed"), { kind: "remove", references: 3 }, 1).ok).toBe(false);
  });
  test("a device that stops answering is Failed at once, unevacuated", () => {
    const step = stepDevice(device("Healthy"), { kind: "lost", reason: "no answer" }, 1);
    expect(step.ok && [step.device.state, step.device.evacuated]).toEqual(["Failed", false]);
  });
  test("after a cancel the automatic trigger waits for a worse reading; the operator does not", () => {
    const cancelled = stepDevice(device("Evacuating"), { kind: "cancel", reading: { wearPercent: 93 } }, 1);
    if (!cancelled.ok) throw new Error(cancelled.message);
    expect(cancelled.device.state).toBe("Degraded");
    const automatic = (wearPercent: number) =>
      stepDevice(cancelled.device, { ...evacuate, trigger: "automatic", reading: { wearPercent } }, 2).ok;
    expect([automatic(93), automatic(94)]).toEqual([false, true]);
    expect(stepDevice(cancelled.device, evacuate, 2).ok).toBe(true);
    const cleared = stepDevice(cancelled.device, { kind: "clear_hold" }, 2);
    expect(
      cleared.ok && stepDevice(cleared.device, { ...evacuate, trigger: "automatic", reading: { wearPercent: 93 } }, 3).ok,
    ).toBe(true);
  });
});

describe("SMART triggers", () => {
  const action = (c: Parameters<typeof smartVerdict>[0], r: Parameters<typeof smartVerdict>[1]) => smartVerdict(c, r).action;
  test("SSD and NVMe wear above 90 evacuates, 90 does not", () => {
    for (const c of ["ssd", "nvme"] as const)
      expect([90, 90.1, 91, 130].map((wearPercent) => action(c, { wearPercent }))).toEqual([
        "none",
        "evacuate",
        "evacuate",
        "evacuate",
      ]);
  });
  test("HDD above 100 bad sectors evacuates with high priority, 100 does not", () => {
    expect([100, 101].map((badSectors) => action("hdd", { badSectors }))).toEqual(["none", "evacuate"]);
    expect(smartVerdict("hdd", { badSectors: 101 }).priority).toBe("high");
    expect(smartVerdict("hdd", { badSectors: 1 }).flags).toEqual(["bad_sectors"]);
  });
  test("SSD bad sectors and HDD wear do not evacuate", () => {
    expect([action("ssd", { badSectors: 500 }), action("hdd", { wearPercent: 99 })]).toEqual(["none", "none"]);
  });
  test("temperature flags above 70 and 80, never evacuates", () => {
    expect([70, 71, 80, 81].map((temperatureCelsius) => smartVerdict("ssd", { temperatureCelsius }).flags)).toEqual([
      [],
      ["temperature_warning"],
      ["temperature_warning"],
      ["temperature_throttle"],
    ]);
  });
  test("one uncorrectable read evacuates", () => {
    expect(action("ssd", { uncorrectableReads: 1 })).toBe("evacuate");
  });
});
