export { type Call, type GatewayUnit, systemCall } from "./call.ts";
export { type Gateway, type GatewayOptions, openGateway, servedRoutes } from "./open-gateway.ts";
export { gatewaySchema } from "./schema.ts";
export type { GatewayServices } from "./services.ts";
export { type GatewayConfig, type GatewaySettings, gatewaySettings } from "./settings.ts";
