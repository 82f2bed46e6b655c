import { type IdentityFetch, mtlsFetch } from "@seneschal/adapters/http";
import type { ClientOptions } from "@seneschal/contract";
import { CodedError } from "@seneschal/kernel";
import type { Host } from "./host.ts";
import { readText } from "./read-file.ts";

/** A service, whom to trust, and as whom to speak: all but the address are names of files. */
interface Target {
  readonly url: string;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** What stands behind `Bearer`. */
  readonly bearer?: string | undefined;
  /** The same, itself in place of a file. */
  readonly bearerText?: string | undefined;
}

/**
 * Runs `use` with what a typed client needs to call the target, and closes its connections. Throws `usage` for an address
 * that is none or half an identity, `file_unreadable` and `tls_identity_invalid` for files, `unreachable` when nobody answers.
 */
export async function reach<R>(host: Host, target: Target, use: (options: ClientOptions) => Promise<R>): Promise<R> {
  const { url } = target;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new CodedError("usage", `${url} is no http or https address`);
  if ((target.cert === undefined) !== (target.key === undefined))
    throw new CodedError("usage", "a client certificate and its key are named together");
  const file = async (name: string | undefined): Promise<string | undefined> =>
    name === undefined ? undefined : readText(host, name);
  const [ca, cert, key, bearer] = [
    await file(target.ca),
    await file(target.cert),
    await file(target.key),
    target.bearerText ?? (await file(target.bearer)),
  ];
  const http = mtlsFetch({
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
  try {
    return await use({
      baseUrl: url.replace(/\/$/, ""),
      fetch: named(http, url),
      ...(bearer === undefined ? {} : { headers: { authorization: `Bearer ${bearer.trim()}` } }),
    });
  } finally {
    await http.close();
  }
}

/** What the network says becomes one coded error that names the address and no more. */
function named({ fetch }: IdentityFetch, url: string): ClientOptions["fetch"] {
  return async (target, init) => {
    try {
      return await fetch(target, init as RequestInit);
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
      throw new CodedError("unreachable", `${url} cannot be reached${cause}`, {}, error);
    }
  };
}
