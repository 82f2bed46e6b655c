export { carryOutAdmin } from "./admins/carry-out.ts";
export { admins } from "./admins/collections.ts";
export { countSuperAdmins, findAdmin } from "./admins/find.ts";
export { revokeCertificate } from "./certificates/revoke.ts";
export { devices } from "./devices/collections.ts";
export { emergencyActs, rememberingUnit } from "./emergency/acts.ts";
export { emergencies } from "./emergency/collections.ts";
export { expireEmergency } from "./emergency/expire.ts";
export { emergencyReading } from "./emergency/handlers.ts";
export { emergencyTokenPrefix, principalOfEmergencyToken } from "./emergency/token.ts";
export { bootstrapBytes, type FirstAdmin } from "./enrollment/bootstrap.ts";
export { bootstrapMarks, enrollmentTokens } from "./enrollment/collections.ts";
export { voidEnrollmentTokens } from "./enrollment/tokens.ts";
export { findWitness } from "./enrollment/witness.ts";
export { type Group, groups, isMember, memberships } from "./groups/collections.ts";
export { findGroup } from "./groups/find.ts";
export { join } from "./groups/handlers.ts";
export { activeHolders, asKnownNow, custodiansNamed, holderCalling } from "./identities/holder.ts";
export { identityTypeOf } from "./identities/identity-type.ts";
export { invalidToken } from "./identities/invalid-token.ts";
export { identityKinds } from "./identities/kinds.ts";
export { lastUse } from "./identities/last-use.ts";
export { personCalling, personNamed, personOf, personSeated, requireAnother } from "./identities/person-of.ts";
export { requireIdentity } from "./identities/require-identity.ts";
export { requireRoom } from "./identities/require-room.ts";
export { writeLastUse } from "./identities/write-last-use.ts";
export { mfaFactors } from "./mfa/collections.ts";
export { peopleCollections, peopleHandlers } from "./resources.ts";
export { permissionsOf, roleAssignments, roles } from "./roles/collections.ts";
export { serviceIdentities } from "./service-identities/collections.ts";
export {
  principalOfSecret,
  principalOfServiceAccount,
  retireCredentials,
  serviceTokenPrefix,
} from "./service-identities/credentials.ts";
export { type Orchestrator, openOrchestrator } from "./service-identities/orchestrator.ts";
export type { IdentityAdmissions, PeopleServices } from "./services.ts";
export { subjectKey, type User, users } from "./users/collections.ts";
