import type { LookupFunction } from "node:net";
import { createSecureContext, type SecureContext, type SecureContextOptions } from "node:tls";
import { CodedError, checkArgument } from "@seneschal/kernel";
import { Agent, fetch as undiciFetch } from "undici";

/** What a client shows and whom it trusts. All PEM. */
export interface TlsIdentity {
  /** Trust anchors for the server's certificate; without it the host's roots. */
  readonly ca?: string;
  /** Client certificate, with its chain behind it. */
  readonly cert?: string;
  readonly key?: string;
  /** Name that the server's certificate must carry when it differs from the host of the URL. */
  readonly servername?: string;
  /** Milliseconds until the head of the answer must be there. Default 30,000. */
  readonly timeout?: number;
  /** Resolves names instead of the host's resolver; see `targetGuard`. */
  readonly lookup?: LookupFunction;
  /** Default TLS 1.2. */
  readonly minVersion?: "TLSv1.2" | "TLSv1.3";
}

/** A `fetch` bound to one TLS identity. Connections are kept alive; `close` ends them. */
export interface IdentityFetch {
  readonly fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

/**
 * Makes a `fetch` that presents a client certificate and trusts the given anchors only. Throws `tls_identity_invalid` for
 * an anchor, a certificate or a key that is no PEM, such as the path of a file, or that do not belong together.
 *
 * @example
 * ```ts
 * import { mtlsFetch } from "@seneschal/adapters/http";
 * const http = mtlsFetch({ ca: "-----BEGIN CERTIFICATE-----..." });
 * await http.close();
 * ```
 */
export function mtlsFetch(identity: TlsIdentity): IdentityFetch {
  checkArgument("identity", identity, "object");
  for (const part of ["ca", "cert", "key"] as const) {
    const text = identity[part];
    if (text !== undefined && !/-----BEGIN [A-Z0-9 ]+-----/.test(text))
      throw new CodedError("tls_identity_invalid", `${part}: expected the text of a PEM file, not its path or anything else`);
  }
  const timeout = identity.timeout ?? 30_000;
  const agent = new Agent({
    headersTimeout: timeout,
    bodyTimeout: timeout,
    connect: {
      timeout,
      secureContext: contextOf({
        minVersion: identity.minVersion ?? "TLSv1.2",
        ...(identity.ca === undefined ? {} : { ca: identity.ca }),
        ...(identity.cert === undefined ? {} : { cert: identity.cert }),
        ...(identity.key === undefined ? {} : { key: identity.key }),
      }),
      ...(identity.lookup === undefined ? {} : { lookup: identity.lookup }),
      ...(identity.servername === undefined ? {} : { servername: identity.servername }),
    },
  });
  const bound = (input: unknown, init?: object): unknown =>
    undiciFetch(input as Parameters<typeof undiciFetch>[0], { ...init, dispatcher: agent } as Parameters<typeof undiciFetch>[1]);
  return { fetch: bound as typeof globalThis.fetch, close: () => agent.close() };
}

/** Made once and here: an identity that fails inside of a connection would leave `close` waiting for ever. */
function contextOf(options: SecureContextOptions): SecureContext {
  try {
    return createSecureContext(options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CodedError("tls_identity_invalid", `the certificate or the key cannot be used: ${reason}`, {}, error);
  }
}
