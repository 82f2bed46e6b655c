import { contract } from "../contract.ts";
import type { OpenApiInfo } from "../openapi.ts";
import { admissionRoutes } from "./admissions.ts";
import { auditRoutes } from "./audit.ts";
import { backupRoutes } from "./backups.ts";
import { certificateRoutes } from "./certificates.ts";
import { complianceRoutes } from "./compliance.ts";
import { crkRoutes } from "./crk.ts";
import { custodyRoutes } from "./custody.ts";
import { edgeRoutes } from "./edges.ts";
import { emergencyRoutes } from "./emergency.ts";
import { enrollmentRoutes } from "./enrollment.ts";
import { gatewayErrors } from "./errors.ts";
import { federationRoutes } from "./federation.ts";
import { generationCeremonyRoutes } from "./generation-ceremonies.ts";
import { healthRoutes } from "./health.ts";
import { adminRoutes, deviceRoutes, groupRoutes, roleRoutes, serviceRoutes, userRoutes } from "./identities.ts";
import { messageRoutes } from "./messages.ts";
import { organizationRoutes } from "./organizations.ts";
import { policyRoutes } from "./policies.ts";
import { recoveryRoutes } from "./recovery.ts";
import { rotationPolicyRoutes } from "./rotation-policies.ts";
import { signingRequestRoutes } from "./signing-requests.ts";
import { signingSessionRoutes } from "./signing-sessions.ts";
import { workspaceRoutes } from "./workspaces.ts";

export { gatewayCodes, gatewayErrors } from "./errors.ts";
export { type PeerState, peerState } from "./federation.ts";
export { organizationBeginnings } from "./organizations.ts";
export { type SignedOperation, signedOperations } from "./signing-requests.ts";
export { type ReplicatedPolicy, type ReplicatedWorkspace, replicatedWorkspace } from "./workspaces.ts";

/** Every route of the key-governance gateway. A new resource adds its file and its line here. */
export const gatewayContract = contract({
  ...healthRoutes,
  ...enrollmentRoutes,
  ...organizationRoutes,
  ...crkRoutes,
  ...generationCeremonyRoutes,
  ...signingRequestRoutes,
  ...signingSessionRoutes,
  ...custodyRoutes,
  ...workspaceRoutes,
  ...admissionRoutes,
  ...auditRoutes,
  ...policyRoutes,
  ...adminRoutes,
  ...userRoutes,
  ...serviceRoutes,
  ...deviceRoutes,
  ...groupRoutes,
  ...roleRoutes,
  ...certificateRoutes,
  ...federationRoutes,
  ...edgeRoutes,
  ...emergencyRoutes,
  ...recoveryRoutes,
  ...complianceRoutes,
  ...rotationPolicyRoutes,
  ...backupRoutes,
  ...messageRoutes,
});

/** The type of {@link gatewayContract}, for clients and handlers. */
export type GatewayContract = typeof gatewayContract;

/** What its OpenAPI document says of the service as a whole. */
export const gatewayInfo: Omit<OpenApiInfo, "version"> = {
  title: "Seneschal key governance",
  errors: gatewayErrors,
  keepsAnswers: true,
};
