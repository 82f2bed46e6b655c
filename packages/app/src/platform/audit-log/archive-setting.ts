import * as z from "zod";
import { duration } from "../config/duration.ts";
import { s3Bucket } from "../config/s3-bucket.ts";

/** Where events go that are older than `after`; unset: all stay in the database. It keeps them for good, and holds nothing else. */
const archiveSetting = z.strictObject({
  to: z
    .strictObject({ directory: z.string().min(1).optional(), s3: s3Bucket.optional() })
    .refine(({ directory, s3 }) => (directory === undefined) !== (s3 === undefined), "expected a directory or s3"),
  after: duration("365d"),
  interval: duration("1h"),
});

export type ArchiveSetting = z.output<typeof archiveSetting>;

/** The settings of a service's audit log. */
export const auditSetting = z.strictObject({ archive: archiveSetting.optional() }).prefault({});
