export { type BootstrapOptions, type Bootstrapped, bootstrapInstance } from "./compose/bootstrap-instance.ts";
export { createOrganization } from "./compose/create-organization.ts";
export { gatewayService } from "./compose/gateway-service.ts";
export { type PreparedData, prepareData } from "./compose/prepare-data.ts";
export { type DevCredentialsFile, type DevIdentity, prepareDev } from "./compose/prepare-dev.ts";
export { type ProcessConfig, processSettings, type ServiceName, serviceNames } from "./compose/process-settings.ts";
export { type RunningDev, startDev } from "./compose/start-dev.ts";
export { type RunningProcess, startProcess } from "./compose/start-process.ts";
export { watchFiles } from "./compose/watch-files.ts";
