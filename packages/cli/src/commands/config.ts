import { processSettings } from "@seneschal/app";
import { describeConfig } from "@seneschal/app/platform";
import { readConfig } from "../read-config.ts";
import type { AddCommand } from "./add-command.ts";

/** `seneschal config check`: what is in force, secrets masked; a mistake ends with its name. */
export const addConfig: AddCommand = (program, { host, result }) => {
  program
    .command("config")
    .description("the configuration")
    .command("check")
    .description("print what is in force, secrets masked")
    .option("-c, --config <file>", "YAML or JSON file")
    .option("--set <path=value...>", "a setting by its path")
    .action(async (options: { config?: string; set?: string[] }) => {
      const settings = describeConfig(processSettings, await readConfig(host, options));
      const lines = Object.entries(settings).map(
        ([path, value]) => `${path}: ${value === null ? "(unset)" : JSON.stringify(value)}`,
      );
      result({ settings }, lines.join("\n"));
    });
};
