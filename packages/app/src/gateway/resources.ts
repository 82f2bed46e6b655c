import type { CollectionSpec } from "@seneschal/core/ports";
import { ceremonies, heldShares } from "./custody/ceremonies/collections.ts";
import { ceremonyHandlers } from "./custody/ceremonies/handlers.ts";
import { crkHandlers } from "./custody/crk/handlers.ts";
import { encryptedShares, generationCeremonies, heldKeys } from "./custody/generation-ceremonies/collections.ts";
import { generationCeremonyHandlers } from "./custody/generation-ceremonies/handlers.ts";
import { recoveries, recoveryShares } from "./custody/recovery/collections.ts";
import { recoveryHandlers } from "./custody/recovery/handlers.ts";
import { signingRequestHandlers } from "./custody/signing-requests/handlers.ts";
import { signingSessions } from "./custody/signing-sessions/collections.ts";
import { signingSessionHandlers } from "./custody/signing-sessions/handlers.ts";
import { acceptances } from "./ground/audit/gaps.ts";
import { logKeys } from "./ground/audit/log-key.ts";
import { checkpoints } from "./ground/audit/sealer.ts";
import { instances } from "./ground/instance/collections.ts";
import { organizations } from "./ground/organizations/collections.ts";
import { organizationKeyRecords } from "./ground/organizations/keys.ts";
import { crks } from "./ground/organizations/root-keys.ts";
import { certificates } from "./ground/pki/certificates.ts";
import { authorities } from "./ground/pki/collections.ts";
import { signingRequests, spentNonces } from "./ground/signatures/requests.ts";
import type { Collection } from "./ground/store/collection.ts";
import { auditHandlers } from "./oversight/audit-views/handlers.ts";
import { backups } from "./oversight/backups/collections.ts";
import { backupHandlers } from "./oversight/backups/handlers.ts";
import { reportSeals } from "./oversight/compliance/collections.ts";
import { complianceHandlers } from "./oversight/compliance/handlers.ts";
import { healthHandlers } from "./oversight/health/handlers.ts";
import { rotationPolicyHandlers } from "./oversight/rotation/handlers.ts";
import { edgeSyncs, edges } from "./partners/edges/collections.ts";
import { edgeHandlers } from "./partners/edges/handlers.ts";
import { federationIdentities, federations } from "./partners/federation/collections.ts";
import { federationHandlers, federationReading } from "./partners/federation/handlers.ts";
import { peerHandlers } from "./partners/federation/peer-handlers.ts";
import { messageReceipts, messages } from "./partners/messages/collections.ts";
import { messageHandlers, messageReading } from "./partners/messages/handlers.ts";
import { deletionConsents, dispatches, replicas, shares } from "./partners/replication/collections.ts";
import { replicationHandlers } from "./partners/replication/peer-handlers.ts";
import { admins } from "./people/admins/collections.ts";
import { adminHandlers } from "./people/admins/handlers.ts";
import { certificateHandlers } from "./people/certificates/handlers.ts";
import { devices } from "./people/devices/collections.ts";
import { deviceHandlers } from "./people/devices/handlers.ts";
import { emergencyActs } from "./people/emergency/acts.ts";
import { emergencies } from "./people/emergency/collections.ts";
import { emergencyHandlers, emergencyReading } from "./people/emergency/handlers.ts";
import { bootstrapMarks, enrollmentTokens } from "./people/enrollment/collections.ts";
import { enrollmentHandlers } from "./people/enrollment/handlers.ts";
import { groups, memberships } from "./people/groups/collections.ts";
import { groupHandlers } from "./people/groups/handlers.ts";
import { mfaFactors } from "./people/mfa/collections.ts";
import { organizationHandlers } from "./people/organizations/handlers.ts";
import { roleAssignments, roles } from "./people/roles/collections.ts";
import { roleHandlers } from "./people/roles/handlers.ts";
import { serviceIdentities } from "./people/service-identities/collections.ts";
import { serviceHandlers } from "./people/service-identities/handlers.ts";
import { users } from "./people/users/collections.ts";
import { userHandlers } from "./people/users/handlers.ts";
import { admissions } from "./workspaces/admissions/collections.ts";
import { admissionHandlers } from "./workspaces/admissions/handlers.ts";
import { policies } from "./workspaces/policies/collections.ts";
import { policyHandlers } from "./workspaces/policies/handlers.ts";
import { invitations, joinRequests, seats, workspaces } from "./workspaces/workspaces/collections.ts";
import { dekUseRecords } from "./workspaces/workspaces/dek-uses.ts";
import { workspaceHandlers, workspaceReading } from "./workspaces/workspaces/handlers.ts";
import { rotationPolicies } from "./workspaces/workspaces/rotation-policies.ts";

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
