import { randomUUID } from "node:crypto";
import {
  createRing,
  durabilityName,
  nodeShare,
  planRebuild,
  type RepairRecord,
  type ScrubVerdict,
  scrubVerdict,
} from "@seneschal/core/storage";
import { codeOf, fragmentLength } from "../bytes/stripes.ts";
import type { ClusterControl } from "../cluster/cluster-control.ts";
import { commit, type StorageContext } from "../context.ts";
import type { ChunkDoc, FragmentRecord } from "../schema.ts";
import { type FragmentIo, nameOf } from "./fragment-io.ts";
import { createKeyedLock } from "./keyed-lock.ts";

type RepairTrigger = RepairRecord["trigger"];

/** What a look at one chunk found, and what was done about it. */
interface ChunkOutcome {
  readonly verdict: ScrubVerdict | "Gone";
  readonly repair?: "repaired" | "failed";
  /** Devices that gave back other bytes than they took. */
  readonly corrupt?: readonly string[];
  /** Fragment bytes written. */
  readonly written: number;
}

export interface ChunkRepair {
  /** Reads and verifies every fragment of a chunk; with `repair`, rebuilds bad ones onto other devices and reads them back. */
  check(
    chunkId: string,
    options: {
      readonly trigger: RepairTrigger;
      readonly repair: boolean;
      /** Also rebuilds what merely does not answer, and would be as it was when it comes back. */
      readonly impatient?: boolean;
    },
  ): Promise<ChunkOutcome>;
  /** Moves fragments away from devices, rebuilding what cannot be read. */
  move(chunkId: string, leaving: (device: string) => boolean): Promise<ChunkOutcome>;
  /** Chunks being rebuilt now. */
  active(): number;
  /** Repairs that were made or failed, newest last. */
  records(): readonly RepairRecord[];
}

export function createChunkRepair(
  context: StorageContext,
  cluster: ClusterControl,
  io: FragmentIo,
  up: (node: string) => boolean,
): ChunkRepair {
  const { store, clock, metrics } = context;
  const ring = createRing<RepairRecord>(4096);
  const locked = createKeyedLock();
  const limited = createSemaphore(() => cluster.state.tuning.max_concurrent_repairs);
  let rebuilding = 0;

  /** Fragments that live where nothing may stay count as not good. */
  const condemned = (fragment: FragmentRecord | null) => {
    const state = fragment === null ? undefined : cluster.state.devices[fragment.device]?.state;
    return state === undefined || state === "Failed" || state === "Removed";
  };

  const once = async (
    chunkId: string,
    leaving: (device: string) => boolean,
    repair: boolean,
    impatient: boolean,
  ): Promise<ChunkOutcome | "again"> => {
    const found = await store.get("storage_chunks", chunkId);
    if (found === undefined) return { verdict: "Gone", written: 0 };
    const { lost_at, ...chunk } = found.doc as ChunkDoc;
    const length = fragmentLength(chunk.sealed, chunk.data);
    const stripe = { data: chunk.data, parity: chunk.parity };
    const results = await Promise.all(chunk.fragments.map((f) => io.readOne(f, length)));
    const good = results.map((r, i) => r.state === "good" && !condemned(chunk.fragments[i] ?? null));
    const corrupt = results.flatMap((r, i) => (r.state === "corrupt" ? [chunk.fragments[i]?.device ?? ""] : []));
    const readable = results.filter((r) => r.state === "good").length;
    const verdict = readable < chunk.data ? "Lost" : scrubVerdict(stripe, Math.max(chunk.data, good.filter(Boolean).length));
    if (verdict === "Lost") {
      // A record that moved while we read it is no loss.
      const again = await store.get("storage_chunks", chunkId);
      if (again?.version !== found.version) return "again";
      // What is silent may come back: lost is what is known to be gone.
      const gone = results.filter((r) => r.state === "missing" || r.state === "corrupt").length;
      if (lost_at === undefined && results.length - gone < chunk.data) {
        const doc = { ...chunk, lost_at: clock.now() };
        await commit(store, { puts: [{ coll: "storage_chunks", id: chunkId, doc, ifVersion: found.version }] });
      }
      return { verdict, corrupt, written: 0, ...(repair ? { repair: "failed" } : {}) };
    }
    if (lost_at !== undefined) {
      await commit(store, { puts: [{ coll: "storage_chunks", id: chunkId, doc: chunk, ifVersion: found.version }] });
      return "again";
    }
    const waits = (i: number) => !impatient && results[i]?.state === "unreachable" && !condemned(chunk.fragments[i] ?? null);
    const moving = chunk.fragments.flatMap((f, i) => ((!good[i] && !waits(i)) || (f !== null && leaving(f.device)) ? [i] : []));
    if (moving.length === 0 || !repair) return { verdict, corrupt, written: 0 };

    const places = chunk.fragments.map((f, index) => ({
      index,
      device: f?.device ?? `none-${index}`,
      node: f === null ? "" : (cluster.state.devices[f.device]?.node ?? ""),
    }));
    const able = io.candidates(chunk.pool, length).filter((c) => !leaving(c.id));
    const share = nodeShare(cluster.state, { id: chunk.pool }, chunk.fragments.length, impatient ? up : undefined);
    // As many as the devices allow: a chunk with some redundancy back is better than none.
    let plan: ReturnType<typeof planRebuild>;
    for (let n = moving.length; n > 0 && plan === undefined; n--)
      plan = planRebuild(chunkId, places, new Set(moving.slice(0, n)), able, share);
    if (plan === undefined) return { verdict, corrupt, repair: "failed", written: 0 };

    const present = results.map((r) => r.bytes);
    const unread = plan.map((p) => p.index).filter((i) => present[i] === undefined);
    if (unread.length > 0) {
      const timer = metrics.ecDecode.startTimer({ strategy: durabilityName(nameOf(stripe)) });
      const rebuilt = codeOf(stripe).rebuild(present, unread);
      timer();
      unread.forEach((index, i) => {
        present[index] = rebuilt[i];
      });
    }
    const fragments = [...chunk.fragments];
    const written: FragmentRecord[] = [];
    let sent = false;
    rebuilding += 1;
    try {
      for (const { index, target } of plan) {
        const bytes = present[index] as Uint8Array;
        const record = await io.writeOne(chunkId, index, target, bytes);
        written.push(record);
        const back = await io.readOne(record, length);
        if (back.bytes === undefined || Buffer.compare(back.bytes, bytes) !== 0)
          throw new Error(`device ${target} did not keep what it took`);
        fragments[index] = record;
      }
      const doc: ChunkDoc = { ...chunk, fragments };
      sent = true;
      const result = await commit(store, { puts: [{ coll: "storage_chunks", id: chunkId, doc, ifVersion: found.version }] });
      if (!result.ok) {
        await Promise.all(written.map(io.drop));
        return "again";
      }
    } catch {
      // INVARIANT: what may be the chunk now is not dropped. The scrub collects it when it is not.
      if (!sent) await Promise.all(written.map(io.drop));
      return { verdict, corrupt, repair: "failed", written: 0 };
    } finally {
      rebuilding -= 1;
    }
    // Only now, with the new placement committed, may the old copies go.
    await Promise.all(plan.map(({ index }) => io.drop(chunk.fragments[index] ?? null)));
    return { verdict, corrupt, repair: plan.length === moving.length ? "repaired" : "failed", written: plan.length * length };
  };

  const work = (
    chunkId: string,
    leaving: (device: string) => boolean,
    repair: boolean,
    impatient = false,
  ): Promise<ChunkOutcome> =>
    limited(() =>
      locked(chunkId, async () => {
        for (let attempt = 0; attempt < 20; attempt++) {
          const outcome = await once(chunkId, leaving, repair, impatient);
          if (outcome !== "again") return outcome;
        }
        return { verdict: "Healthy", repair: "failed", written: 0 };
      }),
    );

  return {
    active: () => rebuilding,
    records: () => ring.items(),
    move: (chunkId, leaving) => work(chunkId, leaving, true),
    async check(chunkId, { trigger, repair, impatient }) {
      const started = clock.now();
      const outcome = await work(chunkId, () => false, repair, impatient);
      if (outcome.repair !== undefined) {
        metrics.repairs.inc({ trigger, outcome: outcome.repair });
        ring.push({
          repair_id: randomUUID(),
          chunk_id: chunkId,
          trigger,
          state: outcome.repair === "repaired" ? "succeeded" : "failed",
          started_at: new Date(started).toISOString(),
          finished_at: new Date(clock.now()).toISOString(),
          detail: `${outcome.verdict}, ${outcome.written} bytes written`,
        });
      }
      return outcome;
    },
  };
}

/** Lets at most `limit()` pieces of work run at a time; the limit may change while work waits. */
function createSemaphore(limit: () => number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    while (running >= limit()) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}
