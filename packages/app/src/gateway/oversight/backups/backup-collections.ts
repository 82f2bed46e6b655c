import type { Message, RestoreRule } from "@seneschal/core/keys";
import type { JsonObject } from "@seneschal/kernel";
import type { IndexValue } from "@seneschal/kernel/ports";
import { auditArchives, auditTiles, auditTrees } from "../../../platform/audit-log/index.ts";
import {
  ceremonies,
  ceremonyShares,
  custodians,
  custodyCeremonies,
  custodyEntries,
  custodyParts,
  dealtEntries,
  dealtTranscripts,
  encryptedShares,
  generationCeremonies,
  heldKeys,
  recoveries,
  recoveryShares,
  signingSessions,
} from "../../custody/index.ts";
import {
  acceptances,
  authorities,
  type Collection,
  certificates,
  checkpoints,
  crks,
  instances,
  logKeys,
  organizationKeyRecords,
  organizations,
  signingRequests,
  spentNonces,
} from "../../ground/index.ts";
import {
  dispatches,
  edgeSyncs,
  edges,
  federationIdentities,
  federations,
  logWitnesses,
  messageReceipts,
  messages,
  receiptId,
  replicas,
  seenCards,
  shares,
  witnessedLogs,
} from "../../partners/index.ts";
import {
  admins,
  bootstrapMarks,
  devices,
  emergencies,
  emergencyActs,
  enrollmentTokens,
  groups,
  memberships,
  mfaFactors,
  roleAssignments,
  roles,
  serviceIdentities,
  users,
} from "../../people/index.ts";
import {
  admissions,
  dekUseId,
  dekUseRecords,
  deletionConsents,
  invitations,
  joinRequests,
  participations,
  policies,
  rotationPolicies,
  workspaces,
} from "../../workspaces/index.ts";
import { backups, reportSeals } from "../collections.ts";

/** How the documents of a collection that belong to an organisation are found. */
type Where =
  /** The document of the organisation's own id. */
  | { readonly kind: "self" }
  /** Through an index whose first value is the organisation. */
  | { readonly kind: "index"; readonly index: string }
  /** Through an index whose first value is the id of a document of another collection that belongs to it. */
  | { readonly kind: "below"; readonly index: string; readonly parent: string }
  /** By ids that documents of another collection name. */
  | {
      readonly kind: "named";
      readonly parent: string;
      readonly ids: (parent: JsonObject, parentId: string) => readonly string[];
    };

export interface BackupCollection {
  readonly collection: Collection<object>;
  readonly where: Where;
  /** What a restore does where a document is there. */
  readonly rule: RestoreRule;
}

function belongs<T extends object>(collection: Collection<T>, where: Where, rule: RestoreRule = "replace"): BackupCollection {
  return { collection: collection as Collection<object>, where, rule };
}

const index = (name: string): Where => ({ kind: "index", index: name });
const named = (parent: { readonly name: string }, ids: (parent: JsonObject, parentId: string) => readonly string[]): Where => ({
  kind: "named",
  parent: parent.name,
  ids,
});
const below = (name: string, parent: { readonly name: string }): Where => ({ kind: "below", index: name, parent: parent.name });

/** Everything that belongs to an organisation; parents stand before what lies below them. What is not here stands in `passing`. */
export const backupCollections: readonly BackupCollection[] = [
  belongs(organizations, { kind: "self" }, "organization"),
  belongs(organizationKeyRecords, { kind: "self" }, "keep"),
  belongs(crks, index("by_org"), "keep"),
  belongs(encryptedShares, below("by_crk", crks), "keep"),
  belongs(custodians, index("by_org")),
  belongs(custodyCeremonies, index("by_org"), "keep"),
  belongs(custodyEntries, below("by_ceremony", custodyCeremonies), "keep"),
  belongs(custodyParts, below("by_ceremony", custodyCeremonies), "keep"),
  belongs(dealtTranscripts, index("by_org"), "keep"),
  belongs(dealtEntries, below("by_ceremony", dealtTranscripts), "keep"),
  belongs(admins, index("by_org")),
  belongs(
    mfaFactors,
    named(admins, (_, id) => [id]),
    "keep",
  ),
  belongs(users, index("by_subject")),
  belongs(serviceIdentities, index("by_org")),
  belongs(devices, index("by_org")),
  belongs(certificates, index("by_org")),
  belongs(groups, index("by_org")),
  belongs(memberships, below("by_group", groups)),
  belongs(roles, index("by_org")),
  belongs(roleAssignments, below("by_role", roles)),
  belongs(participations, index("by_org"), "participation"),
  belongs(
    workspaces,
    named(participations, (participation) => [String(participation["workspace_id"])]),
    "workspace",
  ),
  belongs(dekUseRecords, named(participations, usesOfSeat), "keep"),
  belongs(admissions, below("by_workspace", workspaces)),
  belongs(invitations, below("by_workspace", workspaces)),
  belongs(joinRequests, index("by_group")),
  belongs(rotationPolicies, index("by_org")),
  belongs(policies, index("by_org"), "policy"),
  belongs(federationIdentities, { kind: "self" }, "keep"),
  belongs(federations, index("by_org"), "keep"),
  belongs(shares, index("by_org"), "keep"),
  belongs(replicas, index("by_org"), "keep"),
  belongs(dispatches, index("by_org"), "keep"),
  belongs(deletionConsents, below("by_workspace", workspaces), "keep"),
  belongs(seenCards, index("by_org"), "keep"),
  belongs(reportSeals, index("by_org")),
  belongs(edges, index("by_org")),
  belongs(
    edgeSyncs,
    named(edges, (_, id) => [id]),
    "keep",
  ),
  belongs(messages, index("held"), "keep"),
  belongs(
    messageReceipts,
    named(messages, (message) => [receiptId(message as unknown as Message)]),
    "keep",
  ),
];

/**
 * Collections that no backup holds, and why. Every collection of the gateway stands here or in `backupCollections`; a test compares the
 * two with what is declared.
 */
export const passing: readonly (readonly [collection: { readonly name: string }, reason: string])[] = [
  ...[authorities, bootstrapMarks, instances].map((own) => [own, "the instance's own"] as const),
  ...[acceptances, auditArchives, auditTiles, auditTrees, checkpoints, logKeys].map(
    (log) => [log, "of the audit log, which is never restored over"] as const,
  ),
  ...[logWitnesses, witnessedLogs].map((seen) => [seen, "what was witnessed of a log is never forgotten by a restore"] as const),
  [backups, "a record of backups; another instance reads it from their files"],
  ...[ceremonies, ceremonyShares, generationCeremonies, heldKeys, recoveries, recoveryShares].map(
    (open) => [open, "secrets that are erased within a day"] as const,
  ),
  ...[emergencies, emergencyActs, enrollmentTokens, signingRequests, signingSessions, spentNonces].map(
    (brief) => [brief, "over within a day"] as const,
  ),
];

function usesOfSeat(participation: JsonObject): readonly string[] {
  return Object.keys(participation["deks"] as JsonObject).map((version) =>
    dekUseId(String(participation["workspace_id"]), Number(version)),
  );
}

/** The index values to list by, for one organisation and the ids found so far. */
export function prefixes(where: Where, org: string, found: ReadonlyMap<string, ReadonlyMap<string, JsonObject>>) {
  switch (where.kind) {
    case "index":
      return [[org]] as readonly (readonly IndexValue[])[];
    case "below":
      return [...(found.get(where.parent)?.keys() ?? [])].map((id) => [id]);
    default:
      return [];
  }
}
