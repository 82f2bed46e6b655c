import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Client, type ClientOptions, client } from "@seneschal/contract";
import { type GatewayContract, gatewayContract } from "@seneschal/contract/gateway";
import { CodedError } from "@seneschal/kernel";
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
    .option("--url <url>", "the service, for example https://localhost:8443")
    .option("--ca <file>", "whom to trust, PEM")
    .option("--cert <file>", "client certificate with its chain, PEM")
    .option("--key <file>", "its private key, PEM")
    .option("--token <file>", "bearer token in a file, in place of a certificate")
    .option("--as <org/role>", "an identity of the credentials file, for example acme/super_admin; of the scheduler acme/user")
    .option("--credentials <file>", "what seneschal dev wrote", "./data/dev/credentials.json");
}

/** Of a file that anybody may have written, nothing is sure to be there. */
interface CredentialsFile {
  readonly base_urls?: Readonly<Record<string, string>>;
  readonly ca?: string;
  readonly organizations?: Readonly<
    Record<
      string,
      {
        readonly admins?: Readonly<Record<string, { readonly cert: string; readonly key: string }>>;
        readonly scheduler?: Readonly<Record<string, { readonly token: string }>>;
        readonly governance?: { readonly api_key: string };
      }
    >
  >;
  readonly storage?: { readonly admin_token?: string };
}

/** Runs `use` with a client of the gateway, and closes its connections. Throws what {@link reach} throws. */
export function connect<R>(
  host: Host,
  options: ConnectionOptions,
  use: (gateway: Client<GatewayContract>) => Promise<R>,
): Promise<R> {
  return connectTo(host, "gateway", options, (reached) => use(client(gatewayContract, reached)));
}

type ServiceName = "gateway" | "governance" | "scheduler" | "storage";

/** The same for any service. Throws what {@link reach} throws. */
export async function connectTo<R>(
  host: Host,
  service: ServiceName,
  options: ConnectionOptions,
  use: (reached: ClientOptions) => Promise<R>,
): Promise<R> {
  const { as } = options;
  const { url, token, ...identity } = as === undefined ? options : await fromCredentials(host, service, options, as);
  if (url === undefined) throw new CodedError("usage", `name the ${service} with --url, or an identity with --as`);
  return reach(host, { ...identity, url, bearer: token }, use);
}

async function fromCredentials(
  host: Host,
  service: ServiceName,
  { credentials, ...given }: ConnectionOptions,
  as: string,
): Promise<Omit<ConnectionOptions, "credentials"> & { readonly bearerText?: string }> {
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
  const found = known === null ? undefined : identityOf(known, service, org, role);
  const [url, ca] = [given.url ?? known?.base_urls?.[service], given.ca ?? known?.ca];
  if (found === undefined) throw new CodedError("usage", `${credentials} has no ${as}`);
  return { ...given, ...(url === undefined ? {} : { url }), ...(ca === undefined ? {} : { ca }), ...found };
}

/** Who `ORG/ROLE` is to a service: an admin's certificate, the organisation's API key, a token of a role, the admin token. */
function identityOf(
  known: CredentialsFile,
  service: ServiceName,
  org: string,
  role: string,
): { readonly cert: string; readonly key: string } | { readonly bearerText: string } | undefined {
  const own = known.organizations?.[org];
  const admin = own?.admins?.[role];
  if (service === "gateway") return admin && { cert: admin.cert, key: admin.key };
  const text = {
    governance: own?.governance?.api_key,
    scheduler: own?.scheduler?.[role]?.token,
    storage: known.storage?.admin_token,
  }[service];
  return text === undefined ? undefined : { bearerText: text };
}
