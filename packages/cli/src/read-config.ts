import { type ProcessConfig, processSettings } from "@seneschal/app";
import { loadConfig } from "@seneschal/app/platform";
import { storageInForce } from "@seneschal/app/storage";
import { CodedError } from "@seneschal/kernel";
import type { Host } from "./host.ts";
import { readText } from "./read-file.ts";

/** The configuration in force: file, then `SENESCHAL_...`, then `--set path=value`, then the `STORE_*` of a storage node. Throws `config_invalid`. */
export async function readConfig(
  host: Host,
  options: { readonly config?: string; readonly set?: readonly string[] },
): Promise<ProcessConfig> {
  const flags = Object.fromEntries(
    (options.set ?? []).map((assignment) => {
      const at = assignment.indexOf("=");
      if (at < 1) throw new CodedError("config_invalid", `--set ${assignment}: expected path=value`);
      return [assignment.slice(0, at), assignment.slice(at + 1)];
    }),
  );
  const file = options.config === undefined ? {} : { file: { name: options.config, text: await readText(host, options.config) } };
  const config = loadConfig(processSettings, { ...file, env: host.env, flags });
  // What no storage node reads cannot be wrong with one.
  return config.services.includes("storage") ? { ...config, storage: storageInForce(config.storage, host.env) } : config;
}
