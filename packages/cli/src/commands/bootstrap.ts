import { resolve } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { type Bootstrapped, bootstrapInstance } from "@seneschal/app";
import { bringShares } from "../custody/bring-shares.ts";
import { readConfig } from "../read-config.ts";
import { version } from "../version.ts";
import { wholeNumber } from "../whole-number.ts";
import type { AddCommand } from "./add-command.ts";

interface Options {
  readonly config?: string;
  readonly set?: string[];
  readonly org: string;
  readonly email: string;
  readonly name?: string;
  readonly workspace: string;
  readonly shares: number;
  readonly threshold: number;
  readonly serverName: string[];
  readonly out?: string;
}

/** `seneschal bootstrap`: a new instance to its first organisation, admin, root key and workspace; run again, it goes on. */
export const addBootstrap: AddCommand = (program, { host, result }) => {
  program
    .command("bootstrap")
    .description("take a new instance to its first organisation, admin, root key and workspace, while its gateway is stopped")
    .requiredOption("--org <id>", "the organisation, 1 to 128 printable characters without /")
    .requiredOption("--email <address>", "of the first super admin")
    .option("--name <name>", "of the admin; default: the address")
    .option("--workspace <name>", "the first workspace", "first")
    .option("--shares <n>", "into which the root key is dealt, one for each custodian", wholeNumber, 3)
    .option("--threshold <n>", "how many of them sign together", wholeNumber, 2)
    .option(
      "--server-name <name...>",
      "by which clients call the gateway: of its certificate, where the configured file is not there yet",
      [],
    )
    .option("--out <dir>", "where certificates and shares go; default: bootstrap-<org>")
    .option("-c, --config <file>", "YAML or JSON file")
    .option("--set <path=value...>", "a setting by its path")
    .action(async (options: Options) => {
      const { org, email, name = email, workspace, shares, threshold, serverName: serverNames } = options;
      const out = resolve(host.cwd, options.out ?? `bootstrap-${encodeURIComponent(org)}`);
      const log = openLogger({ level: "warn", destination: { write: (line) => host.err(line.trimEnd()) } });
      const config = await readConfig(host, options);
      const asked = { org, email, name, workspace, shares, threshold, serverNames, out };
      const done = await bootstrapInstance(config, { ...asked, log, version, operators: bringShares(host) });
      const certificates = config.auth.mtls.enabled && config.gateway.server.tls_cert !== undefined;
      const next = {
        serve: `seneschal serve${options.config === undefined ? "" : ` -c ${options.config}`}`,
        url: `https://${serverNames[0] ?? "HOST"}:${config.gateway.server.port}`,
      };
      result(done, story(done, certificates, next));
    });
};

function story(done: Bootstrapped, certificates: boolean, next: { readonly serve: string; readonly url: string }): string {
  const { admin, root_key, workspace, made } = done;
  return [
    made.length === 0 ? "everything was there already" : `made: ${made.join(", ")}`,
    "",
    `instance       ${done.instance_id}`,
    `organisation   ${done.organization}`,
    `admin          ${admin.email}  ${admin.id}`,
    `  certificate  ${admin.certificate}, until ${admin.expiration}`,
    `root key       ${root_key.id}, ${root_key.threshold} shares sign`,
    ...root_key.shares.map((file) => `  share        ${file}`),
    `workspace      ${workspace.name}  ${workspace.id}`,
    "",
    "Next:",
    ...(done.unseal_key === null ? [] : [`  keep a copy of ${done.unseal_key} elsewhere: without it everything is lost`]),
    "  give each share to its custodian and delete it here",
    ...(certificates
      ? []
      : ["  the admin's certificate opens nothing until auth.mtls.enabled, gateway.server.tls_cert and .tls_key are set"]),
    `  ${next.serve}`,
    `  seneschal org show --url ${next.url} --ca ${done.ca} --cert ${admin.certificate} --key ${admin.key}`,
  ].join("\n");
}
