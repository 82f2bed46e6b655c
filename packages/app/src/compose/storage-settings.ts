import { z } from "zod";
import { duration, secret } from "../platform/index.ts";

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

/** Where keys are kept that never leave. */
export const vaultSettings = z
  .strictObject({
    /** `embedded`: in the service's own database, sealed; `http`: HashiCorp Vault or OpenBao. */
    kind: z.enum(["embedded", "http"]).default("embedded"),
    /** File with the 32-byte unseal key in base64; default `unseal.key` below `data_dir`. `seneschal init` makes it. */
    key_file: z.string().optional(),
    /** In place of a key file. */
    passphrase: secret().optional(),
    address: z.url().optional(),
    token: secret().optional(),
    namespace: z.string().optional(),
    ca_file: z.string().optional(),
    transit_mount: z.string().default("transit"),
    timeout: duration("5s"),
  })
  .refine((vault) => vault.kind !== "http" || vault.address !== undefined, { message: "http needs address" })
  .prefault({});

export type VaultSettings = z.output<typeof vaultSettings>;
