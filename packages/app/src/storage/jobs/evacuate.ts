import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { JobContext } from "../../platform/index.ts";
import { nodeActor } from "../context.ts";
import { chunkPage, countReferences } from "./chunk-pages.ts";
import type { MaintenanceParts } from "./parts.ts";

/**
 * Moves every fragment off a device: each is read and verified (or rebuilt), written elsewhere, committed, and only then
 * dropped. Scans again until a pass finds nothing, since writes may have been in flight. Ends the device as Removed, or
 * as Failed when some fragment has nowhere to go. Repeatable: a second run finds less to do.
 */
export async function runEvacuation(parts: MaintenanceParts, job: JobContext): Promise<JsonObject> {
  const { context, cluster, repair, throttle } = parts;
  const device = job.params["device"] as string;
  const evacuating = () => cluster.state.devices[device]?.state === "Evacuating";
  const saved = job.checkpoint as { readonly moved: number; readonly bytes: number } | null;
  let moved = saved?.moved ?? 0;
  let bytes = saved?.bytes ?? 0;
  const total = moved + (await countReferences(context.store, device));
  await job.progress(Math.min(0.99, moved / Math.max(total, 1)), { moved, total, bytes, done: moved });

  for (let pass = 0; ; pass++) {
    let failed = 0;
    let found = 0;
    let cursor: string | undefined;
    do {
      const page = await chunkPage(context.store, cursor);
      for (const { id, doc } of page.chunks) {
        if (!doc.fragments.some((f) => f?.device === device)) continue;
        if (!evacuating()) throw new CodedError("job_cancelled", "the device is no longer evacuating");
        job.signal.throwIfAborted();
        found += 1;
        const outcome = await repair.move(id, (d) => d === device);
        bytes += outcome.written;
        if (outcome.repair === "repaired") moved += 1;
        else if (outcome.verdict !== "Gone") failed += 1;
        await throttle(outcome.written, job.signal);
      }
      cursor = page.cursor;
      if (found > 0) await job.progress(Math.min(0.99, moved / Math.max(total, 1)), { moved, total, bytes, done: moved });
    } while (cursor !== undefined);
    if (found === 0) break;
    // Everything that was left failed: another pass would do no better.
    if (failed === found && pass > 0) {
      await cluster.propose(
        { kind: "device.event", id: device, event: { kind: "fail", reason: `${failed} chunks have nowhere to go` } },
        nodeActor,
      );
      context.emit("error", "device", "evacuation failed", { device, left: failed });
      throw new CodedError("EvacuationRefused", `${failed} chunks could not be moved off device ${device}`);
    }
  }
  const references = await countReferences(context.store, device);
  await cluster.propose({ kind: "device.event", id: device, event: { kind: "complete", references } }, nodeActor);
  return { device, moved, bytes };
}
