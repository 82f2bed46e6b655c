import * as z from "zod";
import { isCidr } from "../client-address.ts";
import { duration } from "./duration.ts";
import { file } from "./file.ts";
import { capabilityUrl, secret } from "./secret.ts";

/** What a service is called that was given no id, by the configuration or with its data. */
export const DEFAULT_INSTANCE = "seneschal";

/** Addresses and CIDR ranges; default none. */
export const ranges = z.array(z.string().refine(isCidr, "expected an address or a CIDR range")).default([]);

/** Settings of a listening service. Paths are files in PEM. */
export function serverSettings(port: number) {
  return z
    .strictObject({
      /** Default: the id that `seneschal init` made for the data; the gateway keeps it with its records. */
      instance_id: z.string().min(1).max(128).optional(),
      host: z.string().min(1).default("127.0.0.1"),
      port: z.int().min(0).max(65_535).default(port),
      read_timeout: duration("30s"),
      idle_timeout: duration("120s"),
      shutdown_timeout: duration("10s"),
      /** Processes in front of this one that end TLS and read and write HTTP for it; 0: it does that itself. */
      processes: z.int().min(0).max(64).default(0),
      /** Addresses or CIDR ranges of reverse proxies whose `X-Forwarded-For` is believed. */
      trusted_proxies: ranges,
      /** Addresses or CIDR ranges of balancers whose connections begin with a header of the PROXY protocol, which says where they come from. */
      proxy_protocol: ranges,
      tls_cert: file("certificate").optional(),
      tls_key: file("private key").optional(),
    })
    .refine((server) => (server.tls_cert === undefined) === (server.tls_key === undefined), {
      message: "tls_cert and tls_key belong together",
    })
    .prefault({});
}

/** How callers prove who they are; the names are those of the interface document. */
export const authSettings = z
  .strictObject({
    mtls: z
      .strictObject({
        enabled: z.boolean().default(false),
        /** A certificate is demanded even where a token is sent. */
        required: z.boolean().default(false),
        /** File with CA certificates that client certificates are verified against, beside the gateway's own root, which it always trusts. */
        trusted_ca: file("authorities").optional(),
        /** http(s) or file URL of revocation lists. */
        crl_url: z.url().optional(),
        crl_refresh: duration("1h"),
      })
      .refine((mtls) => mtls.crl_url === undefined || mtls.trusted_ca !== undefined, {
        message: "crl_url needs trusted_ca: the CAs whose lists they are",
      })
      .prefault({}),
    jwt: z
      .strictObject({
        enabled: z.boolean().default(false),
        /** File: PEM public key or certificate, or a JWK set. */
        public_key: file("public key").optional(),
        issuer: z.string().optional(),
        audiences: z.array(z.string().min(1)).default([]),
        clock_skew: duration("30s"),
        /** How long after its issue a token is taken, whatever it says itself; `0s`: as it says. */
        max_age: duration("0s"),
      })
      .refine((jwt) => !jwt.enabled || (jwt.public_key !== undefined && jwt.issuer !== undefined && jwt.audiences.length > 0), {
        message: "jwt needs public_key, issuer and audiences",
      })
      .prefault({}),
    oidc: z
      .strictObject({
        enabled: z.boolean().default(false),
        issuer_url: z.url().optional(),
        client_id: z.string().optional(),
        required_scopes: z.array(z.string().min(1)).default([]),
        jwks_refresh: duration("24h"),
        /** As for `jwt`. */
        max_age: duration("0s"),
        /** CA certificates of the provider, where it has none of the public ones. */
        ca_file: file("authorities").optional(),
        /** Where the provider's tokens say what ours would: a claim or a path such as `realm_access.roles`; and its words in ours. */
        claims: z
          .strictObject({
            organization: z.string().min(1).default("org"),
            roles: z.string().min(1).default("roles"),
            email: z.string().min(1).default("email"),
            /** When there is any, an organisation that is not among them is refused. */
            organizations: z.record(z.string(), z.string().min(1)).default({}),
            /** When there is any, other roles and groups count for nothing. */
            role_names: z.record(z.string(), z.string().min(1)).default({}),
          })
          .prefault({}),
        /** Accepts an issuer without TLS; for development. */
        allow_http: z.boolean().default(false),
      })
      .refine((oidc) => !oidc.enabled || (oidc.issuer_url !== undefined && oidc.client_id !== undefined), {
        message: "oidc needs issuer_url and client_id",
      })
      .prefault({}),
  })
  .prefault({});

export type AuthSettings = z.output<typeof authSettings>;

export const logSettings = z
  .strictObject({ level: z.enum(["debug", "info", "warn", "error", "silent"]).default("info") })
  .prefault({});

/** Where traces go; nowhere without an endpoint. */
export const telemetrySettings = z
  .strictObject({
    /** OTLP over HTTP, with its path. */
    endpoint: capabilityUrl().optional(),
    /** For the collector, such as its token. */
    headers: z.record(z.string(), secret()).default({}),
    /** Share of the traces that are kept. */
    sample_ratio: z.number().min(0).max(1).default(1),
  })
  .prefault({});

/** So many requests in any span of `window`. */
export function rateSettings(limit: number, window: string) {
  return z.strictObject({ limit: z.int().min(1).default(limit), window: duration(window) }).prefault({});
}
