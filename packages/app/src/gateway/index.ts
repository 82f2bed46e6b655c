export {
  type DevAdmin,
  type DevCredentials,
  type DevOrganization,
  devCredentials,
  serverCertificate,
} from "./dev-credentials.ts";
export { type DevIssuer, type DevToken, devIssuer } from "./dev-issuer.ts";
export { adminOf, enrolFirstAdmin, makeFirstWorkspace, rootKeyOf, storeFirstRootKey } from "./first-organization.ts";
export { type AcceptedGap, acceptAuditGap } from "./ground/audit/accept-gap.ts";
export { type AuditRecord, auditIndexes } from "./ground/audit/indexes.ts";
export { auditLeaf } from "./ground/audit/leaf.ts";
export { recordsInOrder, wholeLog } from "./ground/audit/records.ts";
export type { AuditFinding } from "./ground/audit/sealer.ts";
export { checkpointOrigin, type StoredCheckpoint } from "./ground/audit/sealer.ts";
export { verifyRecords } from "./ground/audit/verify.ts";
export { type Call, type GatewayUnit, systemCall } from "./ground/call.ts";
export { ensureOrganization } from "./ground/organizations/ensure.ts";
export { isAnchor } from "./ground/organizations/is-anchor.ts";
export { type GatewayConfig, type GatewaySettings, gatewaySettings } from "./ground/settings.ts";
export { type Gateway, type GatewayOptions, openGateway, servedRoutes } from "./open-gateway.ts";
export { bootstrapBytes, type FirstAdmin } from "./people/enrollment/bootstrap.ts";
export { gatewaySchema } from "./schema.ts";
export { gatewayService } from "./service.ts";
export type { GatewayServices } from "./services.ts";
export { makeWorkspace, type NewWorkspace } from "./workspaces/workspaces/create.ts";
export { type DataItem, decryptItems, encryptItems } from "./workspaces/workspaces/use-key.ts";
