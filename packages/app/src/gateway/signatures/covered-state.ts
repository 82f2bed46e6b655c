import type { JsonObject } from "@seneschal/core";
import { isUuid } from "@seneschal/core/keys";
import { backups } from "../backups/collections.ts";
import { emergencies } from "../emergency/collections.ts";
import { findFederation } from "../federation/find.ts";
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

/** The certificate that a renewal replaces: the signature is worthless for the next one. */
const currentSerial: Cover = async (read, partner, org) => {
  const federation = await findFederation(read, partner, org);
  return federation === undefined ? {} : { serial_number: federation.serial_number };
};

/** What is restored. */
const backupChecksum: Cover = async (read, id, org) => {
  const backup = isUuid(id) ? await read.get(backups, id) : undefined;
  return backup?.org_id === org ? { checksum: backup.checksum } : {};
};

/** By operation; those that are missing cover the request's fields only. A resource with signed operations adds its lines. */
const covers: Readonly<Record<string, Cover>> = {
  "workspace.update": revision,
  "workspace.archive": revision,
  "workspace.delete": revision,
  "workspace.rotate-dek": revision,
  "workspace.export": revision,
  "emergency.verify": emergencyRequest,
  "backup.restore": backupChecksum,
  "federation.renew-cert": currentSerial,
};

/** The facts that are signed together with the body of an operation on a resource. */
export function coveredState(read: Reader, operation: string, resourceId: string, org: string): Promise<JsonObject> {
  const cover = Object.hasOwn(covers, operation) ? covers[operation] : undefined;
  return (cover ?? nothing)(read, resourceId, org);
}
