import { type ClusterCommand, type ClusterState, emptyCluster, isReadOnly, stepCluster } from "@seneschal/core/storage";
import { describe, expect, test } from "vitest";

function run(commands: readonly ClusterCommand[], from: ClusterState = emptyCluster): ClusterState {
  return commands.reduce((state, command) => {
    const step = stepCluster(state, command, 7);
    if (!step.ok) throw new Error(step.message);
    return step.state;
  }, from);
}

const small = run([
  { kind: "node.join", node: { id: "n1", address: "127.0.0.1:9090", dataAddress: "127.0.0.1:9100", peerAddress: "" } },
  { kind: "pool.create", id: "fast", class: "ssd", durability: { kind: "ec", data: 4, parity: 2 } },
  { kind: "device.add", device: { id: "d1", node: "n1", pool: "fast", class: "ssd", capacityBytes: 100 } },
  { kind: "shards.init", nodes: 1 },
]);

describe("cluster state", () => {
  test("it is a JSON value: a snapshot restores it", () => {
    expect(JSON.parse(JSON.stringify(small))).toEqual(small);
  });
  test("a refused command leaves the state as it was", () => {
    const refused: ClusterCommand[] = [
      { kind: "device.delete", id: "d1" },
      { kind: "device.add", device: { id: "d2", node: "n1", pool: "none", class: "ssd", capacityBytes: 1 } },
      { kind: "pool.thresholds", id: "fast", thresholds: { warning: 20 } },
      { kind: "pool.durability", id: "fast", durability: { kind: "ec", data: 2, parity: 1 }, holdsData: true },
      { kind: "tuning.set", values: { gc_interval_s: 59 } },
      { kind: "maintenance.set", enabled: true, shard: "nope" },
      { kind: "node.state", id: "n1", state: "Evicted" },
      { kind: "shard.inline", id: "shard-0", threshold: 200, automatic: false },
    ];
    const before = JSON.stringify(small);
    for (const command of refused) expect(stepCluster(small, command, 9).ok, command.kind).toBe(false);
    expect(JSON.stringify(small)).toBe(before);
  });
  test("a device leaves the record only from Removed, and the refusal names its state", () => {
    expect(stepCluster(small, { kind: "device.delete", id: "d1" }, 1)).toMatchObject({
      error: "DeviceNotEvacuated",
      details: { state: "Healthy" },
    });
    const removed = run(
      [
        { kind: "device.event", id: "d1", event: { kind: "lost", reason: "gone" } },
        { kind: "device.event", id: "d1", event: { kind: "remove", references: 0 } },
        { kind: "device.delete", id: "d1" },
      ],
      small,
    );
    expect(removed.devices).toEqual({});
  });
  test("cluster-wide maintenance off leaves shards that were set singly", () => {
    const state = run(
      [
        { kind: "maintenance.set", enabled: true, shard: "shard-1" },
        { kind: "maintenance.set", enabled: true },
        { kind: "maintenance.set", enabled: false },
      ],
      small,
    );
    expect(["shard-0", "shard-1"].map((s) => isReadOnly(state, s))).toEqual([false, true]);
  });
  test("maintenance is idempotent", () => {
    const on = run([{ kind: "maintenance.set", enabled: true }], small);
    expect(stepCluster(on, { kind: "maintenance.set", enabled: true }, 1)).toMatchObject({ ok: true, changed: false });
  });
  test("automatic inline changes only lower; the admin raises", () => {
    const lowered = run([{ kind: "shard.inline", id: "shard-0", threshold: 128, automatic: true }], small);
    expect(lowered.shards[0]?.inlineThreshold).toBe(128);
    expect(stepCluster(lowered, { kind: "shard.inline", id: "shard-0", threshold: 4096, automatic: true }, 1)).toMatchObject({
      changed: false,
    });
    expect(
      run([{ kind: "shard.inline", id: "shard-0", threshold: 4096, automatic: false }], lowered).shards[0]?.inlineThreshold,
    ).toBe(4096);
  });
  test("a split keeps the map whole, names a new shard and makes old handles stale", () => {
    const split = run([{ kind: "shard.split", id: "shard-0" }], small);
    expect(split.shards.map((s) => s.id)).toEqual(["shard-0", "shard-3", "shard-1", "shard-2"]);
    expect(split.shards[0]?.to).toBe(split.shards[1]?.from);
    expect(split.shards[0]?.generation).toBe(2);
  });
  test("key epochs only grow", () => {
    const rotated = run([{ kind: "key.rotate", epoch: 3 }], small);
    expect(run([{ kind: "key.rotate", epoch: 2 }], rotated).keyEpoch).toBe(3);
  });
});
