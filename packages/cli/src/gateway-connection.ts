import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { mtlsFetch } from "@seneschal/adapters/http";
import { type Client, client } from "@seneschal/contract";
import { type GatewayContract, gatewayContract } from "@seneschal/contract/gateway";
import { CodedError } from "@seneschal/core";
import type { Command } from "commander";
import type { Host } from "./host.ts";
import { readText } from "./read-config.ts";

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

interface CredentialsFile {
  readonly base_urls: Readonly<Record<string, string>>;
  readonly ca: string;
  readonly organizations: Readonly<
    Record<string, { readonly admins: Readonly<Record<string, { readonly cert: string; readonly key: string }>> }>
  >;
}

/** Runs `use` with a client of the gateway, and closes its connections. Throws `unreachable` when nobody answers. */
export async function connect<R>(
  host: Host,
  options: ConnectionOptions,
  use: (gateway: Client<GatewayContract>) => Promise<R>,
): Promise<R> {
  const file = (path: string): Promise<string> => readText(resolve(host.cwd, path), path);
  const identity = options.as === undefined ? options : await fromCredentials(host, options, options.as);
  if (identity.url === undefined) throw new CodedError("usage", "name the gateway with --url, or an identity with --as");
  const http = mtlsFetch({
    ...(identity.ca === undefined ? {} : { ca: await file(identity.ca) }),
    ...(identity.cert === undefined ? {} : { cert: await file(identity.cert) }),
    ...(identity.key === undefined ? {} : { key: await file(identity.key) }),
  });
  const token = identity.token === undefined ? undefined : (await file(identity.token)).trim();
  try {
    return await use(
      client(gatewayContract, {
        baseUrl: identity.url.replace(/\/$/, ""),
        fetch: reaching(http.fetch, identity.url),
        ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
      }),
    );
  } finally {
    await http.close();
  }
}

/** What the network says becomes one coded error that names the address and no more. */
function reaching(fetch: typeof globalThis.fetch, url: string): Parameters<typeof client>[1]["fetch"] {
  return async (target, init) => {
    try {
      return await fetch(target, init as RequestInit);
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
      throw new CodedError("unreachable", `${url} cannot be reached${cause}`, {}, error);
    }
  };
}

async function fromCredentials(host: Host, { credentials, ...given }: ConnectionOptions, as: string) {
  const path = resolve(host.cwd, credentials);
  let known: CredentialsFile;
  try {
    known = JSON.parse(await readFile(path, "utf8")) as CredentialsFile;
  } catch (error) {
    throw new CodedError(
      "file_unreadable",
      `${credentials} cannot be read: run seneschal dev first, or name the file`,
      {},
      error,
    );
  }
  const [org = "", role = ""] = as.split("/");
  const admin = known.organizations[org]?.admins[role];
  if (admin === undefined) throw new CodedError("usage", `${credentials} has no ${as}`);
  const url = given.url ?? known.base_urls["gateway"];
  return { ...given, ca: given.ca ?? known.ca, cert: admin.cert, key: admin.key, ...(url === undefined ? {} : { url }) };
}
