/** Everything that handlers are given: the services of all floors, as the topmost sees them. One object per running gateway. */
export type { PartnerServices as GatewayServices } from "./partners/index.ts";
