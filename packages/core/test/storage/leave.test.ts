import {
  type ClusterCommand,
  type ClusterState,
  drainNode,
  evacuateDevice,
  evictNode,
  failedDevices,
  keepDevice,
  keepNode,
  removeDevice,
  removeFailed,
  removePool,
  stepCluster,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { clusterStates } from "../../src/arbitraries/index.ts";

const node = fc.constantFrom("n1", "n2", "n3", "n4", "n9");
const device = fc.constantFrom("d1", "d2", "d3", "d4", "d9");
const seen = { reached: () => true, usedBytes: () => 0, freeBytes: () => 1000, up: () => true };
const refusals = ["EvacuationRefused", "DeviceNotEvacuated", "PoolNotEmpty", "NotFound"];

/** The state behind commands that a rule gave; `undefined`: it refused by one of its names. */
function after(state: ClusterState, rule: () => ClusterCommand | readonly ClusterCommand[]): ClusterState | undefined {
  let commands: readonly ClusterCommand[];
  try {
    commands = [rule()].flat();
  } catch (error) {
    expect(isCoded(error, ...refusals)).toBe(true);
    return undefined;
  }
  return commands.reduce((before, command) => {
    const step = stepCluster(before, command, 9);
    expect(step).toMatchObject({ ok: true });
    return step.ok ? step.state : before;
  }, state);
}

test("a node that is taken out leaves no vote and no device behind, and never takes itself out", () => {
  fc.assert(
    fc.property(clusterStates, node, node, (state, id, asked) => {
      const next = after(state, () => evictNode(state, id, asked));
      if (next === undefined) return;
      expect(id).not.toBe(asked);
      expect(next.nodes[id]?.state).toBe("Evicted");
      expect(next.shards.some((s) => s.voters.includes(id) || s.migration?.to === id)).toBe(false);
      expect(Object.values(next.devices).filter((d) => d.node === id && d.state !== "Removed")).toEqual([]);
    }),
  );
});

test("a node drains only where another Active one answers; told to stay, it has no device that is being emptied", () => {
  fc.assert(
    fc.property(clusterStates, node, fc.func(fc.boolean()), (state, id, up) => {
      const drained = after(state, () => drainNode(state, id, { ...seen, up }));
      if (drained === undefined) return;
      expect(drained.nodes[id]?.state).toBe("Draining");
      expect(Object.values(state.nodes).some((n) => n.id !== id && n.state === "Active" && up(n.id))).toBe(true);
      const kept = after(drained, () => keepNode(drained, id));
      expect(kept?.nodes[id]?.state).toBe("Active");
      expect(Object.values(kept?.devices ?? {}).filter((d) => d.node === id && d.state === "Evacuating")).toEqual([]);
    }),
  );
});

test("a device is emptied by what the transitions allow alone, and kept as it was told", () => {
  fc.assert(
    fc.property(clusterStates, device, fc.boolean(), (state, id, reached) => {
      const why = { trigger: "operator", reason: "asked" } as const;
      let command: ClusterCommand;
      try {
        command = evacuateDevice(state, id, why, { ...seen, reached: () => reached });
      } catch (error) {
        return void expect(isCoded(error, ...refusals)).toBe(true);
      }
      const step = stepCluster(state, command, 9);
      // Without a place for what lies on it nothing begins.
      if (!reached) expect(step.ok).toBe(false);
      if (!step.ok) return;
      expect(step.state.devices[id]?.state).toBe("Evacuating");
      const kept = after(step.state, () => keepDevice(step.state, id, { wearPercent: 1 }));
      expect(kept?.devices[id]).toMatchObject({ state: "Degraded", hold: { wearPercent: 1 } });
    }),
  );
});

test("a device on which something lies stays, and so does a pool that the settings would make again", () => {
  fc.assert(
    fc.property(fc.nat(9), fc.boolean(), (references, holdsData) => {
      const removed = () => removeDevice("d1", references);
      if (references > 0) expect(removed).toThrow(expect.objectContaining({ code: "DeviceNotEvacuated" }));
      else expect(removed()).toEqual({ kind: "device.delete", id: "d1" });
      const own = () => removePool("fast", { configured: ["fast"], holdsData });
      expect(own).toThrow(expect.objectContaining({ code: "PoolNotEmpty" }));
      const other = removePool("fast", { configured: ["slow"], holdsData });
      expect(other).toEqual({ kind: "pool.delete", id: "fast", holdsData });
    }),
  );
});

test("a Failed device is Removed once nothing lies on it, and no other is", () => {
  fc.assert(
    fc.property(clusterStates, fc.nat(2), (state, references) => {
      for (const { id } of failedDevices(state)) {
        const command = removeFailed(id, references);
        if (references > 0) expect(command).toBeUndefined();
        else expect(after(state, () => [command].filter((one) => one !== undefined))?.devices[id]?.state).toBe("Removed");
      }
      expect(failedDevices(state).map(({ id }) => id)).toEqual(
        Object.values(state.devices).flatMap(({ id, state: is }) => (is === "Failed" ? [id] : [])),
      );
    }),
  );
});
