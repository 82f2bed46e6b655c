import * as z from "zod";
import { duration, file, secret } from "../platform/index.ts";

/** Where a service keeps its documents. */
export const databaseSettings = z
  .strictObject({
    /** `level`: a directory, for one process; `postgres`: a database, for several; `memory` forgets everything at the end. */
    kind: z.enum(["level", "postgres", "memory"]).default("level"),
    /** Directory of `level`; default below `data_dir`. */
    path: z.string().optional(),
    /** `postgres://...` */
    url: secret().optional(),
    namespace: z.string().optional(),
  })
  .refine((database) => database.kind !== "postgres" || database.url !== undefined, { message: "postgres needs url" })
  .prefault({});

export type DatabaseSettings = z.output<typeof databaseSettings>;

/** How a service logs in to a vault server: exactly one of them. */
const logins = ["token", "approle", "kubernetes", "cert"] as const;

/** A vault server, and one way to log in. */
const vaultServer = {
  token: secret().optional(),
  /** The secret id is read from the file at every login, so that it can be replaced. */
  approle: z
    .strictObject({
      role_id: z.string().min(1),
      secret_id_file: file("text", "at each use"),
      mount: z.string().min(1).default("approle"),
    })
    .optional(),
  kubernetes: z
    .strictObject({
      role: z.string().min(1),
      /** The service account's token; read at every login. */
      jwt_file: file("text", "at each use").default("/var/run/secrets/kubernetes.io/serviceaccount/token"),
      mount: z.string().min(1).default("kubernetes"),
    })
    .optional(),
  /** Login by client certificate; `name` picks the role. */
  cert: z
    .strictObject({
      cert_file: file("certificate"),
      key_file: file("private key"),
      name: z.string().min(1).optional(),
      mount: z.string().min(1).default("cert"),
    })
    .optional(),
  namespace: z.string().optional(),
  ca_file: file("authorities").optional(),
  transit_mount: z.string().default("transit"),
  timeout: duration("5s"),
};

const hasOneLogin = (server: { readonly [K in (typeof logins)[number]]?: unknown }): boolean =>
  logins.filter((login) => server[login] !== undefined).length === 1;

/** What opens an embedded vault. */
const sealSettings = z.discriminatedUnion("kind", [
  /** 32 bytes in base64; default `unseal.key` below `data_dir`. */
  z.strictObject({ kind: z.literal("key_file"), key_file: file("unseal key").optional() }),
  z.strictObject({ kind: z.literal("passphrase"), passphrase: secret() }),
  /** Unseal key shares, each with an operator; `seneschal vault init` or `vault rekey` deals them. */
  z.strictObject({ kind: z.literal("shamir") }),
  /** A transit key of another vault, which is there already. */
  z
    .strictObject({ kind: z.literal("transit"), address: z.url(), key_name: z.string().min(1), ...vaultServer })
    .refine(hasOneLogin, { message: `transit needs exactly one of ${logins.join(", ")}` }),
  /** An AES key in a hardware module; needs the package pkcs11js. */
  z.strictObject({
    kind: z.literal("pkcs11"),
    /** The module's PKCS#11 library. */
    lib: file("library"),
    token_label: z.string().min(1),
    key_label: z.string().min(1),
    pin: secret(),
  }),
]);

export type SealSettings = z.output<typeof sealSettings>;

/** Where keys are kept that never leave. */
export const vaultSettings = z
  .strictObject({
    /** `embedded`: in the service's own database, sealed; `http`: HashiCorp Vault or OpenBao. */
    kind: z.enum(["embedded", "http"]).default("embedded"),
    /** The same as a seal of kind `key_file`. `seneschal init` makes the file. */
    key_file: file("unseal key").optional(),
    /** The same as a seal of kind `passphrase`. */
    passphrase: secret().optional(),
    /** What opens the embedded vault; default: `key_file`. */
    seal: sealSettings.optional(),
    address: z.url().optional(),
    ...vaultServer,
  })
  .refine((vault) => vault.kind !== "http" || vault.address !== undefined, { message: "http needs address" })
  .refine((vault) => vault.kind !== "http" || hasOneLogin(vault), {
    message: `http needs exactly one of ${logins.join(", ")}`,
  })
  .refine(
    ({ kind, seal, key_file, passphrase }) =>
      seal === undefined || (kind === "embedded" && key_file === undefined && passphrase === undefined),
    { message: "seal stands in place of key_file and passphrase, of an embedded vault" },
  )
  .prefault({});

export type VaultSettings = z.output<typeof vaultSettings>;

/** The seal that is in force, whichever way it is written; `undefined` for a vault server, which has its own. */
export function sealOf({ kind, seal, passphrase, key_file }: VaultSettings): SealSettings | undefined {
  if (kind === "http") return undefined;
  if (seal !== undefined) return seal;
  if (passphrase !== undefined) return { kind: "passphrase", passphrase };
  return { kind: "key_file", ...(key_file === undefined ? {} : { key_file }) };
}
