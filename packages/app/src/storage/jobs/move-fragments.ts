import {
  type DevicesSeen,
  devicesToEmpty,
  evacuateDevice,
  freeBytes,
  keepDevices,
  misplacedOn,
  nodeShare,
  takesWrites,
} from "@seneschal/core/storage";
import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { JobContext } from "../../platform/index.ts";
import { fragmentLength } from "../bytes/stripes.ts";
import { nodeActor } from "../context.ts";
import { deviceFill } from "../data/devices.ts";
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
async function clearDevices(
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

/** Evacuates all devices of a node that drains, in one pass over the chunks. What cannot be moved stays where it is, and the job fails. */
export async function runDrain(parts: MaintenanceParts, job: JobContext): Promise<JsonObject> {
  const { cluster } = parts;
  const node = job.params["node"] as string;
  const actor = { id: job.job.created_by, source: "job" };
  const why = { trigger: "operator", reason: `node ${node} drains` } as const;
  for (const { id, state } of devicesToEmpty(cluster.state, node))
    if (state !== "Evacuating") await cluster.propose(evacuateDevice(cluster.state, id, why, devicesSeen(parts)), actor);
  const devices = devicesToEmpty(cluster.state, node).map((d) => d.id);
  const { moved, bytes, left } = await clearDevices(parts, job, new Set(devices));
  if (left > 0) {
    for (const command of keepDevices(cluster.state, node)) await cluster.propose(command, nodeActor);
    parts.context.emit("error", "node", `node ${node} does not drain: ${left} chunks have nowhere to go`, { node, left });
    throw new CodedError("EvacuationRefused", `${left} chunks could not be moved off node ${node}`);
  }
  return { node, devices, moved, bytes };
}

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
