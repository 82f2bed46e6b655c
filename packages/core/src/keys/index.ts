export { type AccessDecision, type AccessFacts, accessBasis, decideAccess, type PolicyVerdict } from "./access/decide-access.ts";
export {
  type Asking,
  ask,
  decideJoinRequest,
  type JoinRequest,
  type JoinRequestStatus,
  joinRequestStatuses,
  joinRequestTable,
} from "./access-request/step.ts";
export { type AddressRules, type CalledAddress, requireAddress } from "./address.ts";
export {
  type Admin,
  type AdminEffect,
  type AdminInput,
  type AdminNew,
  adminTable,
  createAdmin,
  type EnrollmentStatus,
  enrollmentStatuses,
  isActiveSuperAdmin,
  stepAdmin,
} from "./admin/step.ts";
export {
  type Admission,
  type AdmissionStatus,
  admissionCounts,
  admissionStatuses,
  admissionTable,
  admit,
  byMembership,
  type Grant,
  revokeAdmission,
} from "./admission/step.ts";
export {
  type Backup,
  type BackupInput,
  type BackupStatus,
  backupStatuses,
  backupTable,
  requireRestorable,
  startBackup,
  stepBackup,
} from "./backup/step.ts";
export { type CardSight, maxSeenCards, type SeenCard, seeCard } from "./card/seen.ts";
export {
  type Ceremony,
  type CeremonyEffect,
  type CeremonyInput,
  type CeremonyOperation,
  type CeremonyStart,
  type CeremonyStatus,
  ceremonyOperations,
  ceremonyStatus,
  ceremonyStatuses,
  ceremonyTable,
  startCeremony,
  stepCeremony,
} from "./ceremony/step.ts";
export { isRenewalDue } from "./certificate/renewal.ts";
export { type CertificateSubject, certificateSubjects, requireRevocable } from "./certificate/revocable.ts";
export { type NamesOfInstance, requireCertifiableName } from "./certificate/server-names.ts";
export { invalidField, type KeysCode, type KeysError, notFound, refusal } from "./codes.ts";
export {
  type Crk,
  type CrkCreate,
  type CrkInput,
  type CrkStatus,
  createCrk,
  crkStatuses,
  crkTable,
  requireThreshold,
  stepCrk,
} from "./crk/step.ts";
export {
  type CardConfirmation,
  CONFIRMATIONS,
  type CustodianStatus,
  confirmCustodian,
  custodianStatuses,
  custodianTable,
  type EnrolledCustodian,
  enrollCustodian,
  revokeCustodian,
  shareCard,
} from "./custodian/step.ts";
export {
  assignCustodian,
  type Custodian,
  type CustodianSeat,
  type CustodianType,
  custodianTypes,
  type Holder,
  keepSeats,
  nameCustodians,
  requireSeated,
  succeedCustodians,
  takeSeat,
} from "./custody/custody.ts";
export {
  awaitedParticipants,
  type CeremonyParticipant,
  type CustodyCeremony,
  type CustodyCeremonyStatus,
  custodyCeremonyKinds,
  custodyCeremonyStatus,
  custodyCeremonyStatuses,
  requireCustodyTerm,
  requireOpenCeremony,
  requireRelayed,
  rotatesShares,
} from "./custody-ceremony/step.ts";
export {
  type Device,
  type DeviceEffect,
  type DeviceNew,
  type DeviceStatus,
  deviceStatuses,
  deviceTable,
  enrollDevice,
  isActiveDevice,
  revokeDevice,
} from "./device/step.ts";
export {
  type EmergencyAccess,
  type EmergencyEffect,
  type EmergencyInput,
  type EmergencyNew,
  type EmergencyStatus,
  emergencyStatus,
  emergencyStatuses,
  emergencyTable,
  requestEmergency,
  requireNoneOpen,
  stepEmergency,
} from "./emergency/step.ts";
export {
  type AdminRole,
  type AuditFlaw,
  type AuditResult,
  adminRoles,
  auditFlaws,
  auditResults,
  type Classification,
  classifications,
  type IdentityType,
  identityTypes,
  type Mode,
  modes,
} from "./enums.ts";
export { countedSize, countedSizes, type PartnerUse, requireWithinBudgets } from "./federation/budgets.ts";
export {
  establishFederation,
  type Federation,
  type FederationEffect,
  type FederationInput,
  type FederationNew,
  type FederationStatus,
  federationStatuses,
  federationTable,
  type SignedForPartner,
  stepFederation,
} from "./federation/step.ts";
export {
  defaultKdf,
  type GenerationCeremony,
  type GenerationEffect,
  type GenerationInput,
  type GenerationStart,
  type GenerationStatus,
  generationStatus,
  generationStatuses,
  generationTable,
  type KdfParams,
  type SeedEntry,
  startGeneration,
  stepGeneration,
} from "./generation-ceremony/step.ts";
export {
  type Invitation,
  type InvitationInput,
  type InvitationStatus,
  invitationStatus,
  invitationStatuses,
  invitationTable,
  invite,
  requireInvited,
  stepInvitation,
} from "./invitation/step.ts";
export { type Lifetimes, lifetimes, limits } from "./lifetimes.ts";
export {
  createMessage,
  judgeDelivery,
  type Message,
  type MessageDirection,
  type MessageFacts,
  type MessageInput,
  type MessageStatus,
  messageStatuses,
  messageTable,
  nextDelivery,
  receiveMessage,
  retryDelay,
  stepMessage,
} from "./message/step.ts";
export { freshMfa, type Mfa, mfaFailureLimit, verifyMfa } from "./mfa/verify-code.ts";
export { isOrganizationId, type Organization } from "./organization/organization.ts";
export { areTwoPeople, findSamePerson, isSamePerson, type Person } from "./person/person.ts";
export {
  initiateRecovery,
  type Recovery,
  type RecoveryEffect,
  type RecoveryInput,
  type RecoveryNew,
  type RecoveryStatus,
  type RecoveryType,
  recoveryStatus,
  recoveryStatuses,
  recoveryTable,
  recoveryTypes,
  stepRecovery,
} from "./recovery/step.ts";
export { isTimelyConsent } from "./replica/consent.ts";
export {
  type Followed,
  type FollowFacts,
  followOwner,
  type OwnerState,
  participationBegan,
  type ReplicaEvent,
} from "./replica/follow.ts";
export {
  type Judgement,
  judgePush,
  type Offer,
  offerOf,
  type Push,
  type Replica,
  type ReplicaStage,
  replicaStages,
  requireKeyVersions,
  requireRevision,
  retirePolicies,
} from "./replica/judge.ts";
export {
  answerOffer,
  type OfferRoute,
  type OfferState,
  type OfferStep,
  receiveOffer,
  repeatOffer,
  requireOpenOffer,
} from "./replica/offer.ts";
export { followPolicies, type PolicyVersion } from "./replica/policies.ts";
export {
  isAboutPerson,
  isKeyUse,
  type Period,
  type ReportFacts,
  type ReportType,
  reportFacts,
  reportPeriod,
  reportTypes,
} from "./report/report.ts";
export { isRotationDue, nextRotation, type RotationPolicy, requireRotationAge, rotationAge } from "./rotation/policy.ts";
export {
  attemptAt,
  type GivenShare,
  giveShare,
  type ShareGiven,
  type ShareVerdict,
  UNSEAL_ATTEMPT_MS,
  type UnsealAttempt,
} from "./seal/give-share.ts";
export {
  type Confirmation,
  confirmShare,
  forgetFollower,
  isSettled,
  offerShare,
  type Share,
  type ShareInput,
  type ShareStage,
  shareStages,
  shareTable,
  stepShare,
  type Told,
} from "./share/step.ts";
export {
  createSigningSession,
  type SigningKey,
  type SigningSession,
  type SigningSessionInput,
  type SigningSessionStatus,
  signingSessionStatus,
  signingSessionStatuses,
  stepSigningSession,
} from "./signing-session/step.ts";
export { isPast, milliseconds, type Timestamp, timestamp } from "./time.ts";
export { type Cell, nextStatus, type Step, type TransitionTable } from "./transition.ts";
export { isUuid, uuid } from "./uuid.ts";
export {
  foundationOf,
  type LogWitness,
  type OfferedCheckpoint,
  type OfferedGrowth,
  offeredGrowths,
  stepLogWitness,
  stepWitnessedLog,
  type WitnessedLog,
  type WitnessFound,
  type WitnessStep,
  type WitnessTrouble,
  witnessTroubles,
} from "./witness/step.ts";
export { requireWorkspace, type WorkspaceOperation, workspaceOperations, workspaceRefusal } from "./workspace/guard.ts";
export {
  createWorkspace,
  lowersProtection,
  stepWorkspace,
  type WorkspaceChanges,
  type WorkspaceCreate,
  type WorkspaceEffect,
  type WorkspaceInput,
} from "./workspace/step.ts";
export {
  type Participant,
  participates,
  type Workspace,
  type WorkspaceStatus,
  workspaceStatus,
  workspaceStatuses,
} from "./workspace/workspace.ts";
