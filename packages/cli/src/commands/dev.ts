import { openLogger } from "@seneschal/adapters/logging";
import { prepareDev, startProcess } from "@seneschal/app";
import { chooseServer } from "../choose-server.ts";
import { version } from "../version.ts";
import { wholeNumber } from "../whole-number.ts";
import type { AddCommand } from "./add-command.ts";

/** `seneschal dev`: all services on embedded defaults, with development credentials for every role of two organisations. */
export const addDev: AddCommand = (program, { host, result }) => {
  program
    .command("dev")
    .description("run all services on embedded defaults with development credentials; never for production")
    .option("--data <dir>", "directory for everything", "./data")
    .option("--port-base <n>", "the gateway listens on n + 443; any looks for free ports", portBase, 8000)
    .option("--http <framework>", "fastify or express", "fastify")
    .option("--log <level>", "debug, info, warn, error or silent", "warn")
    .action(async (options: { data: string; portBase: number | "any"; http: "fastify" | "express"; log: "info" }) => {
      const log = openLogger({ level: options.log });
      const { config, credentials, file } = await prepareDev({
        ...{ dataDir: options.data, portBase: options.portBase, http: options.http, log, version },
      });
      const running = await startProcess(config, { serve: await chooseServer(config.http), log, version });
      const services = running.services.map(({ name, url }) => ({ name, url }));
      result({ services, credentials: file }, welcome(services, file, credentials.base_urls["gateway"] ?? ""));
      await host.interrupted;
      await running.stop();
    });
};

function portBase(text: string): number | "any" {
  return text === "any" ? "any" : wholeNumber(text);
}

function welcome(services: readonly { readonly name: string; readonly url: string }[], file: string, gateway: string): string {
  const dir = file.replace(/credentials\.json$/, "");
  return [
    ...services.map(({ name, url }) => `${name.padEnd(12)} ${url}`),
    "",
    `credentials  ${file}`,
    "",
    "Try next:",
    `  curl --cacert ${dir}ca.pem ${gateway}/health`,
    `  curl --cacert ${dir}ca.pem --cert ${dir}acme-super-admin.pem --key ${dir}acme-super-admin-key.pem ${gateway}/api/v1/workspaces`,
    "Ctrl-C ends it.",
  ].join("\n");
}
