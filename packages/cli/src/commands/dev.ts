import { openLogger } from "@seneschal/adapters/logging";
import { type ProcessConfig, startDev } from "@seneschal/app";
import { isOrganizationId } from "@seneschal/core/keys";
import { CodedError } from "@seneschal/kernel";
import { InvalidArgumentError, Option } from "commander";
import { chooseServer, serveAdminService, serveByProcesses, serveGrpc, serveNfs, serveS3 } from "../choose-server.ts";
import { endInTime, toldToEnd } from "../end-in-time.ts";
import { version } from "../version.ts";
import { wholeNumber } from "../whole-number.ts";
import type { AddCommand } from "./add-command.ts";

/** `seneschal dev`: all services on embedded defaults, with development credentials for every role of its organisations. */
export const addDev: AddCommand = (program, { host, result }) => {
  program
    .command("dev")
    .description("run all services on embedded defaults with development credentials; never for production")
    .option("--data <dir>", "directory for everything", "./data")
    .option("--org <id...>", "organisations to make; two instances that are to federate need different ones", ["acme", "globex"])
    .option("--port-base <n>", "the gateway listens on n + 443; any: wherever the system lets it", portBase, 8000)
    .addOption(new Option("--http <framework>", "what serves").choices(["fastify", "express"]).default("fastify"))
    .addOption(
      new Option("--log <level>", "log lines on standard output")
        .choices(["debug", "info", "warn", "error", "silent"])
        .default("warn"),
    )
    .action(
      async (options: {
        data: string;
        org: readonly string[];
        portBase: number | "any";
        http: "fastify" | "express";
        log: "info";
      }) => {
        const log = openLogger({ level: options.log });
        const { data: dataDir, org: organizations, portBase, http } = options;
        const strange = organizations.find((id) => !isOrganizationId(id));
        if (strange !== undefined)
          throw new CodedError("usage", "an organisation id has 1 to 128 printable characters without /");
        let config: ProcessConfig | undefined;
        const signal = endInTime(host, log, () => config);
        const running = await startDev({
          dataDir,
          organizations,
          portBase,
          http,
          serve: await chooseServer(http),
          serveByProcesses,
          serveS3,
          serveGrpc,
          serveAdminService,
          serveNfs,
          log,
          version,
          signal,
          change: (prepared) => {
            config = { ...prepared, log: { ...prepared.log, level: options.log } };
            return config;
          },
        }).catch(toldToEnd);
        if (running === undefined) return;
        const { credentials, file } = running;
        const services = running.services.map(({ name, url }) => ({ name, url }));
        result(
          { services, credentials: file },
          welcome(services, file, credentials.base_urls["gateway"] ?? "", organizations[0] ?? ""),
        );
        await host.interrupted;
        await running.stop();
      },
    );
};

/** The highest port that a service takes is 1300 above. */
const MAX_PORT_BASE = 65_535 - 1300;

function portBase(text: string): number | "any" {
  if (text === "any") return "any";
  const base = wholeNumber(text);
  if (base > MAX_PORT_BASE) throw new InvalidArgumentError(`at most ${MAX_PORT_BASE}`);
  return base;
}

function welcome(
  services: readonly { readonly name: string; readonly url: string }[],
  file: string,
  gateway: string,
  org: string,
): string {
  const dir = file.replace(/credentials\.json$/, "");
  return [
    ...services.map(({ name, url }) => `${name.padEnd(12)} ${url}`),
    "",
    `credentials  ${file}`,
    "",
    "Try next:",
    `  curl --cacert ${dir}ca.pem ${gateway}/health`,
    `  curl --cacert ${dir}ca.pem --cert ${dir}${org}-super-admin.pem --key ${dir}${org}-super-admin-key.pem ${gateway}/api/v1/workspaces`,
    "Ctrl-C ends it.",
  ].join("\n");
}
