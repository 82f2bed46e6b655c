import { leaves } from "../platform/index.ts";
import { type ProcessConfig, processSettings, serviceNames } from "./process-settings.ts";

/** What a reload puts in force: a setting with all that lies below it. `*` is any service. */
export const reloadable = [
  "log.level",
  "auth.jwt",
  "auth.oidc",
  "auth.mtls.trusted_ca",
  "auth.mtls.crl_url",
  "*.server.tls_cert",
  "*.server.tls_key",
  "*.rate_limit",
  "*.audit_sinks",
  "*.authorization_policy",
  "gateway.services.orchestrator",
  "governance.policy_files",
  "storage.s3.tls_cert",
  "storage.s3.tls_key",
  "storage.grpc.ca",
  "storage.grpc.cert",
  "storage.grpc.key",
  "storage.device_roots",
] as const;

/** The settings that differ and that only a restart takes up, by their dotted paths. Those of services that are not started are nobody's. */
export function needsRestart(running: ProcessConfig, next: ProcessConfig): readonly string[] {
  return leaves(processSettings)
    .filter(({ path }) => JSON.stringify(at(running, path)) !== JSON.stringify(at(next, path)))
    .filter(({ path: [top] }) => serviceNames.every((name) => name !== top) || running.services.some((name) => name === top))
    .map(({ path }) => path.join("."))
    .filter((setting) => !reloadable.some((one) => covers(one, setting)));
}

function covers(pattern: string, setting: string): boolean {
  const own = pattern.replace("*", setting.split(".")[0] ?? "");
  return setting === own || setting.startsWith(`${own}.`);
}

function at(config: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((tree, key) => (tree as Record<string, unknown> | undefined)?.[key], config);
}
