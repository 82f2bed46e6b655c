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
      const lines = describeConfig(processSettings, await readConfig(host, options));
      result({ settings: Object.fromEntries(lines.map((line) => line.split(/: (.*)/s).slice(0, 2))) }, lines.join("\n"));
    });
};
