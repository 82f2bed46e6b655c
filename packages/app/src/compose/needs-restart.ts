import { leaves, namedFiles } from "../platform/index.ts";
import { type ProcessConfig, processSettings, serviceNames } from "./process-settings.ts";
import { contentHash } from "./watch-files.ts";

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
  "gateway.decision_log_policy",
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
    .map(({ path }) => path.join("."))
    .filter((setting) => isStarted(running, setting) && !reloadable.some((one) => covers(one, setting)));
}

/** Hashes of what the files hold that a running process read once, by the settings that name them. */
export async function filesHeld(config: ProcessConfig): Promise<ReadonlyMap<string, string>> {
  const once = namedFiles(processSettings, config)
    .filter(({ read }) => read === "once")
    .filter(({ setting }) => isStarted(config, setting) && !reloadable.some((one) => covers(one, setting)));
  return new Map(await Promise.all(once.map(async ({ setting, path }) => [setting, await contentHash(path)] as const)));
}

/** The settings whose files hold something else than they did. */
export function filesChanged(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): readonly string[] {
  return [...now].filter(([setting, hash]) => before.get(setting) !== hash).map(([setting]) => setting);
}

/** False for a setting of a service that is not started. */
function isStarted({ services }: ProcessConfig, setting: string): boolean {
  const [top] = setting.split(".");
  return serviceNames.every((name) => name !== top) || services.some((name) => name === top);
}

function covers(pattern: string, setting: string): boolean {
  const own = pattern.replace("*", setting.split(".")[0] ?? "");
  return setting === own || setting.startsWith(`${own}.`);
}

function at(config: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((tree, key) => (tree as Record<string, unknown> | undefined)?.[key], config);
}
