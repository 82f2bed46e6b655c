import { z } from "zod";
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

/** Where keys are kept that never leave. */
export const vaultSettings = z
  .strictObject({
    /** `embedded`: in the service's own database, sealed; `http`: HashiCorp Vault or OpenBao. */
    kind: z.enum(["embedded", "http"]).default("embedded"),
    /** File with the 32-byte unseal key in base64; default `unseal.key` below `data_dir`. `seneschal init` makes it. */
    key_file: file("unseal key").optional(),
    /** In place of a key file. */
    passphrase: secret().optional(),
    address: z.url().optional(),
    token: secret().optional(),
    /** The secret id is read from the file at every login, so that it can be replaced. */
    approle: z
      .strictObject({ role_id: z.string().min(1), secret_id_file: file("text"), mount: z.string().min(1).default("approle") })
      .optional(),
    kubernetes: z
      .strictObject({
        role: z.string().min(1),
        /** The service account's token; read at every login. */
        jwt_file: file("text").default("/var/run/secrets/kubernetes.io/serviceaccount/token"),
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
  })
  .refine((vault) => vault.kind !== "http" || vault.address !== undefined, { message: "http needs address" })
  .refine((vault) => vault.kind !== "http" || logins.filter((login) => vault[login] !== undefined).length === 1, {
    message: `http needs exactly one of ${logins.join(", ")}`,
  })
  .prefault({});

export type VaultSettings = z.output<typeof vaultSettings>;
