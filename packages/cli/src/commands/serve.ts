import { resolve } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { type ProcessConfig, processSettings, startProcess, watchFiles } from "@seneschal/app";
import { namedFiles } from "@seneschal/app/platform";
import { chooseServer, serveAdminService, serveByProcesses, serveGrpc, serveNfs, serveS3 } from "../choose-server.ts";
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
      const ended = new AbortController();
      void host.interrupted.then(() => {
        ended.abort();
        host.endWithin(longestEnd(config), (open) =>
          log.error({ open }, "not everything could be closed in time: it is dropped"),
        );
      });
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
        signal: ended.signal,
        whenSealed: (sealed) => result({ sealed }, JSON.stringify({ sealed })),
      }).catch((error: unknown) => {
        // Told to end while it waited.
        if ((error as { readonly name?: unknown }).name === "AbortError") return undefined;
        throw error;
      });
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
      const services = running.services.map(({ name, url }) => ({ name, url }));
      // JSON in any case, as the log on the same output is.
      result({ services }, JSON.stringify({ services }));
      await host.interrupted;
      watch?.close();
      await reloading;
      await running.stop();
    });
};

/** What processes in front have beyond the grace of their requests, and what databases, vaults and receivers have to be closed. Milliseconds. */
const [FRONTS_MS, CLOSING_MS] = [5000, 10_000];

/** How long an end takes at most: services end one after another, and what they hold is closed behind that. */
function longestEnd(config: ProcessConfig): number {
  const each = config.services.map((name) => {
    const { shutdown_timeout, processes } = config[name].server;
    return shutdown_timeout + (processes === 0 ? 0 : FRONTS_MS);
  });
  return each.reduce((sum, ms) => sum + ms, CLOSING_MS);
}

/** The files of a configuration, and those that it names. */
function filesOf(config: ProcessConfig, own: readonly string[]): readonly string[] {
  const { crl_url } = config.auth.mtls;
  const lists = crl_url?.startsWith("file:") === true ? [new URL(crl_url).pathname] : [];
  return [...own, ...namedFiles(processSettings, config).map(({ path }) => path), ...lists];
}
