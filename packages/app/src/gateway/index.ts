export {
  type DevAdmin,
  type DevCredentials,
  type DevOrganization,
  devCredentials,
  serverCertificate,
} from "./dev-credentials.ts";
export { type DevIssuer, type DevToken, devIssuer } from "./dev-issuer.ts";
export { adminOf, enrolFirstAdmin, makeFirstWorkspace, rootKeyOf, storeFirstRootKey } from "./first-organization.ts";
export {
  type AcceptedGap,
  type AuditEvent,
  acceptAuditGap,
  acceptCrossSigned,
  archiveDueEvents,
  auditIndexes,
  type Call,
  type CrossSigned,
  ensureOrganization,
  type GatewayConfig,
  type GatewaySettings,
  type GatewayUnit,
  gatewayLog,
  gatewaySettings,
  type InstanceAuthority,
  instanceAuthorities,
  instanceStream,
  isAnchor,
  requestCrossSigning,
  systemCall,
} from "./ground/index.ts";
export { type Gateway, type GatewayOptions, openGateway } from "./open-gateway.ts";
export { bootstrapBytes, type FirstAdmin } from "./people/index.ts";
export { gatewaySchema } from "./schema.ts";
export { gatewayService } from "./service.ts";
export type { GatewayServices } from "./services.ts";
export { type DataItem, decryptItems, encryptItems, makeWorkspace, type NewWorkspace } from "./workspaces/index.ts";
