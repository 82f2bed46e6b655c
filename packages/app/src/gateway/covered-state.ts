import { isUuid } from "@seneschal/core/keys";
import type { JsonObject } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import type { CoveredState, Reader } from "./ground/index.ts";
import { backups } from "./oversight/index.ts";
import { findFederation, replicaId, replicas } from "./partners/index.ts";
import { emergencies } from "./people/index.ts";
import { policies, replicatedWorkspace, stateHash, workspaces } from "./workspaces/index.ts";

/** What a signature covers beyond the request's own fields: facts that the server knows and a signer must have seen. */
type Cover = (read: Reader, resourceId: string, org: string, crypto: CryptoProvider) => Promise<JsonObject>;

const nothing: Cover = async () => ({});

/** The revision: a signature for one state of a workspace is worthless on the next. */
const revision: Cover = async (read, id) => {
  const workspace = isUuid(id) ? await read.get(workspaces, id) : undefined;
  return workspace === undefined ? {} : { revision: workspace.revision };
};

/**
 * The revision and its content, as the owner's instance told it: who consents to the end of a workspace consents to the one it saw, and
 * the owner sees whether it is the one that it has.
 */
const content: Cover = async (read, id, org, crypto) => {
  const workspace = isUuid(id) ? await read.get(workspaces, id) : undefined;
  if (workspace === undefined) return {};
  const { revision } = workspace;
  if (workspace.replica !== true) return { revision, state_sha256: stateHash(crypto, replicatedWorkspace(workspace)) };
  const replica = await read.get(replicas, replicaId(id, org));
  return { revision, ...(replica?.revision === revision ? { state_sha256: replica.state_sha256 } : {}) };
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

/** The version: a signature for one text of a policy is worthless on the next. */
const policyVersion: Cover = async (read, id, org) => {
  const policy = isUuid(id) ? await read.get(policies, id) : undefined;
  return policy?.org_id === org ? { version: policy.version } : {};
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
  "workspace.delete": content,
  "workspace.rotate-dek": revision,
  "workspace.export": revision,
  "policy.update": policyVersion,
  "policy.delete": policyVersion,
  "emergency.verify": emergencyRequest,
  "backup.restore": backupChecksum,
  "federation.renew-cert": currentSerial,
};

/** The facts that are signed together with the body of an operation on a resource. */
export const coveredState: CoveredState = (crypto, read, { operation, resourceId, org }) => {
  const cover = Object.hasOwn(covers, operation) ? covers[operation] : undefined;
  return (cover ?? nothing)(read, resourceId, org, crypto);
};
