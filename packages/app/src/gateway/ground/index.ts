export { base64, bytes, utf8 } from "../../platform/bytes.ts";
export { type AnyCollection, type Collection, collection } from "../../platform/collection.ts";
export { isAnchor } from "./anchors.ts";
export { type AcceptedGap, acceptAuditGap } from "./audit/accept-gap.ts";
export { archiveDueEvents } from "./audit/archive-due.ts";
export { type DecisionLog, openDecisionLog } from "./audit/decision-log.ts";
export {
  type AuditEvent,
  type AuditFacts,
  type AuditRecord,
  auditGatewaySeal,
  auditIndexes,
  auditLeaf,
  instanceStream,
} from "./audit/event.ts";
export { gatewayLog } from "./audit/form.ts";
export { acceptances } from "./audit/gaps.ts";
export { auditLog } from "./audit/log.ts";
export { logKeys } from "./audit/log-key.ts";
export { markRecorded, recordRefusal } from "./audit/record-refusal.ts";
export { checkpoints } from "./audit/sealer.ts";
export { type Call, type GatewayUnit, systemCall } from "./call.ts";
export { type EntityReading, taggedHandlers } from "./entity-tags.ts";
export { instanceOfStore, instances, newInstanceId } from "./instance.ts";
export { type GatewayMetrics, gatewayMetrics } from "./metrics.ts";
export {
  kekName,
  type OrganizationKeys,
  organizationKeyRecords,
  organizationKeys,
  type PublicKeys,
  vaultName,
} from "./organization-keys.ts";
export {
  ensureOrganization,
  findOwn,
  isLocal,
  organizations,
  ownOrganization,
  type StoredOrganization,
} from "./organizations.ts";
export { revocationAddresses } from "./pki/authority.ts";
export {
  authorities,
  type CertificateRecord,
  certificates,
  type InstanceAuthority,
  instanceAuthorities,
} from "./pki/collections.ts";
export type { CrossSigned } from "./pki/cross-signing.ts";
export { acceptCrossSigned, requestCrossSigning } from "./pki/operate-cross-signing.ts";
export { hostName, pki } from "./pki/pki.ts";
export { requireBegun } from "./require-begun.ts";
export { groundCollections } from "./resources.ts";
export { crks, crkView, currentCrk, requireCrk, type StoredCrk } from "./root-keys.ts";
export type { GroundServices } from "./services.ts";
export { type GatewayConfig, type GatewaySettings, gatewaySettings } from "./settings.ts";
export {
  type CoveredState,
  claimOf,
  type SignatureClaim,
  type SigningRequest,
  signatures,
  signingRequests,
  spentNonces,
} from "./signatures.ts";
export { every } from "./store/every.ts";
export { forgetEnded } from "./store/forget-ended.ts";
export { handlersOfOneMoment, quietStore } from "./store/of-one-moment.ts";
export { cachedReader, listed, type PageOf, type PageRequest, pageOf, type Reader, reader } from "./store/reader.ts";
export { lostRace, transact, type Unit } from "./store/unit-of-work.ts";
