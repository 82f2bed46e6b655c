import * as z from "zod";
import { duration, isCidr } from "../../platform/index.ts";

const id = (fallback: number) => z.int().min(0).max(0xfffffffe).default(fallback);
const mode = (fallback: string) =>
  z
    .string()
    .regex(/^0?[0-7]{3}$/, "expected three octal digits")
    .default(fallback)
    .transform((text) => Number.parseInt(text, 8));
const nobody = 65_534;

/** A bucket of a tenant as a directory that clients may mount. */
const exportSettings = z.strictObject({
  /** What clients mount. */
  path: z
    .string()
    .regex(/^(?:\/[A-Za-z0-9._-]{1,255})+$/, "expected an absolute path")
    .max(1024),
  tenant: z.string().min(1).max(128),
  bucket: z.string().min(3).max(63),
  /** Who may mount it: CIDR ranges or addresses. */
  clients: z.array(z.string().refine(isCidr, "expected an address or a range in CIDR notation")).min(1),
  read_only: z.boolean().default(true),
  /** Which users of clients become `anon_uid` and `anon_gid`. */
  squash: z.enum(["root", "all", "none"]).default("root"),
  anon_uid: id(nobody),
  anon_gid: id(nobody),
  /** Whose the files are that nobody owns yet, such as objects written by S3, and their permissions. */
  uid: id(nobody),
  gid: id(nobody),
  file_mode: mode("0644"),
  directory_mode: mode("0755"),
});
export type ExportSettings = z.output<typeof exportSettings>;

/** NFSv3 and MOUNT on one port; off without exports. */
export const nfsSettings = z
  .strictObject({
    host: z.string().min(1).default("127.0.0.1"),
    port: z.int().min(0).max(65_535).default(2049),
    exports: z
      .array(exportSettings)
      .refine((all) => new Set(all.map(({ path }) => path)).size === all.length, "two exports have one path")
      .default([]),
    max_connections: z.int().min(1).max(10_000).default(64),
    /** How long a call may stand half sent, or a reply be not taken. */
    idle_timeout: duration("60s"),
    /** What clients wrote and did not commit, over all files: more is made durable at once. */
    write_back_bytes: z
      .int()
      .min(4 << 20)
      .default(64 << 20),
    /** How long it stays in memory at the most. */
    write_back_delay: duration("10s"),
  })
  .prefault({});
export type NfsConfig = z.output<typeof nfsSettings>;
