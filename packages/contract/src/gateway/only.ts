/** Operations on a workspace, by what they may run into. */
const ofWorkspace = [
  ...["updateWorkspace", "deleteWorkspace", "encrypt", "decrypt", "encryptBatch", "decryptBatch", "rotateDek", "extendWorkspace"],
  ...["inviteOrganization", "acceptInvitation", "declineInvitation", "consentToDeletion", "requestAccess", "archiveWorkspace"],
  ...["exportWorkspace", "grantAdmission", "revokeAdmission", "requestJoin", "approveJoinRequest", "setRotationPolicy"],
  ...["removeRotationPolicy", "createPolicy", "updatePolicy", "deletePolicy", "syncEdgeKeys", "peerWorkspace"],
];

/** Operations that the root key signs: some always, some for a workspace that is protected by it. */
const signed = [
  ...["bootstrapAdmin", "createWorkspace", "importWorkspace", "updateWorkspace", "archiveWorkspace", "deleteWorkspace"],
  ...["rotateDek", "exportWorkspace", "extendWorkspace", "inviteOrganization", "acceptInvitation", "requestAccess"],
  ...["consentToDeletion", "peerDeletionConsent", "initFederation", "establishFederation", "revokeFederation"],
  ...["renewFederationCertificate", "importFederationCertificate", "createPolicy", "updatePolicy", "deletePolicy"],
  ...["createBackup", "restoreBackup", "verifyEmergencyAccess"],
];

/** Operations that deal shares of a root key. */
const dealing = [
  ...["generateCrk", "rotateCrk", "startCeremony", "completeCeremony", "startGenerationCeremony", "completeGenerationCeremony"],
];

/** Operations that take shares of a root key, or end what took them. */
const gathering = [
  ...["signWithCrk", "submitCeremonyShare", "completeCeremony", "startSigningSession", "commitToSigningSession"],
  ...["signInSigningSession", "aggregateSigningSession", "initiateRecovery", "submitRecoveryShare", "completeRecovery"],
];

/** Operations that need the organisation's root key. */
const ofRootKey = [...signed, ...dealing, ...gathering, "createSigningRequest", "assignCustodian", "getEncryptedShare"];

/** Operations that issue a certificate. */
const issuing = [
  ...["enrollAdmin", "renewAdminCertificate", "enrollDevice", "createService", "issueCertificate", "initFederation"],
  ...["establishFederation", "importFederationCertificate", "renewFederationCertificate", "peerCertificate"],
];

/** Operations that call a partner's gateway, or are one's call. */
const withPartner = [
  "partnerCard",
  ...["establishFederation", "revokeFederation", "renewFederationCertificate", "importFederationCertificate", "federationHealth"],
  ...["sendMessage", "deliverMessage", "createWorkspace", "importWorkspace", "peerHealth", "peerAnswer"],
  ...["peerWorkspace", "peerDeletionConsent", "peerCertificate", "peerCheckpoint", "peerRevocation", ...ofWorkspace],
];

/** Codes that few operations of the gateway give: what is not here can stand wherever its status can. */
export const only = {
  POLICY_INVALID: ["createPolicy", "updatePolicy", "importWorkspace", "acceptInvitation", "peerWorkspace", "restoreBackup"],
  NO_BOUND_GROUP: ["requestAccess", "acceptInvitation", "requestJoin"],
  DECRYPTION_FAILED: ["decrypt", "decryptBatch"],
  BUNDLE_INVALID: ["importWorkspace", "restoreBackup", "peerWorkspace"],
  SIGNATURE_REQUIRED: signed,
  SIGNATURE_INVALID: signed,
  SIGNATURE_EXPIRED: signed,
  SIGNATURE_REPLAYED: signed,
  UNAUTHORIZED: ["enrollmentSetup", "enrollAdmin"],
  MFA_INVALID: ["verifyMfa"],
  NOT_ADMITTED: ofWorkspace,
  BOOTSTRAP_CLOSED: ["bootstrapAdmin"],
  RESTORE_FORBIDDEN: ["restoreBackup"],
  CRK_EXISTS: [...dealing, "startCustodyCeremony", "appendCustodyEntry"],
  CRK_NOT_CONFIGURED: ofRootKey,
  LAST_ADMIN: ["updateAdmin", "deleteAdmin"],
  WORKSPACE_ARCHIVED: ofWorkspace,
  WORKSPACE_EXPIRED: ofWorkspace,
  INVITATION_EXPIRED: ["acceptInvitation", "declineInvitation", "peerAnswer"],
  FEDERATION_INACTIVE: withPartner,
  INVALID_THRESHOLD: [...dealing, ...gathering],
  SHARE_INVALID: [...dealing, ...gathering],
  CRK_THRESHOLD_NOT_MET: [...dealing, ...gathering],
  CSR_INVALID: issuing,
  CHECKSUM_MISMATCH: ["restoreBackup"],
  VAULT_MISMATCH: ["restoreBackup"],
  FEDERATION_FAILED: withPartner,
  EDGE_UNREACHABLE: ["registerEdge", "edgeHealth", "syncEdgePolicies", "syncEdgeKeys"],
} as const;
