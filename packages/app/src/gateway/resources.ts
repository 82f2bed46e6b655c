import type { CollectionSpec } from "@seneschal/core/ports";
import { admins } from "./admins/collections.ts";
import { adminHandlers } from "./admins/handlers.ts";
import { admissions } from "./admissions/collections.ts";
import { admissionHandlers } from "./admissions/handlers.ts";
import { acceptances } from "./audit/gaps.ts";
import { auditHandlers } from "./audit/handlers.ts";
import { logKeys } from "./audit/log-key.ts";
import { checkpoints } from "./audit/sealer.ts";
import { backups } from "./backups/collections.ts";
import { backupHandlers } from "./backups/handlers.ts";
import { ceremonies, heldShares } from "./ceremonies/collections.ts";
import { ceremonyHandlers } from "./ceremonies/handlers.ts";
import { certificates } from "./certificates/collections.ts";
import { certificateHandlers } from "./certificates/handlers.ts";
import { reportSeals } from "./compliance/collections.ts";
import { complianceHandlers } from "./compliance/handlers.ts";
import { crks } from "./crk/collections.ts";
import { crkHandlers } from "./crk/handlers.ts";
import { devices } from "./devices/collections.ts";
import { deviceHandlers } from "./devices/handlers.ts";
import { edgeSyncs, edges } from "./edges/collections.ts";
import { edgeHandlers } from "./edges/handlers.ts";
import { emergencyActs } from "./emergency/acts.ts";
import { emergencies } from "./emergency/collections.ts";
import { emergencyHandlers, emergencyReading } from "./emergency/handlers.ts";
import { bootstrapMarks, enrollmentTokens } from "./enrollment/collections.ts";
import { enrollmentHandlers } from "./enrollment/handlers.ts";
import { federationIdentities, federations } from "./federation/collections.ts";
import { federationHandlers, federationReading } from "./federation/handlers.ts";
import { peerHandlers } from "./federation/peer-handlers.ts";
import { encryptedShares, generationCeremonies, heldKeys } from "./generation-ceremonies/collections.ts";
import { generationCeremonyHandlers } from "./generation-ceremonies/handlers.ts";
import { groups, memberships } from "./groups/collections.ts";
import { groupHandlers } from "./groups/handlers.ts";
import { healthHandlers } from "./health/handlers.ts";
import { instances } from "./instance/collections.ts";
import { messageReceipts, messages } from "./messages/collections.ts";
import { messageHandlers, messageReading } from "./messages/handlers.ts";
import { mfaFactors } from "./mfa/collections.ts";
import { organizations } from "./organizations/collections.ts";
import { organizationHandlers } from "./organizations/handlers.ts";
import { organizationKeyRecords } from "./organizations/keys.ts";
import { authorities } from "./pki/collections.ts";
import { policies } from "./policies/collections.ts";
import { policyHandlers } from "./policies/handlers.ts";
import { recoveries, recoveryShares } from "./recovery/collections.ts";
import { recoveryHandlers } from "./recovery/handlers.ts";
import { deletionConsents, dispatches, replicas, shares } from "./replication/collections.ts";
import { replicationHandlers } from "./replication/peer-handlers.ts";
import { roleAssignments, roles } from "./roles/collections.ts";
import { roleHandlers } from "./roles/handlers.ts";
import { rotationPolicies } from "./rotation/collections.ts";
import { rotationPolicyHandlers } from "./rotation/handlers.ts";
import { serviceIdentities } from "./services/collections.ts";
import { serviceHandlers } from "./services/handlers.ts";
import { signingRequests, spentNonces } from "./signing-requests/collections.ts";
import { signingRequestHandlers } from "./signing-requests/handlers.ts";
import { signingSessions } from "./signing-sessions/collections.ts";
import { signingSessionHandlers } from "./signing-sessions/handlers.ts";
import type { Collection } from "./store/collection.ts";
import { users } from "./users/collections.ts";
import { userHandlers } from "./users/handlers.ts";
import { invitations, joinRequests, seats, workspaces } from "./workspaces/collections.ts";
import { dekUseRecords } from "./workspaces/dek-uses.ts";
import { workspaceHandlers, workspaceReading } from "./workspaces/handlers.ts";

/** The handlers of every resource. A route is served when its handler stands here. */
export const gatewayHandlers = {
  ...healthHandlers,
  ...enrollmentHandlers,
  ...organizationHandlers,
  ...crkHandlers,
  ...ceremonyHandlers,
  ...generationCeremonyHandlers,
  ...signingRequestHandlers,
  ...signingSessionHandlers,
  ...workspaceHandlers,
  ...admissionHandlers,
  ...auditHandlers,
  ...policyHandlers,
  ...userHandlers,
  ...deviceHandlers,
  ...adminHandlers,
  ...certificateHandlers,
  ...groupHandlers,
  ...roleHandlers,
  ...emergencyHandlers,
  ...federationHandlers,
  ...peerHandlers,
  ...replicationHandlers,
  ...messageHandlers,
  ...edgeHandlers,
  ...serviceHandlers,
  ...recoveryHandlers,
  ...rotationPolicyHandlers,
  ...backupHandlers,
  ...complianceHandlers,
};

/** How entities are read whose `GET` does more than that. */
export const entityReadings = {
  "emergency-access": emergencyReading,
  message: messageReading,
  workspace: workspaceReading,
  federation: federationReading,
};

/** Every collection that the gateway keeps. */
export const gatewayCollectionList: readonly Pick<Collection<object>, "name" | keyof CollectionSpec>[] = [
  acceptances,
  admins,
  admissions,
  authorities,
  backups,
  bootstrapMarks,
  ceremonies,
  certificates,
  checkpoints,
  crks,
  dekUseRecords,
  deletionConsents,
  devices,
  dispatches,
  edgeSyncs,
  edges,
  emergencies,
  emergencyActs,
  encryptedShares,
  enrollmentTokens,
  federationIdentities,
  federations,
  generationCeremonies,
  groups,
  heldKeys,
  heldShares,
  instances,
  invitations,
  joinRequests,
  logKeys,
  memberships,
  messageReceipts,
  messages,
  mfaFactors,
  organizationKeyRecords,
  organizations,
  policies,
  recoveries,
  recoveryShares,
  replicas,
  reportSeals,
  roleAssignments,
  roles,
  rotationPolicies,
  seats,
  serviceIdentities,
  shares,
  signingRequests,
  signingSessions,
  spentNonces,
  users,
  workspaces,
];
