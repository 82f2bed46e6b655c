import { openLogger } from "@seneschal/adapters/logging";
import { startProcess } from "@seneschal/app";
import { chooseServer } from "../choose-server.ts";
import { readConfig } from "../read-config.ts";
import { version } from "../version.ts";
import type { AddCommand } from "./add-command.ts";

/** `seneschal serve`: the configured services, until the process is told to end. */
export const addServe: AddCommand = (program, { host, result }) => {
  program
    .command("serve")
    .description("run the configured services until SIGINT or SIGTERM")
    .option("-c, --config <file>", "YAML or JSON file")
    .option("--set <path=value...>", "a setting by its path, for example gateway.server.port=8443")
    .option("--services <names>", "for example gateway,governance")
    .action(async (options: { config?: string; set?: string[]; services?: string }) => {
      const chosen = options.services === undefined ? [] : [`services=${options.services}`];
      const config = await readConfig(host, { ...options, set: [...(options.set ?? []), ...chosen] });
      const log = openLogger({ level: config.log.level });
      const running = await startProcess(config, { serve: await chooseServer(config.http), log, version });
      const services = running.services.map(({ name, url }) => ({ name, url }));
      // JSON in any case, as the log on the same output is.
      result({ services }, JSON.stringify({ services }));
      await host.interrupted;
      await running.stop();
    });
};
