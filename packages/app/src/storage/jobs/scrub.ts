import {
  countVerdict,
  distrustCorrupt,
  emptyScrubReport,
  inScope,
  orphanStep,
  type ScrubReport,
  scopeKey,
  scopeOf,
  scrubbedDevices,
  scrubSeverity,
} from "@seneschal/core/storage";
import type { JsonObject } from "@seneschal/kernel";
import type { JobContext } from "../../platform/index.ts";
import { commit, nodeActor } from "../context.ts";
import type { ChunkDoc } from "../schema.ts";
import { chunkPage } from "./chunk-pages.ts";
import type { MaintenanceParts } from "./parts.ts";

/**
 * Reads and checksums every fragment in scope, rebuilds what parity allows, reports the rest; then compares what the
 * devices hold with the placement records. Resumes at the chunk page it had reached.
 */
export async function runScrub(parts: MaintenanceParts, job: JobContext): Promise<JsonObject> {
  const { context, cluster, repair, devices } = parts;
  const scope = scopeOf(job.params);
  const trigger = job.params["trigger"] === "under_replication" ? "under_replication" : "scrub";
  const total = await context.store.count("storage_chunks", "by_id", []);
  const saved = job.checkpoint as {
    readonly cursor?: string;
    readonly done: number;
    readonly report: ScrubReport;
    readonly corrupt?: Record<string, number>;
  } | null;
  let report = saved?.report ?? emptyScrubReport;
  let cursor = saved?.cursor;
  let done = saved?.done ?? 0;
  /** Fragments by device that are there and not what was written. */
  const corrupt: Record<string, number> = { ...saved?.corrupt };
  if (saved === null) context.emit("info", "device", `scrub started: ${scopeKey(scope)}`, { job: job.job.id });

  let first = saved === null;
  while (first || cursor !== undefined) {
    first = false;
    const page = await chunkPage(context.store, cursor);
    const wanted = page.chunks.filter(({ doc }) =>
      inScope(scope, { pool: doc.pool, devices: doc.fragments.flatMap((f) => (f === null ? [] : [f.device])) }),
    );
    await Promise.all(
      wanted.map(async ({ id }) => {
        const outcome = await repair.check(id, { trigger, repair: true, impatient: true });
        if (outcome.verdict === "Gone") return;
        report = countVerdict(report, outcome.verdict, outcome.repair);
        context.metrics.scrubChunks.inc({ verdict: outcome.verdict });
        for (const device of outcome.corrupt ?? []) corrupt[device] = (corrupt[device] ?? 0) + 1;
        if (outcome.verdict !== "Lost") return;
        // A loss is told at once, the rest of them with the end: a broken device must not fill the event log.
        if (report.lost === 1)
          context.emit("critical", "device", "scrub: a chunk lost more fragments than parity covers", {
            job: job.job.id,
            chunk: id,
          });
      }),
    );
    cursor = page.cursor;
    done += page.chunks.length;
    await job.progress(Math.min(0.95, done / Math.max(total, 1)), {
      done,
      total,
      report: { ...report },
      corrupt: { ...corrupt },
      ...(cursor === undefined ? {} : { cursor }),
    });
  }

  for (const place of await parts.damage.look())
    context.emit("critical", "shard", "the metadata is damaged: nothing is written or collected until it is restored", { place });
  for (const device of scrubbedDevices(cluster.state, scope)) {
    if (devices.get(device.id) === undefined) continue;
    job.signal.throwIfAborted();
    try {
      report = { ...report, orphans: report.orphans + (await checkDevice(parts, device.id)) };
    } catch (error) {
      context.emit("error", "device", "device could not be checked", { device: device.id, error: (error as Error).message });
    }
  }
  if (scope.kind === "cluster") {
    context.metrics.scrubLastSuccess.set(context.clock.now() / 1000);
    if (job.params["periodic"] === true) await cluster.propose({ kind: "scrub.periodic", at: context.clock.now() }, nodeActor);
  }
  for (const command of distrustCorrupt(cluster.state, corrupt)) await cluster.propose(command, nodeActor);
  context.emit(scrubSeverity(report), "device", `scrub finished: ${scopeKey(scope)}`, { job: job.job.id, ...report });
  return { ...report };
}

/** The device's own records, then every extent against the placement: counts orphans, deletes those seen 24 h ago. */
async function checkDevice({ context, devices, damage }: MaintenanceParts, id: string): Promise<number> {
  const { store, clock } = context;
  const device = devices.get(id);
  if (device === undefined) return 0;
  for (const problem of await device.inspect()) context.emit("warning", "device", problem, { device: id });
  let orphans = 0;
  const sighted = new Set<string>();
  let batch: string[] = [];
  const settle = async () => {
    const chunks = await store.getMany(
      "storage_chunks",
      batch.map((extent) => extent.split(".")[0] ?? ""),
    );
    for (const [i, extent] of batch.entries()) {
      const chunk = chunks[i]?.doc as ChunkDoc | undefined;
      if (chunk?.fragments.some((f) => f?.device === id && f.extent === extent)) continue;
      orphans += 1;
      const key = `${id}/${extent}`;
      sighted.add(key);
      const seen = await store.get("storage_orphans", key);
      const step = orphanStep(seen?.doc["first_seen"] as number | undefined, damage.places.length > 0, clock.now());
      if (step === "note") {
        const doc = { device: id, extent, first_seen: clock.now() };
        await commit(store, { puts: [{ coll: "storage_orphans", id: key, doc, ifVersion: 0 }] });
      } else if (step === "delete") {
        await device.delete(extent);
        await commit(store, { dels: [{ coll: "storage_orphans", id: key }] });
      }
    }
    batch = [];
  };
  for await (const extent of device.list()) {
    batch.push(extent);
    if (batch.length >= 200) await settle();
  }
  await settle();
  // A sighting that turned out to be a write in flight, or is gone, must not age on.
  if (damage.places.length > 0) return orphans;
  const known = await store.list("storage_orphans", "by_device", [id], { limit: 1000 });
  for (const { id: key } of known.items)
    if (!sighted.has(key)) await commit(store, { dels: [{ coll: "storage_orphans", id: key }] });
  await devices.measure(id);
  return orphans;
}

/** Chunks looked at in one round. */
const roundLimit = 64;

/** Gives chunks the fragments that found no device when they were written. Tries again each round while devices are away. */
export async function repairUnderReplicated({ context, repair }: MaintenanceParts): Promise<void> {
  const page = await context.store.list("storage_chunks", "under_replicated", [], { limit: roundLimit });
  await Promise.all(page.items.map(({ id }) => repair.check(id, { trigger: "under_replication", repair: true })));
}
