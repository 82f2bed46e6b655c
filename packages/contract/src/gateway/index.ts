import { contract } from "../contract.ts";
import { admissionRoutes } from "./admissions.ts";
import { auditRoutes } from "./audit.ts";
import { crkRoutes } from "./crk.ts";
import { enrollmentRoutes } from "./enrollment.ts";
import { generationCeremonyRoutes } from "./generation-ceremonies.ts";
import { healthRoutes } from "./health.ts";
import { organizationRoutes } from "./organizations.ts";
import { signingRequestRoutes } from "./signing-requests.ts";
import { signingSessionRoutes } from "./signing-sessions.ts";
import { workspaceRoutes } from "./workspaces.ts";

export { gatewayCodes, gatewayErrors } from "./errors.ts";

/** Every route of the key-governance gateway. A new resource adds its file and its line here. */
export const gatewayContract = contract({
  ...healthRoutes,
  ...enrollmentRoutes,
  ...organizationRoutes,
  ...crkRoutes,
  ...generationCeremonyRoutes,
  ...signingRequestRoutes,
  ...signingSessionRoutes,
  ...workspaceRoutes,
  ...admissionRoutes,
  ...auditRoutes,
});

/** The type of {@link gatewayContract}, for clients and handlers. */
export type GatewayContract = typeof gatewayContract;
