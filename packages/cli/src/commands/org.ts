import { openLogger } from "@seneschal/adapters/logging";
import { createOrganization } from "@seneschal/app";
import { bringShares } from "../custody/bring-shares.ts";
import { type ConnectionOptions, connect, withConnection } from "../gateway-connection.ts";
import { readConfig } from "../read-config.ts";
import { version } from "../version.ts";
import type { AddCommand } from "./add-command.ts";

/** `seneschal org ...`: how an organisation comes into being without database access. */
export const addOrg: AddCommand = (program, { host, result }) => {
  const org = program.command("org").description("organisations");
  org
    .command("create")
    .description("create an organisation in the gateway's own store, while the gateway is stopped")
    .argument("<id>", "1 to 128 printable characters without /")
    .option("--crk-public-key <base64>", "anchors its first bootstrap in this root key")
    .option("-c, --config <file>", "YAML or JSON file")
    .option("--set <path=value...>", "a setting by its path")
    .action(async (id: string, options: { crkPublicKey?: string; config?: string; set?: string[] }) => {
      const config = await readConfig(host, options);
      const log = openLogger({ level: "warn", destination: { write: (line) => host.err(line.trimEnd()) } });
      result(
        await createOrganization(
          config,
          { id, anchor: options.crkPublicKey ?? null },
          { log, version, operators: bringShares(host) },
        ),
      );
    });
  withConnection(org.command("show").description("the caller's organisation")).action(async (options: ConnectionOptions) => {
    const { organizations } = await connect(host, options, (gateway) => gateway.listOrganizations());
    result({ organizations });
  });
};
