import { type DevicesSeen, freeBytes, takesWrites } from "@seneschal/core/storage";
import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { JobContext } from "../../platform/index.ts";
import { nodeActor } from "../context.ts";
import { deviceFill } from "../data/device-set.ts";
import { chunkPage, countReferences } from "./chunk-pages.ts";
import type { MaintenanceParts } from "./parts.ts";

/** What this node sees of devices, for the rules that judge who may leave. */
export function devicesSeen({
  cluster,
  devices,
  objects,
}: Pick<MaintenanceParts, "cluster" | "devices" | "objects">): DevicesSeen {
  return {
    reached: (d) => takesWrites(cluster.state, d) && objects.up(d.node) && devices.get(d.id) !== undefined,
    usedBytes: (d) => devices.usedBytes(d.id),
    freeBytes: (d) => freeBytes([deviceFill(devices, d)]),
  };
}

/**
 * Moves every fragment off a device: each is read and verified (or rebuilt), written elsewhere, committed, and only then
 * dropped. Ends the device as Removed, or as Failed when some fragment has nowhere to go.
 */
export async function runEvacuation(parts: MaintenanceParts, job: JobContext): Promise<JsonObject> {
  const { context, cluster } = parts;
  const device = job.params["device"] as string;
  const { moved, bytes, left } = await clearDevices(parts, job, new Set([device]));
  if (left > 0) {
    await cluster.propose(
      { kind: "device.event", id: device, event: { kind: "fail", reason: `${left} chunks have nowhere to go` } },
      nodeActor,
    );
    context.emit("error", "device", "evacuation failed", { device, left });
    throw new CodedError("EvacuationRefused", `${left} chunks could not be moved off device ${device}`);
  }
  return { device, moved, bytes };
}

/**
 * Moves every fragment off these devices, which are Evacuating, and ends them as Removed when nothing is left on them. Scans again
 * until a pass finds nothing, since writes may have been in flight; `left`: chunks that have nowhere to go. Repeatable: a second run
 * finds less to do.
 */
export async function clearDevices(
  { context, cluster, repair, throttle }: MaintenanceParts,
  job: JobContext,
  devices: ReadonlySet<string>,
): Promise<{ readonly moved: number; readonly bytes: number; readonly left: number }> {
  const evacuating = () => [...devices].every((id) => cluster.state.devices[id]?.state === "Evacuating");
  const references = async (): Promise<readonly number[]> =>
    Promise.all([...devices].map((id) => countReferences(context.store, id)));
  const saved = job.checkpoint as { readonly moved: number; readonly bytes: number } | null;
  let moved = saved?.moved ?? 0;
  let bytes = saved?.bytes ?? 0;
  const total = (await references()).reduce((sum, n) => sum + n, moved);
  const note = () => job.progress(Math.min(0.99, moved / Math.max(total, 1)), { moved, total, bytes, done: moved });
  await note();

  for (let pass = 0; ; pass++) {
    let failed = 0;
    let found = 0;
    let cursor: string | undefined;
    do {
      const page = await chunkPage(context.store, cursor);
      for (const { id, doc } of page.chunks) {
        if (!doc.fragments.some((f) => f !== null && devices.has(f.device))) continue;
        if (!evacuating()) throw new CodedError("job_cancelled", "the device is no longer evacuating");
        job.signal.throwIfAborted();
        found += 1;
        const outcome = await repair.move(id, (device) => devices.has(device));
        bytes += outcome.written;
        if (outcome.repair === "repaired") moved += 1;
        else if (outcome.verdict !== "Gone") failed += 1;
        await throttle(outcome.written, job.signal);
      }
      cursor = page.cursor;
      if (found > 0) await note();
    } while (cursor !== undefined);
    if (found === 0) break;
    // Everything that was left failed: another pass would do no better.
    if (failed === found && pass > 0) return { moved, bytes, left: failed };
  }
  const counts = await references();
  for (const [i, id] of [...devices].entries())
    await cluster.propose({ kind: "device.event", id, event: { kind: "complete", references: counts[i] ?? 0 } }, nodeActor);
  return { moved, bytes, left: 0 };
}
