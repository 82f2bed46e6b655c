import { misplacedOn, nodeShare } from "@seneschal/core/storage";
import type { JsonObject } from "@seneschal/kernel";
import type { JobContext } from "../../platform/index.ts";
import { fragmentLength } from "../bytes/stripes.ts";
import { chunkPage } from "./chunk-pages.ts";
import type { MaintenanceParts } from "./parts.ts";

/** Moves fragments of a pool to the devices that placement prefers today, for example after a device was added. */
export async function runRebalance(
  { context, cluster, io, repair, throttle }: MaintenanceParts,
  job: JobContext,
): Promise<JsonObject> {
  const pool = job.params["pool"] as string;
  const total = await context.store.count("storage_chunks", "by_pool", [pool]);
  const saved = job.checkpoint as {
    readonly cursor?: string;
    readonly done: number;
    readonly moved: number;
    readonly bytes: number;
  } | null;
  let { done, moved, bytes } = saved ?? { done: 0, moved: 0, bytes: 0 };
  let cursor = saved?.cursor;
  let first = saved === null;
  while (first || cursor !== undefined) {
    first = false;
    const page = await chunkPage(context.store, cursor);
    for (const { id, doc } of page.chunks) {
      if (doc.pool !== pool) continue;
      done += 1;
      const held = doc.fragments.flatMap((f) => (f === null ? [] : [f.device]));
      const share = nodeShare(cluster.state, { id: pool }, doc.fragments.length);
      const able = io.candidates(pool, fragmentLength(doc.sealed, doc.data));
      const misplaced = misplacedOn(id, held, able, doc.fragments.length, share);
      if (misplaced === undefined) continue;
      const outcome = await repair.move(id, (device) => misplaced.has(device));
      if (outcome.repair === "repaired") moved += 1;
      bytes += outcome.written;
      await throttle(outcome.written, job.signal);
    }
    cursor = page.cursor;
    await job.progress(done / Math.max(total, 1), { done, total, moved, bytes, ...(cursor === undefined ? {} : { cursor }) });
  }
  return { pool, moved, bytes };
}
