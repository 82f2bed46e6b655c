import { resolve } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { type ProcessConfig, processSettings, startProcess, watchFiles } from "@seneschal/app";
import { namedFiles } from "@seneschal/app/platform";
import { chooseServer, serveAdminService, serveByProcesses, serveGrpc, serveNfs, serveS3 } from "../choose-server.ts";
import { endInTime, toldToEnd } from "../end-in-time.ts";
import { readConfig } from "../read-config.ts";
import { version } from "../version.ts";
import type { AddCommand } from "./add-command.ts";

/** `seneschal serve`: the configured services, until the process is told to end. */
export const addServe: AddCommand = (program, { host, result }) => {
  program
    .command("serve")
    .description("run the configured services until SIGINT or SIGTERM; SIGHUP takes in certificates and settings anew")
    .option("-c, --config <file>", "YAML or JSON file")
    .option("--set <path=value...>", "a setting by its path, for example gateway.server.port=8443")
    .option("--services <names>", "for example gateway,governance")
    .action(async (options: { config?: string; set?: string[]; services?: string }) => {
      const chosen = options.services === undefined ? [] : [`services=${options.services}`];
      const read = () => readConfig(host, { ...options, set: [...(options.set ?? []), ...chosen] });
      let config = await read();
      const log = openLogger({ level: config.log.level });
      const signal = endInTime(host, log, () => config);
      let reloading = Promise.resolve();
      // A hangup must not end a process that still starts.
      let reload = (): Promise<void> => reloading;
      host.onHangup(() => void reload());
      const running = await startProcess(config, {
        serve: await chooseServer(config.http),
        serveByProcesses,
        serveS3,
        serveGrpc,
        serveAdminService,
        serveNfs,
        log,
        version,
        signal,
        whenSealed: (sealed) => result({ sealed }, JSON.stringify({ sealed })),
      }).catch(toldToEnd);
      if (running === undefined) return;
      const takeIn = async (): Promise<void> => {
        try {
          const next = await read();
          await running.reload(next);
          config = next;
          log.info({}, "reloaded");
        } catch (error) {
          log.error({ error }, "nothing was reloaded: what is in force stays so");
        }
      };
      // One after another.
      reload = () => {
        reloading = reloading.then(takeIn);
        return reloading;
      };
      const watched = (): readonly string[] =>
        filesOf(config, options.config === undefined ? [] : [resolve(host.cwd, options.config)]);
      const { reload_interval: interval } = config;
      const watch = interval > 0 ? await watchFiles(watched, interval, () => reload()) : undefined;
      const services = running.services.map(({ name, url, listeners }) =>
        Object.keys(listeners).length === 0 ? { name, url } : { name, url, listeners },
      );
      // JSON in any case, as the log on the same output is.
      result({ services }, JSON.stringify({ services }));
      await host.tellReady();
      await host.interrupted;
      watch?.close();
      await reloading;
      await running.stop();
    });
};

/** The files of a configuration, and those that it names. */
function filesOf(config: ProcessConfig, own: readonly string[]): readonly string[] {
  const { crl_url } = config.auth.mtls;
  const lists = crl_url?.startsWith("file:") === true ? [new URL(crl_url).pathname] : [];
  return [...own, ...namedFiles(processSettings, config).map(({ path }) => path), ...lists];
}
