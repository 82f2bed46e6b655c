import type { JsonObject } from "@seneschal/core";
import { isUuid } from "@seneschal/core/keys";
import { emergencies } from "../emergency/collections.ts";
import type { Reader } from "../store/reader.ts";
import { workspaces } from "../workspaces/collections.ts";

/** What a signature covers beyond the request's own fields: facts that the server knows and a signer must have seen. */
type Cover = (read: Reader, resourceId: string, org: string) => Promise<JsonObject>;

const nothing: Cover = async () => ({});

/** The revision: a signature for one state of a workspace is worthless on the next. */
const revision: Cover = async (read, id) => {
  const workspace = isUuid(id) ? await read.get(workspaces, id) : undefined;
  return workspace === undefined ? {} : { revision: workspace.revision };
};

/** Why and when emergency access was asked for. */
const emergencyRequest: Cover = async (read, id, org) => {
  const access = isUuid(id) ? await read.get(emergencies, id) : undefined;
  return access?.org_id === org ? { reason: access.reason, requested_at: access.requested_at } : {};
};

/** By operation; those that are missing cover the request's fields only. A resource with signed operations adds its lines. */
const covers: Readonly<Record<string, Cover>> = {
  "workspace.update": revision,
  "workspace.archive": revision,
  "workspace.delete": revision,
  "workspace.rotate-dek": revision,
  "workspace.export": revision,
  "emergency.verify": emergencyRequest,
};

/** The facts that are signed together with the body of an operation on a resource. */
export function coveredState(read: Reader, operation: string, resourceId: string, org: string): Promise<JsonObject> {
  const cover = Object.hasOwn(covers, operation) ? covers[operation] : undefined;
  return (cover ?? nothing)(read, resourceId, org);
}
