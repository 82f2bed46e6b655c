import { devicesToEmpty, evacuateDevice, keepDevices } from "@seneschal/core/storage";
import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { JobContext } from "../../platform/index.ts";
import { nodeActor } from "../context.ts";
import { clearDevices, devicesSeen } from "./evacuate.ts";
import type { MaintenanceParts } from "./parts.ts";

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
