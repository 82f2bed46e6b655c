import { setTimeout as wait } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { chunkPage } from "../../src/storage/jobs/chunk-pages.ts";
import { collectGarbage } from "../../src/storage/jobs/collect-garbage.ts";
import { deleteObject } from "../../src/storage/objects/delete-object.ts";
import { objectId } from "../../src/storage/objects/object-id.ts";
import type { ChunkDoc, ObjectDoc } from "../../src/storage/schema.ts";
import { openCluster } from "./cluster-rig.ts";
import { flipExtent, removeExtent } from "./damage-extent.ts";
import { operator, pattern } from "./rig.ts";

/** The last joins when it is asked to. */
const ids = ["n1", "n2", "n3", "n4"] as const;
const fourth = "n4";
type Id = (typeof ids)[number];
const node = fc.constantFrom(...ids);

/** What may happen to three nodes, and to a fourth. Sizes straddle the inline threshold; seeds repeat, so that content is shared. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("put"),
      at: node,
      key: fc.nat(5),
      size: fc.constantFrom(10, 4096, 4097, 30_000),
      seed: fc.nat(3),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("get"), at: node, key: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete"), at: node, key: fc.nat(5) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("flip", "erase"), device: fc.nat(1), on: node, at: node, which: fc.nat(20) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("stop", "cut", "return"), at: node }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("rounds", "scrub", "gc"), at: node }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("evacuate"), device: fc.nat(1), on: node, at: node }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "add device",
        "add device",
        "retire device",
        "make pool",
        "retire pool",
        "rebalance",
        "drain",
        "keep",
        "join",
        "evict",
      ),
      device: fc.nat(2),
      on: node,
      at: node,
    }),
  },
);
type Step = { do: string; at: Id; on?: Id; key?: number; size?: number; seed?: number; device?: number; which?: number };

/** How a cluster that may not grow or shrink as asked says so: nothing changed. */
const growthRefusals = [
  ...["AlreadyExists", "NotFound", "EvacuationRefused", "DeviceTransitionRefused", "DeviceNotEvacuated", "PoolNotEmpty"],
  // A node that drains takes no devices.
  "InvalidSetting",
];

/** What a call may answer while a node is away: it changed nothing and may be tried again. */
const retriable = ["ShardUnavailable", "QuorumLost", "PoolFull"];

const grows = ["add device", "retire device", "make pool", "retire pool", "rebalance", "drain", "keep", "join", "evict"];
const hours = 3_600_000;

/** The nodes, who of them is away, and which copies have been damaged behind their backs. */
async function openHistory() {
  const rig = await openCluster(
    ids.filter((id) => id !== fourth),
    { plaintext: true },
  );
  /** Who was evicted never comes back. */
  const members = new Set<Id>(ids.filter((id) => id !== fourth));
  let joined = false;
  const stopped = new Set<Id>();
  const cut = new Set<Id>();
  const damaged = new Set<string>();
  /** Nodes that were away once: others may take a moment to find them again. */
  const wereAway = new Set<string>();
  const nodeOf = (device: string): string => device.slice(0, 2);
  const intact = async (fragment: ChunkDoc["fragments"][number]): Promise<boolean> => {
    if (fragment === null) return false;
    const there = (await rig.extents(fragment.device)).some(({ name }) => name === fragment.extent);
    return there && !damaged.has(fragment.extent);
  };
  return {
    rig,
    damaged,
    members: () => [...members],
    running: () => [...members].filter((id) => !stopped.has(id)),
    reached: (id: Id) => !stopped.has(id) && !cut.has(id),
    async away(id: Id, how: "stop" | "cut") {
      // One at a time: with two of three away there is no quorum, which other tests judge.
      if (stopped.size + cut.size > 0 || !members.has(id)) return;
      wereAway.add(id);
      if (how === "stop") stopped.add(id);
      else cut.add(id);
      await (how === "stop" ? rig.stop(id) : rig.cut(id));
    },
    async back(id: Id) {
      if (stopped.delete(id)) await rig.start(id);
      if (cut.delete(id)) await rig.mend(id);
    },
    /** Grows or shrinks the cluster, asked of a node. */
    async grow(what: string, at: Id, on: Id, device: string): Promise<void> {
      const node = rig.node(at);
      const own = `${on}-new`;
      if (what === "add device")
        await node.addDevice(on, { id: own, pool: "fast", directory: rig.directoryOf(own), capacityBytes: 64 << 20 }, operator);
      else if (what === "retire device") {
        if (node.cluster.state.devices[device]?.state !== "Removed") await node.evacuate(device, operator);
        await node.jobs.drain();
        await node.removeDevice(device, operator);
      } else if (what === "make pool") await node.cluster.propose({ kind: "pool.create", id: "more", class: "ssd" }, operator);
      else if (what === "retire pool") await node.removePool("more", operator);
      else if (what === "rebalance") await node.rebalance("fast", operator);
      else if (what === "drain") await node.drainNode(on, operator);
      else if (what === "join") {
        if (joined) return;
        joined = true;
        await rig.start(fourth);
        members.add(fourth);
        await rig.rounds(2);
      } else if (what === "evict") {
        await node.drainNode(on, operator);
        for (const { jobs } of this.running().map(rig.node)) await jobs.drain();
        // Its voters move, a shard's not more often than every few hours.
        for (let i = 0; i < 10 && node.cluster.state.shards.some(({ voters }) => voters.includes(on)); i++) {
          rig.clock.advance(3 * hours);
          await rig.rounds(2);
        }
        await node.evictNode(on, operator);
        members.delete(on);
        await rig.stop(on);
        for (const { doc } of (await chunkPage(rig.store, undefined, 1000)).chunks)
          expect(doc.fragments.map((fragment) => fragment && nodeOf(fragment.device))).not.toContain(on);
      } else await node.cancelDrain(on, operator);
    },
    /** The nodes that hold an intact copy of every chunk of an object that has the fewest; `undefined`: inline, always there. */
    async holders(key: string): Promise<readonly string[] | undefined> {
      const object = (await rig.store.get("storage_objects", objectId("docs", key)))?.doc as ObjectDoc | undefined;
      if (object?.body.kind !== "chunks") return undefined;
      let fewest: readonly string[] | undefined;
      for (const { id } of object.body.chunks) {
        const chunk = (await rig.store.get("storage_chunks", id))?.doc as ChunkDoc;
        const held: string[] = [];
        for (const f of chunk.fragments) if (f !== null && (await intact(f))) held.push(nodeOf(f.device));
        if (fewest === undefined || held.length < fewest.length) fewest = held;
      }
      return fewest;
    },
    /** True when `reader` must get the bytes: a copy lies with it or with a node that was never away. */
    must: (reader: Id, holders: readonly string[] | undefined) =>
      holders === undefined || holders.some((h) => h === reader || !wereAway.has(h)),
  };
}

async function attempt<T>(work: Promise<T>): Promise<{ readonly value: T } | { readonly code: string }> {
  return work.then(
    (value) => ({ value }),
    (error: { code?: string }) => ({ code: error.code ?? String(error) }),
  );
}

test("three nodes and a fourth, whatever happens: what was acknowledged reads back bit-equal through every node or fails clearly, never other bytes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
      const h = await openHistory();
      const { rig } = h;
      const model = new Map<string, Buffer>();
      const check = async (at: Id, key: string) => {
        const expected = model.get(key);
        const holders = expected === undefined ? undefined : await h.holders(key);
        const outcome = await attempt(rig.get(at, key));
        if (expected === undefined) expect(outcome).toEqual({ code: "NotFound" });
        else if ("value" in outcome) expect(outcome.value.equals(expected)).toBe(true);
        else {
          expect(h.must(at, holders), `${key} through ${at}: ${outcome.code}, held by ${holders}`).toBe(false);
          // Only what is known to be gone is lost.
          expect(outcome.code).toBe(holders?.length === 0 && outcome.code === "ChunkLost" ? "ChunkLost" : "ShardUnavailable");
        }
      };
      try {
        for (const s of steps as Step[]) {
          const at = h.running().includes(s.at) ? s.at : (h.running()[0] as Id);
          const key = `k${s.key}`;
          const device = s.device === 2 ? `${s.on}-new` : `${s.on}-d${s.device}`;
          if (s.do === "put") {
            const bytes = Buffer.from(pattern(s.size ?? 0, (s.seed ?? 0) + 1));
            const outcome = await attempt(rig.put(at, key, bytes));
            if ("value" in outcome) {
              model.set(key, bytes);
              // Acknowledged means: on two nodes, so that either may go.
              const holders = h.damaged.size === 0 ? await h.holders(key) : undefined;
              if (holders !== undefined) expect(new Set(holders).size).toBeGreaterThan(1);
            } else expect(retriable).toContain(outcome.code);
          } else if (s.do === "get") await check(at, key);
          else if (s.do === "delete") {
            const outcome = await attempt(deleteObject(rig.node(at).objects, "alpha", "docs", key));
            if ("value" in outcome) model.delete(key);
            else expect(retriable).toContain(outcome.code);
          } else if (s.do === "flip" || s.do === "erase") {
            if (!h.members().includes(s.on ?? at)) continue;
            const whole = (await rig.extents(device)).filter(({ name }) => !h.damaged.has(name));
            const extent = whole[(s.which ?? 0) % Math.max(1, whole.length)];
            if (extent === undefined) continue;
            h.damaged.add(extent.name);
            await (s.do === "flip" ? flipExtent(extent) : removeExtent(extent));
          } else if (s.do === "stop" || s.do === "cut") await h.away(s.at, s.do);
          else if (s.do === "return") await h.back(s.at);
          else if (s.do === "rounds") {
            rig.clock.advance(5000);
            await rig.rounds(2);
          } else if (grows.includes(s.do)) {
            const outcome = await attempt(h.grow(s.do, at, s.on ?? at, device));
            if ("code" in outcome) expect([...growthRefusals, ...retriable]).toContain(outcome.code);
            for (const { jobs } of h.running().map(rig.node)) await jobs.drain();
          } else if (s.do === "gc") await attempt(collectGarbage(rig.node(at).parts));
          else {
            await attempt(
              s.do === "scrub" ? rig.node(at).scrub({ kind: "cluster" }, operator) : rig.node(at).evacuate(device, operator),
            );
            await rig.node(at).jobs.drain();
          }
        }
        if (h.damaged.size === 0)
          for (const key of model.keys()) {
            const holders = await h.holders(key);
            if (holders !== undefined) expect(new Set(holders).size, `nodes of ${key}`).toBeGreaterThan(1);
          }
        for (const at of h.running()) for (const key of [0, 1, 2, 3, 4, 5]) await check(at, `k${key}`);
        // With everybody back, what has an intact copy anywhere reads through every node.
        for (const id of h.members()) await h.back(id);
        await rig.rounds(3);
        for (const [key, bytes] of model) {
          const holders = await h.holders(key);
          if (holders?.length === 0) continue;
          for (const at of h.members()) {
            let outcome = await attempt(rig.get(at, key));
            // A channel looks for its node again within two seconds.
            for (let tries = 0; "code" in outcome && outcome.code === "ShardUnavailable" && tries < 60; tries++) {
              await wait(50);
              outcome = await attempt(rig.get(at, key));
            }
            expect("value" in outcome ? outcome.value.equals(bytes) : outcome.code, `${key} through ${at}`).toBe(true);
          }
        }
      } finally {
        await rig.dispose();
      }
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 5) },
  );
});

test("a fourth node takes the place of one that is evicted, and everything reads through those that are left", async () => {
  const h = await openHistory();
  const { rig } = h;
  try {
    const bytes = Buffer.from(pattern(30_000, 5));
    await rig.put("n1", "k0", bytes);
    expect((await attempt(h.grow("evict", "n2", "n1", ""))).valueOf()).toEqual({ code: "EvacuationRefused" });
    await h.grow("join", "n2", "n2", "");
    await h.grow("evict", "n2", "n1", "");
    expect(h.members()).toEqual(["n2", "n3", "n4"]);
    for (const at of h.members()) expect((await rig.get(at, "k0")).equals(bytes)).toBe(true);
    await rig.put("n4", "k1", bytes);
    expect((await rig.get("n2", "k1")).equals(bytes)).toBe(true);
  } finally {
    await rig.dispose();
  }
});
