export { type AccessDecision, type AccessFacts, accessBasis, accessRefusal, decideAccess } from "./access.ts";
export {
  type Asking,
  ask,
  decideJoinRequest,
  type JoinRequest,
  type JoinRequestStatus,
  joinRequestStatuses,
  joinRequestTable,
} from "./access-request.ts";
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
} from "./admin.ts";
export {
  type Admission,
  type AdmissionStatus,
  admissionCounts,
  admissionStatuses,
  admissionTable,
  admit,
  byMembership,
  type Grant,
  requireGivesWay,
  requireMember,
  revokeAdmission,
} from "./admission.ts";
export {
  type Activity,
  type AuditFigures,
  AuditTally,
  activityColumns,
  activityOf,
  type CountedEvent,
  LastUses,
  seesActivityOf,
} from "./audit-figures.ts";
export {
  type Backup,
  type BackupInput,
  type BackupStatus,
  backupStatuses,
  backupTable,
  type RestoreRule,
  requireRestorable,
  restoreDocument,
  restoreRules,
  startBackup,
  stepBackup,
} from "./backup.ts";
export { type CardSight, maxSeenCards, type SeenCard, seeCard } from "./card.ts";
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
} from "./ceremony.ts";
export {
  type CertificateSubject,
  certificateSubjects,
  isRenewalDue,
  type NamesOfInstance,
  requireCertifiableName,
  requireRevocable,
} from "./certificate.ts";
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
} from "./crk.ts";
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
} from "./custodian.ts";
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
} from "./custody.ts";
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
} from "./custody-ceremony.ts";
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
} from "./device.ts";
export {
  type Dispatch,
  type DispatchKind,
  type DispatchStep,
  dispatchKinds,
  queueDispatch,
  stepDispatch,
} from "./dispatch.ts";
export {
  countPush,
  type EdgeHealth,
  type EdgeNode,
  type EdgeStatus,
  type EdgeSync,
  edgeStatuses,
  judgeEdge,
  neverSynced,
  noteProbe,
  registerEdge,
  type VaultSays,
} from "./edge.ts";
export {
  type EmergencyAccess,
  type EmergencyEffect,
  type EmergencyInput,
  type EmergencyNew,
  type EmergencyStatus,
  emergencyEnd,
  emergencyStatus,
  emergencyStatuses,
  emergencyTable,
  requestEmergency,
  requireNewVoice,
  requireNoneOpen,
  stepEmergency,
} from "./emergency.ts";
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
export { csvField, csvRow, exportText } from "./export-text.ts";
export {
  countedSize,
  countedSizes,
  establishFederation,
  type Federation,
  type FederationEffect,
  type FederationInput,
  type FederationNew,
  type FederationStatus,
  federationStatuses,
  federationTable,
  type PartnerUse,
  requireEstablishable,
  requireRenewable,
  requireWithinBudgets,
  type SignedForPartner,
  stepFederation,
} from "./federation.ts";
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
} from "./generation-ceremony.ts";
export {
  type Invitation,
  type InvitationInput,
  type InvitationStatus,
  invitationStatus,
  invitationStatuses,
  invitationTable,
  invite,
  type Joined,
  joinByInvitation,
  requireInvited,
  stepInvitation,
} from "./invitation.ts";
export { type Lifetimes, lifetimes, limits } from "./lifetimes.ts";
export {
  createMessage,
  type DeliveryStep,
  judgeDelivery,
  judgeReceipt,
  type Message,
  type MessageDirection,
  type MessageFacts,
  type MessageInput,
  type MessageStatus,
  messageStatuses,
  messageTable,
  nextDelivery,
  receiveMessage,
  stepDelivery,
  stepMessage,
} from "./message.ts";
export { type Factor, freshMfa, judgeFactor, type Mfa, mfaFailureLimit, verifyMfa } from "./mfa.ts";
export { isOrganizationId, type Organization } from "./organization.ts";
export {
  type Delivery,
  type Lane,
  LaneTurns,
  type PartnerAnswer,
  reachesPartner,
  retryDelay,
  unsuccessful,
} from "./outbox.ts";
export { opens, type Permission } from "./permission.ts";
export { areTwoPeople, findSamePerson, isSamePerson, type Person } from "./person.ts";
export {
  combineVerdicts,
  createPolicy,
  deniedByPolicy,
  type Policy,
  type PolicyVerdict,
  policyRefusal,
  policyVerdict,
  requireOwnPackage,
  requirePolicyRoom,
  revisePolicy,
} from "./policy.ts";
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
} from "./recovery.ts";
export { type CarriedWorkspace, replicaOfBundle } from "./replica/bundle.ts";
export { consentsTo, deletionOperation, isTimelyConsent, requireConsent, type SignedConsent } from "./replica/consent.ts";
export { endReplica, type ReplicaEnd, type ReplicaEnded, takeBackAcceptance } from "./replica/end.ts";
export type { ReplicaEvent } from "./replica/event.ts";
export {
  type Followed,
  type FollowFacts,
  followOwner,
  type OwnerState,
  participationBegan,
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
export { requireHeard } from "./replica/lease.ts";
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
} from "./report.ts";
export {
  type GrowingObject,
  type ReportFormat,
  type ReportSignature,
  reportDocument,
  reportSealLine,
  reportSealText,
  reportText,
} from "./report-text.ts";
export { isRotationDue, nextRotation, type RotationPolicy, requireRotationAge, rotationAge } from "./rotation.ts";
export {
  attemptAt,
  type GivenShare,
  giveShare,
  type ShareGiven,
  type ShareVerdict,
  UNSEAL_ATTEMPT_MS,
  type UnsealAttempt,
} from "./seal.ts";
export {
  acceptsServiceAccount,
  retireCredentials,
  rotateCredentials,
  type ServiceAuthMethod,
  type ServiceCredential,
  type ServiceIdentity,
  serviceAuthMethods,
} from "./service.ts";
export {
  type Confirmation,
  confirmShare,
  forgetFollower,
  isSettled,
  offerShare,
  type PartnerGone,
  partnerGone,
  type Share,
  type ShareAnswer,
  type ShareInput,
  type ShareStage,
  shareStages,
  shareTable,
  stepShare,
  type Told,
  takeAnswer,
} from "./share.ts";
export {
  createSigningSession,
  type SigningKey,
  type SigningSession,
  type SigningSessionInput,
  type SigningSessionStatus,
  signingSessionStatus,
  signingSessionStatuses,
  stepSigningSession,
} from "./signing-session.ts";
export { isPast, lastMoment, milliseconds, type Timestamp, timestamp } from "./time.ts";
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
} from "./witness.ts";
export {
  createWorkspace,
  lowersProtection,
  type Participant,
  participates,
  requireWorkspace,
  stepWorkspace,
  type Workspace,
  type WorkspaceChanges,
  type WorkspaceCreate,
  type WorkspaceEffect,
  type WorkspaceInput,
  type WorkspaceOperation,
  type WorkspaceStatus,
  workspaceOperations,
  workspaceRefusal,
  workspaceStatus,
  workspaceStatuses,
} from "./workspace.ts";
