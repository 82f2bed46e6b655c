import { type Client, client } from "@seneschal/contract";
import { type GovernanceContract, governanceContract } from "@seneschal/contract/governance";
import type { Command } from "commander";
import type { Host } from "../host.ts";
import { reach } from "../reach.ts";
import { wholeNumber } from "../whole-number.ts";
import type { AddCommand } from "./add-command.ts";

interface GovernanceOptions {
  readonly url: string;
  readonly ca?: string;
  readonly keyFile: string;
}

type Scope = Parameters<Client<GovernanceContract>["createApiKey"]>[0]["body"]["scopes"][number];

/** `seneschal apikey ...`: keys of the data-governance service; the secret is shown once. */
export const addApiKey: AddCommand = (program, { host, result }) => {
  const apikey = program.command("apikey").description("API keys of the data-governance service");
  const withServer = (command: Command): Command =>
    command
      .requiredOption("--url <url>", "the service, for example https://localhost:8444")
      .option("--ca <file>", "whom to trust, PEM")
      .requiredOption("--key-file <file>", "an API key with the scope admin");

  withServer(apikey.command("create"))
    .requiredOption("--name <name>", "what it is for")
    .requiredOption("--scopes <list>", "separated by commas")
    .option("--user <id>", "whom it is for: it approves in this name only")
    .option("--days <n>", "until it expires", wholeNumber)
    .action(async (options: GovernanceOptions & { name: string; scopes: string; user?: string; days?: number }) => {
      const body = {
        name: options.name,
        scopes: options.scopes.split(",") as Scope[],
        ...(options.user === undefined ? {} : { user_id: options.user }),
        ...(options.days === undefined ? {} : { expires_in_days: options.days }),
      };
      result(await withGovernance(host, options, (service) => service.createApiKey({ body })));
    });
  withServer(apikey.command("list")).action(async (options: GovernanceOptions) => {
    result(await withGovernance(host, options, (service) => service.listApiKeys()));
  });
  withServer(apikey.command("rotate"))
    .argument("<id>")
    .action(async (id: string, options: GovernanceOptions) => {
      result(await withGovernance(host, options, (service) => service.rotateApiKey({ params: { id } })));
    });
  withServer(apikey.command("revoke"))
    .argument("<id>")
    .action(async (id: string, options: GovernanceOptions) => {
      await withGovernance(host, options, (service) => service.revokeApiKey({ params: { id } }));
      result({ revoked: id });
    });
};

function withGovernance<R>(
  host: Host,
  { keyFile, ...target }: GovernanceOptions,
  use: (service: Client<GovernanceContract>) => Promise<R>,
): Promise<R> {
  return reach(host, { ...target, bearer: keyFile }, (reached) => use(client(governanceContract, reached)));
}
