import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Client, client } from "@seneschal/contract";
import { type GatewayContract, gatewayContract } from "@seneschal/contract/gateway";
import { CodedError } from "@seneschal/core";
import type { Command } from "commander";
import type { Host } from "./host.ts";
import { reach } from "./reach.ts";

/** How a command reaches a gateway and as whom. */
export interface ConnectionOptions {
  readonly url?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
  readonly as?: string;
  readonly credentials: string;
}

/** Adds the options of {@link connect} to a command. */
export function withConnection(command: Command): Command {
  return command
    .option("--url <url>", "the gateway, for example https://localhost:8443")
    .option("--ca <file>", "whom to trust, PEM")
    .option("--cert <file>", "client certificate with its chain, PEM")
    .option("--key <file>", "its private key, PEM")
    .option("--token <file>", "bearer token in a file, in place of a certificate")
    .option("--as <org/role>", "an identity of the credentials file, for example acme/super_admin")
    .option("--credentials <file>", "what seneschal dev wrote", "./data/dev/credentials.json");
}

/** Of a file that anybody may have written, nothing is sure to be there. */
interface CredentialsFile {
  readonly base_urls?: Readonly<Record<string, string>>;
  readonly ca?: string;
  readonly organizations?: Readonly<
    Record<string, { readonly admins?: Readonly<Record<string, { readonly cert: string; readonly key: string }>> }>
  >;
}

/** Runs `use` with a client of the gateway, and closes its connections. Throws what {@link reach} throws. */
export async function connect<R>(
  host: Host,
  options: ConnectionOptions,
  use: (gateway: Client<GatewayContract>) => Promise<R>,
): Promise<R> {
  const { url, token, ...identity } = options.as === undefined ? options : await fromCredentials(host, options, options.as);
  if (url === undefined) throw new CodedError("usage", "name the gateway with --url, or an identity with --as");
  return reach(host, { ...identity, url, bearer: token }, (reached) => use(client(gatewayContract, reached)));
}

async function fromCredentials(host: Host, { credentials, ...given }: ConnectionOptions, as: string) {
  const path = resolve(host.cwd, credentials);
  let known: CredentialsFile | null;
  try {
    known = JSON.parse(await readFile(path, "utf8")) as CredentialsFile | null;
  } catch (error) {
    throw new CodedError(
      "file_unreadable",
      `${credentials} cannot be read: run seneschal dev first, or name the file`,
      {},
      error,
    );
  }
  const [org = "", role = ""] = as.split("/");
  const admin = known?.organizations?.[org]?.admins?.[role];
  if (known === null || admin === undefined) throw new CodedError("usage", `${credentials} has no ${as}`);
  return { ...given, url: given.url ?? known.base_urls?.["gateway"], ca: given.ca ?? known.ca, cert: admin.cert, key: admin.key };
}
