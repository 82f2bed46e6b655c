import { checkConfig, processSettings, serviceNames } from "@seneschal/app";
import { describeConfig } from "@seneschal/app/platform";
import { exitCode } from "../exit-code.ts";
import { readConfig } from "../read-config.ts";
import type { AddCommand } from "./add-command.ts";

/** `seneschal config check`: what is in force for the services that run, secrets masked, and what `serve` would refuse or regret; ends with 1 where it would refuse. */
export const addConfig: AddCommand = (program, { host, result, exit }) => {
  program
    .command("config")
    .description("the configuration")
    .command("check")
    .description(
      "print what is in force for the services that run, secrets masked; open every file, try who must answer, say what serve would refuse or regret",
    )
    .option("-c, --config <file>", "YAML or JSON file")
    .option("--set <path=value...>", "a setting by its path")
    .option("--offline", "try no database, vault, issuer or source", false)
    .action(async (options: { config?: string; set?: string[]; offline: boolean }) => {
      const config = await readConfig(host, options);
      const settings = describeConfig(processSettings, config);
      const findings = await checkConfig(config, { now: Date.now(), reach: !options.offline });
      const idle = serviceNames.filter((name) => !config.services.includes(name));
      const lines = Object.entries(settings)
        .filter(([path]) => !idle.some((name) => path.startsWith(`${name}.`)))
        .map(([path, value]) => `${path}: ${value === null ? "(unset)" : JSON.stringify(value)}`);
      const told = findings.map(({ severity, setting, message, advice }) => `${severity}: ${setting}: ${message} (${advice})`);
      const refused = findings.filter(({ severity }) => severity === "error").length;
      const verdict =
        findings.length === 0
          ? "nothing is wrong with it"
          : refused === 0
            ? `serve would start; to be mended: ${findings.length}`
            : `serve would refuse it; mistakes: ${refused}`;
      result({ settings, findings }, [verdict, ...told, "", ...lines, "", verdict].join("\n"));
      if (refused > 0) exit(exitCode.no);
    });
};
