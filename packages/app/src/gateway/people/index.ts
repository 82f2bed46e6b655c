export { carryOutAdmin, countSuperAdmins, findAdmin } from "./admins.ts";
export { revokeCertificate } from "./certificates.ts";
export {
  admins,
  bootstrapMarks,
  devices,
  emergencies,
  emergencyActs,
  enrollmentTokens,
  type Group,
  groups,
  isMember,
  memberships,
  mfaFactors,
  peopleCollections,
  permissionsOf,
  roleAssignments,
  roles,
  serviceIdentities,
  subjectKey,
  type User,
  users,
} from "./collections.ts";
export {
  emergencyReading,
  emergencyTokenPrefix,
  expireEmergency,
  principalOfEmergencyToken,
  rememberingUnit,
} from "./emergency.ts";
export { bootstrapBytes, type FirstAdmin, findWitness } from "./enrollment.ts";
export { voidEnrollmentTokens } from "./enrollment-tokens.ts";
export { findGroup, join } from "./groups.ts";
export {
  activeHolders,
  asKnownNow,
  custodiansNamed,
  holderCalling,
  identityKinds,
  identityTypeOf,
  invalidToken,
  personCalling,
  personNamed,
  personOf,
  personSeated,
  requireAnother,
  requireIdentity,
  requireRoom,
  writeLastUse,
} from "./identities.ts";
export { lastUse } from "./last-use.ts";
export { peopleHandlers } from "./resources.ts";
export {
  type Orchestrator,
  openOrchestrator,
  principalOfSecret,
  principalOfServiceAccount,
  saveService,
  serviceTokenPrefix,
} from "./service-identities.ts";
export type { IdentityAdmissions, PeopleServices } from "./services.ts";
