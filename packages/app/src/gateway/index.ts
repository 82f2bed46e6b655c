export { type AcceptedGap, acceptAuditGap } from "./audit/accept-gap.ts";
export { type AuditRecord, auditIndexes } from "./audit/indexes.ts";
export { auditLeaf } from "./audit/leaf.ts";
export { recordsInOrder, wholeLog } from "./audit/records.ts";
export type { AuditFinding } from "./audit/sealer.ts";
export { checkpointOrigin, type StoredCheckpoint } from "./audit/sealer.ts";
export { verifyRecords } from "./audit/verify.ts";
export { type Call, type GatewayUnit, systemCall } from "./call.ts";
export {
  type DevAdmin,
  type DevCredentials,
  type DevOrganization,
  devCredentials,
  serverCertificate,
} from "./dev-credentials.ts";
export { type DevIssuer, type DevToken, devIssuer } from "./dev-issuer.ts";
export { bootstrapBytes, type FirstAdmin } from "./enrollment/bootstrap.ts";
export { adminOf, enrolFirstAdmin, makeFirstWorkspace, rootKeyOf, storeFirstRootKey } from "./enrollment/first-organization.ts";
export { type Gateway, type GatewayOptions, openGateway, servedRoutes } from "./open-gateway.ts";
export { ensureOrganization } from "./organizations/ensure.ts";
export { isAnchor } from "./organizations/is-anchor.ts";
export { gatewaySchema } from "./schema.ts";
export { gatewayService } from "./service.ts";
export type { GatewayServices } from "./services.ts";
export { type GatewayConfig, type GatewaySettings, gatewaySettings } from "./settings.ts";
export { makeWorkspace, type NewWorkspace } from "./workspaces/create.ts";
export { type DataItem, decryptItems, encryptItems } from "./workspaces/use-key.ts";
